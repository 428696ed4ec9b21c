/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/active.h"

#include <libdevmapper.h>
#include <sys/sysmacros.h>

#include "shared/program.h"
#include "shared/util.h"

/* What follows an LV's UUID on the device that makes a pool: a pool of which any LV is active has no device without it. */
static const char *const layers[] = {"", "-tpool", "-vpool"};
#define UUID_LENGTH (sizeof(LVM_UUID_PREFIX) - 1 + 2 * LVM_ID_LENGTH + sizeof("-tpool") - 1)

/* How many layers an LV may have below it; more than lvm2 makes. */
#define LAYERS_MAX 16

struct active_devices {
        int root_fd;
        struct dm_devices list;
        struct dm_hash_table *by_uuid; /* of the list's */
};

struct active_devices *active_devices_free(struct active_devices *devices)
{
        if (!devices)
                return NULL;
        if (devices->by_uuid)
                dm_hash_destroy(devices->by_uuid);
        dm_devices_done(&devices->list);
        if (devices->root_fd >= 0)
                close(devices->root_fd);
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

const struct dm_devices *active_devices_list(const struct active_devices *devices)
{
        return &devices->list;
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
        _cleanup_free_ char *slaves =
                string_format("sys/dev/block/%u:%u/slaves", major(device->number), minor(device->number));

        return slaves && has_lost(devices->root_fd, slaves, 0);
}

/* The device of an LV, or NULL. */
static const struct dm_device *find_device(const struct active_devices *devices,
        const struct volume_group *volume_group, const struct volume_group_lv *lv)
{
        const struct dm_device *device = NULL;
        char uuid[UUID_LENGTH + 1];
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
