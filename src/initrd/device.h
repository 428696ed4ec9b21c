/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "shared/util.h"

/* The block devices of a running system, as udev's links in /dev and sysfs show them. Everything is looked up
 * below `root_fd` (shared/root.h), links included, so that tests can bring a small /dev, /proc and /sys of
 * their own. */

/* The device that a name in fstab, on the kernel's command line or in initramfs.conf means: a path below /dev,
 * UUID=, LABEL=, PARTUUID= or PARTLABEL= with a value, or MAJOR:MINOR. Returns 0, -ENODEV if there is no such
 * device, -EINVAL for what names no device, or another negative errno. */
int device_from_name(int root_fd, const char *name, dev_t *ret) _nonnull_(2, 3) _must_check_;

enum {
        DEVICE_NO_MEMBER = 0,
        DEVICE_MEMBER = 1,
};

/* All devices of the mounted btrfs file system of which `device` is one, from /sys/fs/btrfs. Returns DEVICE_MEMBER
 * and an array to be freed by the caller, DEVICE_NO_MEMBER and nothing, or a negative errno. */
int device_btrfs_members(int root_fd, dev_t device, dev_t **ret, size_t *ret_n) _nonnull_(3, 4) _must_check_;

/* Adds to `names` the VG of each LV that is `device` or lies anywhere below it (sysfs: slaves); a VG may be added
 * more than once. Returns 0 or a negative errno; -ENODEV if sysfs does not have the device, -EOPNOTSUPP if what is
 * below cannot be seen there, which is so for loop devices, or has a name that no VG can have. */
int device_volume_groups(int root_fd, dev_t device, struct string_vector *names) _nonnull_(3) _must_check_;
