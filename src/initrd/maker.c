/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the program that makes this machine's initrds. Enables headgate in them: by a link to a hook for initramfs-tools, by a
 * configuration file for dracut. */

#include "initrd/maker.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/program.h"
#include "shared/util.h"

#define DRACUT_MODULE "/usr/lib/dracut/modules.d/95headgate"

static const struct {
        const char *name, *command;
        const char *program; /* only in its own package: dracut has an update-initramfs, too */
        const char *hook;    /* run by Debian's kernel packages */
        const char *file;    /* that enables headgate */
        const char *target;  /* target of this link; or NULL */
        const char *text;    /* or its contents; without effect after headgate was removed */
} makers[] = {
        [INITRD_MAKER_INITRAMFS_TOOLS] = {"initramfs-tools", "update-initramfs -u", "usr/sbin/mkinitramfs",
                "etc/kernel/postinst.d/initramfs-tools", "/etc/initramfs-tools/hooks/headgate",
                LIBEXECDIR "/initramfs-hook", NULL},
        [INITRD_MAKER_DRACUT] = {"dracut", "dracut -f", "usr/bin/dracut", "etc/kernel/postinst.d/dracut",
                "/etc/dracut.conf.d/headgate.conf", NULL,
                "# Written by \"headgate enable --initrd\", see headgate-initrd(8).\n"
                "if [ -e " DRACUT_MODULE "/module-setup.sh ]; then\n"
                "    add_dracutmodules+=\" headgate \"\n"
                "fi\n"},
};

struct initrd_makers initrd_find_makers(int root_fd)
{
        bool is_there[ELEMENTSOF(makers)] = {}, is_run[ELEMENTSOF(makers)] = {};

        for (size_t i = INITRD_MAKER_INITRAMFS_TOOLS; i < ELEMENTSOF(makers); i++) {
                is_there[i] = faccessat(root_fd, makers[i].program, F_OK, 0) >= 0;
                is_run[i] = is_there[i] && faccessat(root_fd, makers[i].hook, F_OK, 0) >= 0;
        }
        /* If both run, initramfs-tools runs after dracut, and overwrites the same file. */
        if (is_run[INITRD_MAKER_INITRAMFS_TOOLS] ||
                (is_there[INITRD_MAKER_INITRAMFS_TOOLS] && !is_there[INITRD_MAKER_DRACUT]))
                return (struct initrd_makers){INITRD_MAKER_INITRAMFS_TOOLS, is_there[INITRD_MAKER_DRACUT]};
        return (struct initrd_makers){is_there[INITRD_MAKER_DRACUT] ? INITRD_MAKER_DRACUT : INITRD_MAKER_NONE,
                is_there[INITRD_MAKER_INITRAMFS_TOOLS]};
}

const char *initrd_maker_to_string(enum initrd_maker maker)
{
        return makers[maker].name;
}

const char *initrd_maker_get_command(enum initrd_maker maker)
{
        return makers[maker].command;
}

const char *initrd_maker_get_file(enum initrd_maker maker)
{
        return makers[maker].file;
}

int initrd_is_enabled(int root_fd, enum initrd_maker maker)
{
        const char *path = root_relative(makers[maker].file);
        _cleanup_free_ char *content = NULL;
        struct stat status;
        int r;

        if (fstatat(root_fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
        if (S_ISLNK(status.st_mode) != !!makers[maker].target)
                return -EEXIST;
        if (S_ISLNK(status.st_mode))
                r = read_link_at(root_fd, path, &content);
        else
                r = read_file_at(root_fd, path, &content, NULL);
        if (r < 0)
                return r;
        return streq(content ?: "", makers[maker].target ?: makers[maker].text) ? 1 : -EEXIST;
}

int initrd_enable(enum initrd_maker maker)
{
        int r = initrd_is_enabled(AT_FDCWD, maker);

        if (r == 0 && makers[maker].target)
                r = symlink(makers[maker].target, makers[maker].file) < 0 ? -errno : 0;
        else if (r == 0)
                r = write_file_atomic_at(AT_FDCWD, makers[maker].file, makers[maker].text);
        return MIN(r, 0);
}

int initrd_disable(enum initrd_maker maker)
{
        int r = initrd_is_enabled(AT_FDCWD, maker);

        if (r > 0 && unlink(makers[maker].file) < 0)
                r = -errno;
        return MIN(r, 0);
}
