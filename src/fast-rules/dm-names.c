/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/dm-names.h"

#include <fcntl.h>

#include "shared/dm.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/util.h"

/* Half of a file would be believed, so it gets its name when it is whole. The rule looks for names with a hyphen. */
#define TEMPORARY ".new"

static int open_directory(int run_fd)
{
        int fd = openat(run_fd, FLAGS_DM_NAMES, O_PATH | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

/* As dmsetup splitname --nameprefixes --noheadings --rows prints it. */
static int write_file(int names_fd, const char *name, const char *volume_group, const char *lv)
{
        _cleanup_free_ char *text =
                string_format("DM_VG_NAME='%s'\nDM_LV_NAME='%s'\nDM_LV_LAYER=''\n", volume_group, lv);
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!text)
                return -ENOMEM;
        fd = openat(names_fd, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        r = write_all(fd, text, strlen(text));
        return r >= 0 && renameat(names_fd, TEMPORARY, names_fd, name) < 0 ? -errno : r;
}

/* lvm2 also activates LVs with names that it would not give. They come from a disk, and are no names of files. */
static bool is_wanted(const struct volume_group_lv *lv)
{
        return lv->autoactivated && volume_group_name_is_valid(lv->name);
}

static int for_each(int names_fd, const struct volume_group *volume_group,
        int (*function)(int names_fd, const char *name, const char *volume_group, const char *lv))
{
        _cleanup_dm_pool_ struct dm_pool *pool = dm_pool_create("names", 4096);
        int r = pool ? 0 : -ENOMEM;

        for (size_t i = 0; i < volume_group->n_lvs && r >= 0; i++) {
                const struct volume_group_lv *lv = &volume_group->lvs[i];
                const char *name;

                if (!is_wanted(lv))
                        continue;
                name = dm_build_dm_name(pool, volume_group->name, lv->name, NULL);
                r = name ? function(names_fd, name, volume_group->name, lv->name) : -ENOMEM;
        }
        return r;
}

int dm_names_write(int run_fd, const struct volume_group *volume_group)
{
        _cleanup_close_ int names_fd = open_directory(run_fd);
        int r;

        if (names_fd == -ENOENT)
                return 0;
        r = names_fd < 0 ? names_fd : for_each(names_fd, volume_group, write_file);
        if (r < 0)
                log_warning("Failed to write down names of LVs of VG %s for udev: %s", volume_group->name,
                        strerror(-r));
        return r;
}

static int remove_file(int names_fd, const char *name, _unused_ const char *volume_group, _unused_ const char *lv)
{
        (void) unlinkat(names_fd, name, 0);
        return 0;
}

void dm_names_remove(int run_fd, const struct volume_group *volume_group)
{
        _cleanup_close_ int names_fd = open_directory(run_fd);

        if (names_fd >= 0)
                (void) for_each(names_fd, volume_group, remove_file);
}
