/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate enable --initrd and headgate disable --initrd: the links by which mkinitramfs finds headgate's hook, and the
 * script that the hook puts into the initrd. */

#include <limits.h>
#include <sys/stat.h>

#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/util.h"

#define INITRAMFS_TOOLS "/etc/initramfs-tools"
/* Not part of initramfs-tools itself. */
#define SCRIPTS INITRAMFS_TOOLS "/scripts/local-block"

/* mkinitramfs runs a script in the initrd only if it finds it here, too. What is a link it does not copy by itself, and
 * a link that leads nowhere it passes over. */
static const struct {
        const char *path;
        const char *target;
} links[] = {
        {SCRIPTS "/headgate", LIBEXECDIR "/initramfs-local-block"},
        {INITRAMFS_TOOLS "/hooks/headgate", LIBEXECDIR "/initramfs-hook"},
};

enum {
        LINK_NONE = 0,
        LINK_OURS = 1,
};

/* Whether the link is there. -EEXIST if something else is in its place. */
static int look_at_link(size_t i)
{
        char target[PATH_MAX];
        ssize_t n = readlink(links[i].path, target, sizeof(target) - 1);

        if (n < 0 && errno == ENOENT)
                return LINK_NONE;
        if (n < 0)
                return errno == EINVAL ? -EEXIST : -errno;
        target[n] = '\0';
        return streq(target, links[i].target) ? LINK_OURS : -EEXIST;
}

/* All are looked at before one is touched. */
static int look_at_links(void)
{
        for (size_t i = 0; i < ELEMENTSOF(links); i++) {
                int r;

                r = look_at_link(i);
                if (r == -EEXIST)
                        return log_error_errno(r, "%s is not headgate's link to %s, leaving it alone.",
                                links[i].path, links[i].target);
                if (r < 0)
                        return log_error_errno(r, "Failed to read %s: %m", links[i].path);
        }
        return 0;
}

int enable_initrd(void)
{
        if (access(INITRAMFS_TOOLS, F_OK) < 0) {
                log_error("There is no initramfs-tools on this machine (no " INITRAMFS_TOOLS
                          "). An initrd made by dracut needs no hook: it activates only what it needs anyway.");
                return EXIT_CANNOT_TELL;
        }
        if (look_at_links() < 0)
                return EXIT_CANNOT_TELL;
        if (mkdir(SCRIPTS, 0755) < 0 && errno != EEXIST) {
                (void) log_error_errno(-errno, "Failed to make the directory " SCRIPTS ": %m");
                return EXIT_CANNOT_TELL;
        }
        for (size_t i = 0; i < ELEMENTSOF(links); i++)
                if (symlink(links[i].target, links[i].path) < 0 && errno != EEXIST) {
                        (void) log_error_errno(-errno, "Failed to make the link %s: %m", links[i].path);
                        return EXIT_CANNOT_TELL;
                }
        log_info("The next initrd that is made will activate only what it needs (update-initramfs -u makes one).");
        return EXIT_SUCCESS;
}

int disable_initrd(void)
{
        if (look_at_links() < 0)
                return EXIT_CANNOT_TELL;
        for (size_t i = 0; i < ELEMENTSOF(links); i++)
                if (unlink(links[i].path) < 0 && errno != ENOENT) {
                        (void) log_error_errno(-errno, "Failed to remove the link %s: %m", links[i].path);
                        return EXIT_CANNOT_TELL;
                }
        if (rmdir(SCRIPTS) < 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) {
                (void) log_error_errno(-errno, "Failed to remove the directory " SCRIPTS ": %m");
                return EXIT_CANNOT_TELL;
        }
        log_info("The next initrd that is made will be lvm2's own again (update-initramfs -u makes one).");
        return EXIT_SUCCESS;
}
