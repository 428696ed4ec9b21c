/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/vg.h"

/* The device-mapper devices that there are, as the kernel lists them in one ioctl, DM_LIST_DEVICES. A device that
 * never got a table is among them; current kernels have it nowhere else, /sys/block included. */

struct dm_device {
        dev_t number;
        const char *name;
        const char *uuid;   /* "" without one */
        const char *target; /* type of the table's first target, "linear"; "" if not asked for, or without one */
        char *vg, *lv, *layer; /* of lvm2's: its name in parts, "" for those that are not there; else NULL */
        bool suspended;        /* I/O to it waits; false as long as it is not asked for */
        bool read_only;        /* likewise */
};

struct dm_devices {
        struct dm_device *devices;
        size_t n;
        struct dm_hash_table *index; /* by number; those of LVs by UUID, too */
        struct dm_pool *pool;        /* has the strings */
        int control_fd;              /* where to ask for more, or a negative errno */
};

/* Lists them. Without the driver there are none.
 *
 * If there is a file proc/dm-devices below `root_fd`, which the kernel never makes, the list is read from
 * there: a line of "MAJOR:MINOR NAME UUID TARGET" for each device, with " suspended" behind it for one that is,
 * "-" for a UUID or target that it does not have, and any byte as it is or as \xNN. Lines that are not like
 * that are skipped.
 *
 * Returns 0 and `*ret`, to be freed with dm_devices_free(), or a negative errno; -EOPNOTSUPP where the kernel (before 5.13)
 * does not list UUIDs. */
int dm_devices_get(int root_fd, struct dm_devices **ret) _nonnull_all_ _must_check_;

/* Asks for what the list does not say: the type of each device's first target, and whether it is suspended or
 * read-only. This is one more ioctl each, which waits for nothing, not even for a suspended device. A device that
 * has gone keeps its "". Returns 0, or -ENOMEM. */
int dm_devices_read_details(struct dm_devices *devices) _nonnull_all_ _must_check_;

/* Which devices the table of the one with this number lies on, by one ioctl more. Returns whether `ret` and `*ret_n`
 * say that: not without a list, of one that was read from a file, nor of a device that has gone, has a second table loaded, or lies
 * on more than that many devices. Then sysfs has to be asked. */
#define DM_LOWERS_MAX 256U
bool dm_devices_read_lowers(const struct dm_devices *devices, dev_t number, dev_t ret[static DM_LOWERS_MAX],
        size_t *ret_n) _nonnull_(3, 4) _must_check_;

/* The same by sysfs, which anybody may read. A device without a table is not in there. */
int dm_devices_get_by_sysfs(int root_fd, struct dm_devices **ret) _nonnull_all_ _must_check_;

/* By sysfs for who may not ask the driver, as long as that is the reason. */
int dm_devices_get_permitted(struct dm_devices **ret) _nonnull_all_ _must_check_;

struct dm_devices *dm_devices_free(struct dm_devices *devices);
DEFINE_CLEANUP(struct dm_devices *, dm_devices_free)
#define _cleanup_dm_devices_ _cleanup_(dm_devices_freep)

/* The one with this number; NULL if there is none, or no list. */
const struct dm_device *dm_devices_find(const struct dm_devices *devices, dev_t number);

/* Sets `active`, `stranded` and `suspended` of each LV of the VG. What makes an LV active is a device with a live table; an
 * LV in a thin pool may be without the pool. One that is stranded is not active: its device is there, but what it lies on is
 * not, also if the disk has come back, which is another device then. Only those of a VG that has `lost_pv` are looked at that
 * closely, by sysfs. */
void dm_devices_mark_active(const struct dm_devices *devices, struct vg *vg) _nonnull_all_;

/* Asks device-mapper which RAIDs of the VG, by this list, run without one of their legs: those that it was given no device for, or
 * has found to be faulty (dm-raid's status, Documentation/admin-guide/device-mapper/dm-raid.rst of the kernel). This
 * is an ioctl for each LV, which waits for nothing.
 *
 * Returns 1 and the command that has lvm2 give them the devices that are there now, "lvchange --refresh vg/lv", in
 * `*ret`, to be freed by the caller; 0 if there is no such RAID; or a negative errno if that cannot be told, as with a list of
 * sysfs's, or none. */
int raid_describe_refresh(const struct dm_devices *list, const struct vg *vg, char **ret)
        _nonnull_(2, 3) _must_check_;

/* Whether a VG that is degraded has all of its PVs again, and no RAID of it goes without; false if that cannot be
 * told. */
bool raid_is_whole_again(const struct dm_devices *list, const struct vg *vg) _nonnull_(2);
