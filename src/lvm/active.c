/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which LVs of a VG are active, and which of its RAIDs lack a leg, by device-mapper's devices. */

#include "lvm/active.h"

#include <libdevmapper.h>
#include <sys/sysmacros.h>

#include "lvm/dm_devices.h"
#include "shared/dm.h"
#include "shared/kernel.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

/* What follows an LV's UUID on the device that makes a pool: a pool of which any LV is active has no device without it. */
static const char *const layers[] = {"", "-tpool", "-vpool"};
#define LAYER_UUID_SIZE (LVM_UUID_LENGTH + sizeof("-tpool"))

/* How many layers an LV may have below it; more than lvm2 makes. */
#define LAYERS_MAX 16

struct active_devices *active_devices_free(struct active_devices *devices)
{
        if (!devices)
                return NULL;
        if (devices->by_uuid)
                dm_hash_destroy(devices->by_uuid);
        dm_devices_done(&devices->list);
        closep(&devices->root_fd);
        free(devices);
        return NULL;
}

int active_devices_get(struct active_devices **ret)
{
        _cleanup_active_devices_ struct active_devices *devices = calloc(1, sizeof(*devices));
        int r;

        if (!devices)
                return -ENOMEM;
        devices->root_fd = root_open();
        if (devices->root_fd < 0)
                return devices->root_fd;
        devices->by_uuid = dm_hash_create(1024);
        if (!devices->by_uuid)
                return -ENOMEM;

        r = dm_devices_get_unprivileged(devices->root_fd, &devices->list);
        if (r < 0)
                return r;
        for (size_t i = 0; i < devices->list.n; i++) {
                struct dm_device *device = &devices->list.devices[i];

                if (skip_prefix(device->uuid, LVM_UUID_PREFIX) &&
                        !dm_hash_insert(devices->by_uuid, device->uuid, device))
                        return -ENOMEM;
        }

        *ret = TAKE_PTR(devices);
        return 0;
}

/* Whether one of the devices of `slaves`, a directory in sysfs, has gone, or lies on one that has. A disk that
 * goes takes its directory with it; the link to that stays as long as somebody holds the disk. */
static bool has_lost(int dir_fd, const char *slaves, unsigned int layer)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(dir_fd, slaves);
        bool lost = false;

        if (!directory)
                return false;
        for (const struct dirent *entry; !lost && (entry = readdir(directory));) {
                _cleanup_free_ char *number = string_format("%s/dev", entry->d_name);
                _cleanup_free_ char *below = string_format("%s/slaves", entry->d_name);

                if (entry->d_name[0] == '.' || !number || !below)
                        continue;
                if (faccessat(dirfd(directory), number, F_OK, 0) < 0)
                        lost = errno == ENOENT;
                else if (layer < LAYERS_MAX)
                        lost = has_lost(dirfd(directory), below, layer + 1);
        }
        return lost;
}

static bool is_stranded(const struct active_devices *devices, const struct dm_device *device)
{
        _cleanup_free_ char *slaves = sysfs_path(device->number, "slaves");

        return slaves && has_lost(devices->root_fd, slaves, 0);
}

/* The device of an LV, or NULL. */
static const struct dm_device *find_device(const struct active_devices *devices,
        const struct volume_group *volume_group, const struct volume_group_lv *lv)
{
        const struct dm_device *device = NULL;
        char uuid[LAYER_UUID_SIZE];
        char *layer = stpcpy(stpcpy(stpcpy(uuid, LVM_UUID_PREFIX), volume_group->vgid), lv->lvid);

        for (size_t i = 0; !device && i < ELEMENTSOF(layers); i++) {
                strcpy(layer, layers[i]);
                device = dm_hash_lookup(devices->by_uuid, uuid);
        }
        return device;
}

void active_devices_mark(const struct active_devices *devices, struct volume_group *volume_group)
{
        for (size_t i = 0; i < volume_group->n_lvs; i++) {
                struct volume_group_lv *lv = &volume_group->lvs[i];
                const struct dm_device *device = find_device(devices, volume_group, lv);

                lv->stranded = device && volume_group->lost_pv && is_stranded(devices, device);
                lv->active = device && !lv->stranded;
        }
}

/* What the kernel says of a leg: 'D' for one that has failed, '-' where it was given none. Others are 'A' and 'a', in
 * sync and not. */
#define LACKING "D-"

static bool is_of(const struct volume_group *volume_group, const char *uuid)
{
        const char *vgid = skip_prefix(uuid, LVM_UUID_PREFIX);

        return vgid && strncmp(vgid, volume_group->vgid, LVM_ID_LENGTH) == 0;
}

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)

/* Whether the device is a RAID of which a leg is lacking. Returns 0, 1 or -ENOMEM. One that has just gone lacks nothing. */
static int is_lacking(const struct dm_device *device)
{
        _cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_STATUS);
        _cleanup_dm_pool_ struct dm_pool *pool = NULL;
        char *type = NULL, *parameters = NULL;
        struct dm_status_raid *raid;
        uint64_t start, length;

        if (!task || !dm_task_set_major(task, (int) major(device->number)) ||
                !dm_task_set_minor(task, (int) minor(device->number)) || !dm_task_no_open_count(task) ||
                !dm_task_no_flush(task))
                return -ENOMEM;
        if (!dm_task_run(task))
                return 0;
        /* An LV that is a RAID is one from its beginning to its end. */
        (void) dm_get_next_target(task, NULL, &start, &length, &type, &parameters);
        if (!type || !streq(type, "raid") || !parameters)
                return 0;
        pool = dm_pool_create("raid", 1024);
        if (!pool)
                return -ENOMEM;
        return dm_get_status_raid(pool, parameters, &raid) && strpbrk(raid->dev_health, LACKING);
}

static int add_name(struct string_vector *names, const struct volume_group *volume_group, const char *dm_name)
{
        _cleanup_free_ char *shown = NULL, *name = NULL;
        _cleanup_dm_name_ struct dm_name split = {};

        if (dm_name_split(dm_name, &split) >= 0)
                shown = logical_volume_name_to_show(split.lv);
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
                hidden |= strlen(list.devices[i].uuid) != LVM_UUID_LENGTH;
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
