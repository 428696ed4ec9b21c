/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate enable --initrd and headgate disable --initrd: the link by which mkinitramfs finds headgate's hook. */

#include <limits.h>

#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/util.h"

#define HOOKS "/etc/initramfs-tools/hooks"
/* One that leads nowhere, headgate being uninstalled, mkinitramfs passes over. */
#define LINK HOOKS "/headgate"
#define TARGET LIBEXECDIR "/initramfs-hook"

enum {
        LINK_NONE = 0,
        LINK_OURS = 1,
};

/* Whether the link is there. Something else in its place is an error. */
static int look_at_link(void)
{
        char target[PATH_MAX];
        ssize_t n = readlink(LINK, target, sizeof(target) - 1);

        if (n < 0 && errno == ENOENT)
                return LINK_NONE;
        if (n < 0 && errno != EINVAL)
                return log_error_errno(-errno, "Failed to read " LINK ": %m");
        target[MAX(n, 0)] = '\0';
        if (streq(target, TARGET))
                return LINK_OURS;
        return log_error_errno(-EEXIST, LINK " is not headgate's link to " TARGET ", leaving it alone.");
}

int enable_initrd(void)
{
        int r;

        if (access(HOOKS, F_OK) < 0)
                return verb_refuse(
                        "There is no initramfs-tools on this machine (no " HOOKS
                        "). An initrd made by dracut needs no hook: it activates only what it needs anyway.");
        r = look_at_link();
        if (r == LINK_NONE && symlink(TARGET, LINK) < 0)
                r = log_error_errno(-errno, "Failed to make the link " LINK ": %m");
        if (r < 0)
                return EXIT_CANNOT_TELL;
        log_info("The next initrd that is made will activate only what it needs (update-initramfs -u makes one).");
        return EXIT_SUCCESS;
}

int disable_initrd(void)
{
        int r;

        r = look_at_link();
        if (r == LINK_OURS && unlink(LINK) < 0)
                r = log_error_errno(-errno, "Failed to remove the link " LINK ": %m");
        if (r < 0)
                return EXIT_CANNOT_TELL;
        log_info("The next initrd that is made will be lvm2's own again (update-initramfs -u makes one).");
        return EXIT_SUCCESS;
}
