/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>

#include "lvm/dm_devices.h"
#include "lvm/volume_group.h"

/* The device-mapper devices that there are, as the kernel lists them in one ioctl, DM_LIST_DEVICES; for who may
 * not ask for that, by sysfs. */
struct active_devices {
        int root_fd;
        struct dm_devices list;
        struct dm_hash_table *by_uuid; /* of the list's, those that are LVs */
};

/* Returns 0 and `*ret`, to be freed with active_devices_free(), or a negative errno; -EOPNOTSUPP where the
 * kernel (before 5.13) does not list UUIDs. */
int active_devices_get(struct active_devices **ret) _nonnull_(1) _must_check_;

struct active_devices *active_devices_free(struct active_devices *devices);
DEFINE_CLEANUP(struct active_devices *, active_devices_free)
#define _cleanup_active_devices_ _cleanup_(active_devices_freep)

/* Sets `active` and `stranded` of each LV of the VG. A pool is active when an LV in it is. One that is stranded is
 * not active: its device is there, but what it lies on is not, also if the disk has come back, which is another
 * device then. Only those of a VG that has `lost_pv` are looked at that closely, by sysfs. */
void active_devices_mark(const struct active_devices *devices, struct volume_group *volume_group) _nonnull_(1, 2);

/* Asks device-mapper which RAIDs of the VG run without one of their legs: those that it was given no device for, or
 * has found to be faulty (dm-raid's status, Documentation/admin-guide/device-mapper/dm-raid.rst of the kernel). This
 * is an ioctl for each LV, which waits for nothing.
 *
 * Returns 1 and the command that has lvm2 give them the devices that are there now, "lvchange --refresh vg/lv", in
 * `*ret`, to be freed by the caller; 0 if there is no such RAID; or a negative errno if that cannot be told. */
int raid_describe_refresh(const struct volume_group *volume_group, char **ret) _nonnull_(1, 2) _must_check_;

/* Whether a VG that is degraded has all of its PVs again, and no RAID of it goes without; false if that cannot be
 * told. */
bool raid_is_whole_again(const struct volume_group *volume_group) _nonnull_(1);
