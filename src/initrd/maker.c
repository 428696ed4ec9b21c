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

static const struct maker {
        const char *program; /* only in its own package: dracut has an update-initramfs, too */
        struct initrd_maker_info info;
        const char *target; /* target of the file, a link; or NULL */
        const char *text;   /* or its contents; without effect after headgate was removed */
} makers[] = {
        [INITRD_MAKER_INITRAMFS_TOOLS] = {"usr/sbin/mkinitramfs",
                {"initramfs-tools", "update-initramfs -u", "/etc/initramfs-tools/hooks/headgate"},
                LIBEXECDIR "/initramfs-hook", NULL},
        [INITRD_MAKER_DRACUT] = {"usr/bin/dracut", {"dracut", "dracut -f", "/etc/dracut.conf.d/headgate.conf"},
                NULL,
                "# Written by \"headgate enable --initrd\", see headgate-initrd(8).\n"
                "if [ -e " DRACUT_MODULE "/module-setup.sh ]; then\n"
                "    add_dracutmodules+=\" headgate \"\n"
                "fi\n"},
};

/* Run by Debian's kernel packages. If dracut is run, too, this runs after it, and overwrites the same file. */
#define INITRAMFS_TOOLS_HOOK "etc/kernel/postinst.d/initramfs-tools"

struct initrd_makers initrd_find_makers(int root_fd)
{
        bool has_tools = faccessat(root_fd, makers[INITRD_MAKER_INITRAMFS_TOOLS].program, F_OK, 0) >= 0;
        bool has_dracut = faccessat(root_fd, makers[INITRD_MAKER_DRACUT].program, F_OK, 0) >= 0;
        bool tools_count = has_tools && (!has_dracut || faccessat(root_fd, INITRAMFS_TOOLS_HOOK, F_OK, 0) >= 0);

        return (struct initrd_makers){
                .maker = tools_count  ? INITRD_MAKER_INITRAMFS_TOOLS
                         : has_dracut ? INITRD_MAKER_DRACUT
                                      : INITRD_MAKER_NONE,
                .several = has_tools && has_dracut,
        };
}

const struct initrd_maker_info *initrd_maker_get(enum initrd_maker maker)
{
        return &makers[maker].info;
}

int initrd_is_enabled(int root_fd, enum initrd_maker maker)
{
        const struct maker *of = &makers[maker];
        const char *path = root_relative(of->info.file);
        _cleanup_free_ char *content = NULL;
        struct stat status;
        int r;

        if (fstatat(root_fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
        if (S_ISLNK(status.st_mode) != !!of->target)
                return -EEXIST;
        r = of->target ? read_link_at(root_fd, path, &content) : read_file_at(root_fd, path, &content, NULL);
        if (r < 0)
                return r;
        return streq(content ?: "", of->target ?: of->text) ? 1 : -EEXIST;
}

int initrd_enable(enum initrd_maker maker)
{
        const struct maker *of = &makers[maker];
        int r = initrd_is_enabled(AT_FDCWD, maker);

        if (r == 0 && of->target)
                r = symlink(of->target, of->info.file) < 0 ? -errno : 0;
        else if (r == 0)
                r = write_file_atomic_at(AT_FDCWD, of->info.file, of->text);
        return MIN(r, 0);
}

int initrd_disable(enum initrd_maker maker)
{
        int r = initrd_is_enabled(AT_FDCWD, maker);

        if (r > 0 && unlink(makers[maker].info.file) < 0)
                r = -errno;
        return MIN(r, 0);
}
