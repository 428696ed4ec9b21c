/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/active.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <linux/dm-ioctl.h>
#include <stddef.h>
#include <sys/ioctl.h>

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

/* First guess of the size of the list; it is doubled until all fits. */
#define LIST_SIZE_MIN (64U * 1024)
#define LIST_SIZE_MAX (64U * 1024 * 1024)

#define CONTROL "/dev/" DM_DIR "/" DM_CONTROL_NODE

/* libdevmapper of Debian 12 has DM_DEVICE_LIST, but without the flag that makes the kernel add the UUIDs, and no
 * function to set it. */
static int list_devices(int control_fd, struct dm_ioctl **ret)
{
        for (size_t size = LIST_SIZE_MIN; size <= LIST_SIZE_MAX; size *= 2) {
                _cleanup_free_ struct dm_ioctl *list = calloc(1, size);

                if (!list)
                        return -ENOMEM;
                *list = (struct dm_ioctl){
                        .version = {DM_VERSION_MAJOR, 0, 0},
                        .data_size = (uint32_t) size,
                        .data_start = sizeof(struct dm_ioctl),
                        .flags = DM_UUID_FLAG,
                };
                if (ioctl(control_fd, DM_LIST_DEVICES, list) < 0)
                        return -errno;
                if (!(list->flags & DM_BUFFER_FULL_FLAG)) {
                        *ret = TAKE_PTR(list);
                        return 0;
                }
        }
        return -E2BIG;
}

/* Behind each name, at the next multiple of 8 bytes, are the number of its last event and flags, and if these say
 * so a UUID (linux/dm-ioctl.h, struct dm_name_list). */
static int add_uuids(const struct dm_ioctl *list, struct dm_hash_table *uuids)
{
        const char *position = (const char *) list + list->data_start;

        for (;;) {
                const struct dm_name_list *device = (const struct dm_name_list *) (const void *) position;
                size_t offset = offsetof(struct dm_name_list, name) + strlen(device->name) + 1;
                const uint32_t *event_and_flags =
                        (const uint32_t *) (const void *) (position + ((offset + 7) & ~(size_t) 7));
                const char *uuid = (const char *) (event_and_flags + 2);

                /* An empty list is one entry without a device. */
                if (device->dev == 0)
                        return 0;
                if (event_and_flags[1] == 0)
                        return -EOPNOTSUPP;
                if (event_and_flags[1] & DM_NAME_LIST_FLAG_HAS_UUID &&
                        strncmp(uuid, UUID_PREFIX, strlen(UUID_PREFIX)) == 0 &&
                        !dm_hash_insert(uuids, uuid, uuids))
                        return -ENOMEM;
                if (device->next == 0)
                        return 0;
                position += device->next;
        }
}

int active_devices_get(struct active_devices **ret)
{
        _cleanup_active_devices_ struct active_devices *devices = calloc(1, sizeof(*devices));
        _cleanup_free_ struct dm_ioctl *list = NULL;
        _cleanup_close_ int control_fd = -EBADF;
        int r;

        if (!devices)
                return -ENOMEM;
        devices->uuids = dm_hash_create(1024);
        if (!devices->uuids)
                return -ENOMEM;

        control_fd = open(CONTROL, O_RDWR | O_CLOEXEC);
        if (control_fd < 0 && errno != ENOENT && errno != ENODEV && errno != ENXIO)
                return -errno;
        /* Without the driver there are no devices. */
        if (control_fd >= 0) {
                r = list_devices(control_fd, &list);
                if (r >= 0)
                        r = add_uuids(list, devices->uuids);
                if (r < 0)
                        return r;
        }

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
