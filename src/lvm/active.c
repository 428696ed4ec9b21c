/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/active.h"

#include <libdevmapper.h>

#include "lvm/dm_devices.h"
#include "shared/root.h"

/* lvm2 gives a visible LV's device the UUID "LVM-", the VG's identifier, the LV's (lib/activate/dev_manager.c). */
#define UUID_PREFIX "LVM-"
#define UUID_LENGTH (sizeof(UUID_PREFIX) - 1 + 2 * LVM_ID_LENGTH)

struct active_devices {
        struct dm_hash_table *uuids;
};

struct active_devices *active_devices_free(struct active_devices *devices)
{
        if (!devices)
                return NULL;
        if (devices->uuids)
                dm_hash_destroy(devices->uuids);
        free(devices);
        return NULL;
}

int active_devices_get(struct active_devices **ret)
{
        _cleanup_active_devices_ struct active_devices *devices = calloc(1, sizeof(*devices));
        _cleanup_dm_devices_ struct dm_devices list = {};
        _cleanup_close_ int root_fd = root_open();
        int r;

        if (root_fd < 0)
                return root_fd;
        if (!devices)
                return -ENOMEM;
        devices->uuids = dm_hash_create(1024);
        if (!devices->uuids)
                return -ENOMEM;

        r = dm_devices_get_unprivileged(root_fd, &list);
        if (r < 0)
                return r;
        for (size_t i = 0; i < list.n; i++)
                if (skip_prefix(list.devices[i].uuid, UUID_PREFIX) &&
                        !dm_hash_insert(devices->uuids, list.devices[i].uuid, devices->uuids))
                        return -ENOMEM;

        *ret = TAKE_PTR(devices);
        return 0;
}

void active_devices_mark(const struct active_devices *devices, struct volume_group *volume_group)
{
        for (size_t i = 0; i < volume_group->n_lvs; i++) {
                struct volume_group_lv *lv = &volume_group->lvs[i];
                char uuid[UUID_LENGTH + 1];

                snprintf(uuid, sizeof(uuid), UUID_PREFIX "%s%s", volume_group->vgid, lv->lvid);
                lv->active = dm_hash_lookup(devices->uuids, uuid) != NULL;
        }
}
