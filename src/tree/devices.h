/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/dm_devices.h"
#include "tree/tree.h"

/* Adds all block devices and what holds what, by device-mapper's list `devices` or without it, /proc/partitions and sysfs:
 * /sys/dev/block/MAJOR:MINOR, its partition, slaves/ (to which the kernel always adds a link when it adds one to
 * holders/), loop/backing_file, md/array_state and md/metadata_version (the kernel's Documentation/ABI, and
 * Documentation/admin-guide/md.rst). Loop devices without a file and md arrays that are not assembled are left
 * out. */
int tree_add_devices(struct tree *tree, int root_fd, const struct dm_devices *devices) _nonnull_(1) _must_check_;

/* Adds one device, of those that device-mapper lists, or else as a disk, without what holds what. `*ret` may have been there
 * already. */
int tree_add_single_device(struct tree *tree, const struct dm_devices *devices, const char *kernel_name,
        dev_t number, struct tree_node **ret) _nonnull_(1, 3, 5) _must_check_;

/* Adds what lies on the devices that are there, however indirectly, by holders/ and the directories of partitions in sysfs.
 * What that costs does not grow with the machine's devices. */
int tree_add_holders(struct tree *tree, int root_fd, const struct dm_devices *devices) _nonnull_(1) _must_check_;

/* Adds edges from what the loop devices' files lie on, once the mounts are known. */
int tree_add_files(struct tree *tree) _nonnull_(1) _must_check_;
