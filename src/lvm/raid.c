/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/raid.h"

#include <sys/sysmacros.h>

#include "lvm/dm_devices.h"
#include "shared/dm.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

/* Of an LV that is not hidden. */
#define UUID_LENGTH (sizeof(LVM_UUID_PREFIX) - 1 + 2 * LVM_ID_LENGTH)

/* What the kernel says of a leg: 'D' for one that has failed, '-' where it was given none. Others are 'A' and 'a', in
 * sync and not. */
#define LACKING "D-"

static bool is_of(const struct volume_group *volume_group, const char *uuid)
{
        const char *vgid = skip_prefix(uuid, LVM_UUID_PREFIX);

        return vgid && strncmp(vgid, volume_group->vgid, LVM_ID_LENGTH) == 0;
}

/* Whether the status is that of a RAID of which a leg is lacking. Returns 0, 1 or -ENOMEM. */
static int judge_status(const char *type, const char *parameters)
{
        _cleanup_dm_pool_ struct dm_pool *pool = NULL;
        struct dm_status_raid *raid;

        if (!type || !streq(type, "raid") || !parameters)
                return 0;
        pool = dm_pool_create("raid", 1024);
        if (!pool)
                return -ENOMEM;
        return dm_get_status_raid(pool, parameters, &raid) && strpbrk(raid->dev_health, LACKING);
}

/* Returns 0, 1 or a negative errno. A device that has just gone lacks nothing. */
static int is_lacking(const struct dm_device *device)
{
        struct dm_task *task = dm_task_create(DM_DEVICE_STATUS);
        char *type = NULL, *parameters = NULL;
        uint64_t start, length;
        int r = 0;

        if (!task)
                return -ENOMEM;
        if (!dm_task_set_major(task, (int) major(device->number)) ||
                !dm_task_set_minor(task, (int) minor(device->number)) || !dm_task_no_open_count(task) ||
                !dm_task_no_flush(task))
                r = -ENOMEM;
        else if (dm_task_run(task)) {
                /* An LV that is a RAID is one from its beginning to its end. */
                (void) dm_get_next_target(task, NULL, &start, &length, &type, &parameters);
                r = judge_status(type, parameters);
        }
        dm_task_destroy(task);
        return r;
}

static int add_name(struct string_vector *names, const struct volume_group *volume_group, const char *dm_name)
{
        _cleanup_dm_pool_ struct dm_pool *pool = dm_pool_create("name", 512);
        char *vg = NULL, *lv = NULL, *layer = NULL;
        _cleanup_free_ char *shown = NULL, *name = NULL;

        if (!pool)
                return -ENOMEM;
        if (dm_split_lvm_name(pool, dm_name, &vg, &lv, &layer))
                shown = logical_volume_name_to_show(lv);
        if (shown)
                name = string_format("%s/%s", volume_group->name, shown);
        return name ? string_vector_add(names, name) : -ENOMEM;
}

int raid_describe_refresh(const struct volume_group *volume_group, char **ret)
{
        _cleanup_string_vector_ struct string_vector names = {};
        _cleanup_dm_devices_ struct dm_devices list = {};
        _cleanup_close_ int root_fd = root_open();
        _cleanup_free_ char *joined = NULL;
        bool hidden = false;
        int r;

        if (root_fd < 0)
                return root_fd;
        r = dm_devices_get(root_fd, &list);
        if (r < 0)
                return r;
        if (!list.live)
                return -EOPNOTSUPP;

        for (size_t i = 0; i < list.n; i++) {
                if (!is_of(volume_group, list.devices[i].uuid))
                        continue;
                r = is_lacking(&list.devices[i]);
                if (r < 0)
                        return r;
                if (r == 0)
                        continue;
                /* That of a thin pool's data, for instance: lvchange(8) takes the name of none that is hidden. */
                hidden |= strlen(list.devices[i].uuid) != UUID_LENGTH;
                r = add_name(&names, volume_group, list.devices[i].name);
                if (r < 0)
                        return r;
        }
        if (names.n == 0)
                return 0;

        joined = string_vector_join(&names, " ");
        if (!joined)
                return -ENOMEM;
        *ret = hidden ? string_format("vgchange --refresh %s", volume_group->name)
                      : string_format("lvchange --refresh %s", joined);
        return *ret ? 1 : -ENOMEM;
}

bool raid_is_whole_again(const struct volume_group *volume_group)
{
        _cleanup_free_ char *refresh = NULL;

        return !volume_group_is_incomplete(volume_group) && raid_describe_refresh(volume_group, &refresh) == 0;
}
