/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files with the parts of names of LVs, which the optimized rules import instead of starting a program. */

#include "fast-rules/dm-names.h"

#include "shared/dm.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/util.h"

/* udev would believe half a file, so it gets its name when it is complete. Until then no file has a name with a hyphen, for which
 * the rule looks. */
#define TEMPORARY FLAGS_DM_NAMES "/.new"

/* As dmsetup splitname --nameprefixes --noheadings --rows prints it. */
static int write_file(int run_fd, const char *path, const char *vg, const char *lv)
{
        _cleanup_free_ char *text = string_format("DM_VG_NAME='%s'\nDM_LV_NAME='%s'\nDM_LV_LAYER=''\n", vg, lv);
        int r = text ? write_file_atomic_at(run_fd, TEMPORARY, text) : -ENOMEM;

        return r >= 0 && renameat(run_fd, TEMPORARY, run_fd, path) < 0 ? -errno : r;
}

static int remove_file(int run_fd, const char *path, _unused_ const char *vg, _unused_ const char *lv)
{
        (void) unlinkat(run_fd, path, 0);
        return 0;
}

/* Without the directory, does nothing. */
static int for_each(int run_fd, const struct vg *vg,
        int (*function)(int run_fd, const char *path, const char *vg, const char *lv))
{
        _cleanup_dm_pool_ struct dm_pool *pool = dm_pool_create("names", 1024);
        int r = pool ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < vg->n_lvs; i++) {
                const struct vg_lv *lv = &vg->lvs[i];
                const char *name;

                /* lvm2 also activates LVs with names that it would not give; such a name, which a disk may have, must not
                 * become the name of a file. */
                if (!lv->autoactivated || !vg_name_is_valid(lv->name))
                        continue;
                name = dm_build_dm_name(pool, vg->name, lv->name, NULL);
                r = name ? function(run_fd, path_format(FLAGS_DM_NAMES "/%s", name).text, vg->name, lv->name)
                         : -ENOMEM;
        }
        return r == -ENOENT ? 0 : r;
}

int dm_names_write(int run_fd, const struct vg *vg)
{
        int r = for_each(run_fd, vg, write_file);

        if (r < 0)
                log_warning_errno(r, "Failed to write names of LVs of VG %s for udev: %m", vg->name);
        return r;
}

void dm_names_remove(int run_fd, const struct vg *vg)
{
        (void) for_each(run_fd, vg, remove_file);
}
