/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/vg.h"

/* The list of device-mapper devices, usually from one ioctl, DM_LIST_DEVICES. This includes devices that never got a table,
 * which current kernels show nowhere else, not even in /sys/block. */

struct dm_device {
        dev_t number;
        const char *name;
        const char *uuid;      /* "" without one */
        const char *target;    /* type of the first target, such as "linear"; "" if not read, or without one */
        char *vg, *lv, *layer; /* parts of the name of an LV, "" for missing ones; else NULL */
        bool suspended;        /* its I/O is blocked; false if not read */
        bool read_only;        /* likewise */
};

struct dm_devices {
        struct dm_device *devices;
        size_t n;
        struct dm_hash_table *index; /* by number; LVs also by UUID */
        struct dm_pool *pool;        /* for the strings */
        int control_fd;              /* /dev/mapper/control, or a negative errno */
};

/* Iterates over a list, or none if it is NULL. */
#define FOREACH_DM_DEVICE(device, list)                                                                           \
        FOREACH_ARRAY(device, (list) ? (list)->devices : NULL, (list) ? (list)->n : 0)

/* Lists all devices. Without the driver, or permission for it, the list is read from sysfs, which any
 * user may read, and which does not show devices without a table. Without both the list is empty.
 *
 * Returns 0 and `*ret`, to be freed with dm_devices_free(), or a negative errno; -EOPNOTSUPP if the kernel (before
 * 5.13) does not list UUIDs. */
int dm_devices_get(struct dm_devices **ret) _nonnull_all_ _must_check_;
int dm_devices_get_at(int root_fd, struct dm_devices **ret) _nonnull_all_ _must_check_;

/* Reads details of each device: the type of its first target, and whether it is suspended or read-only. This takes
 * one more ioctl each, which never blocks, not even for a suspended device. A removed device keeps its "". Returns
 * 0, -ENOMEM, or -EACCES or -EPERM without permission; 0 if there is no driver. */
int dm_devices_read_details(struct dm_devices *devices) _nonnull_all_ _must_check_;

/* Finds the devices below the one with this number, by one ioctl. Returns false without a list, or if it was read
 * from sysfs. Also if the device was removed, has a second table loaded, or lies on more than that many devices.
 * Use sysfs then. */
#define DM_LOWERS_MAX 256U
bool dm_devices_read_lowers(const struct dm_devices *devices, dev_t number, dev_t ret[static DM_LOWERS_MAX],
        size_t *ret_n) _nonnull_(3, 4) _must_check_;

/* Whether lvm2 may have dmeventd(8) monitor an LV with this type of target; "" is none. */
bool dm_target_may_be_monitored(const char *target) _nonnull_all_;

struct dm_devices *dm_devices_free(struct dm_devices *devices);
DEFINE_CLEANUP(struct dm_devices *, dm_devices_free)
#define _cleanup_dm_devices_ _cleanup_(dm_devices_freep)

/* Returns the device with this number; NULL if there is none, or no list. */
const struct dm_device *dm_devices_find(const struct dm_devices *devices, dev_t number);

/* Sets `active`, `stranded` and `suspended` of each LV of the VG. An LV is active if its device has a live table; a
 * thin LV may be active without its pool. A stranded LV is not active: its device exists, but a disk below it was
 * removed, even if the disk is back as another device. This is checked in sysfs, only for a VG with `lost_pv`. */
void dm_devices_mark_active(const struct dm_devices *devices, struct vg *vg) _nonnull_all_;

/* Finds the RAIDs of the VG that run without a leg: it has no device, or is faulty (dm-raid status,
 * Documentation/admin-guide/device-mapper/dm-raid.rst of the kernel). This takes an ioctl for each LV, which never
 * blocks.
 *
 * Returns 1 if there are any. `*ret`, to be freed by the caller, is the command that makes lvm2 add the present
 * devices then, "lvchange --refresh vg/lv". Returns 0 if there is none, or a negative errno, also if the list is
 * from sysfs or missing. */
int raid_describe_refresh(const struct dm_devices *list, const struct vg *vg, char **ret)
        _nonnull_(2, 3) _must_check_;

/* Whether a degraded VG has all of its PVs again, and no degraded RAID; false if unknown. */
bool raid_is_whole_again(const struct dm_devices *list, const struct vg *vg) _nonnull_(2);
