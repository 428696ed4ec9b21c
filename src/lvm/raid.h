/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/volume_group.h"

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
