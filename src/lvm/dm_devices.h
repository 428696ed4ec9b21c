/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "shared/macro.h"

/* The device-mapper devices that there are, as the kernel lists them in one ioctl, DM_LIST_DEVICES. A device that
 * never got a table is among them; current kernels have it nowhere else, /sys/block included. */

struct dm_device {
        dev_t number;
        char *name;
        char *uuid;     /* "" without one */
        char *target;   /* type of the table's first target, "linear"; "" if not asked for, or without one */
        bool suspended; /* I/O to it waits; false as long as it is not asked for */
        bool read_only; /* likewise */
};

/* Starts empty: all zeros. */
struct dm_devices {
        struct dm_device *devices;
        size_t n;
        int control_fd; /* where to ask for more; only of use if `live` */
        bool live;
};

/* Lists them. Without the driver there are none.
 *
 * If there is a file proc/dm-devices below `root_fd`, which the kernel never makes, the list is read from
 * there: a line of "MAJOR:MINOR NAME UUID TARGET" for each device, with " suspended" behind it for one that is,
 * "-" for a UUID or target that it does not have, and any byte as it is or as \xNN. Lines that are not like
 * that are skipped.
 *
 * Returns 0, or a negative errno; -EOPNOTSUPP where the kernel (before 5.13) does not list UUIDs. */
int dm_devices_get(int root_fd, struct dm_devices *ret) _nonnull_(2) _must_check_;

/* Asks for what the list does not say: the type of each device's first target, and whether it is suspended or
 * read-only. This is one more ioctl each, which waits for nothing, not even for a suspended device. A device that
 * has gone keeps its "". Returns 0, or -ENOMEM. */
int dm_devices_read_details(struct dm_devices *devices) _nonnull_(1) _must_check_;

/* Which devices the table of the one with this number lies on, by one ioctl more. Returns whether `ret` and `*ret_n`
 * say that: not of a list that was read from a file, nor of a device that has gone, has a second table loaded, or lies
 * on more than that many devices. Then sysfs has to be asked. */
#define DM_LOWERS_MAX 256
bool dm_devices_read_lowers(const struct dm_devices *devices, dev_t number, dev_t ret[static DM_LOWERS_MAX],
        size_t *ret_n) _nonnull_(1, 3, 4) _must_check_;

/* The same by sysfs, which anybody may read. A device without a table is not in there. */
int dm_devices_get_by_sysfs(int root_fd, struct dm_devices *ret) _nonnull_(2) _must_check_;

/* By sysfs for who may not ask the driver, as long as that is the reason. */
int dm_devices_get_unprivileged(int root_fd, struct dm_devices *ret) _nonnull_(2) _must_check_;

/* Adds a device, with copies of the strings. Returns 0 or -ENOMEM. */
int dm_devices_add(struct dm_devices *devices, dev_t number, const char *name, const char *uuid,
        const char *target) _nonnull_(1, 3, 4, 5) _must_check_;

void dm_devices_done(struct dm_devices *devices) _nonnull_(1);
#define _cleanup_dm_devices_ _cleanup_(dm_devices_done)
