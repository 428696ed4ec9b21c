/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libmount.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/util.h"

/* What sysfs says of block devices, by /sys/dev/block, which has a link for each: MAJOR:MINOR -> ../../devices/...
 * (the kernel's Documentation/ABI/testing/sysfs-dev). A device may go at any time, with all its files. */

#define SYSFS_BLOCK_DIRECTORY "sys/dev/block"

/* Part of the location of each controller of NVMe over fabrics, whatever its transport (drivers/nvme/host/fabrics.c). */
#define SYSFS_NVME_FABRICS "/nvme-fabrics/"

/* What the file or directory `name` of a device is called from the root; "../NAME" is one of the device that it is
 * part of. */
struct path sysfs_path(dev_t number, const char *name) _nonnull_all_;

/* Whether there is a device of that number; also true if that cannot be told. */
bool sysfs_has_device(int root_fd, dev_t number);

/* The whole of any attribute, which the kernel gives at once, without the newline at its end. Returns 0 and `*ret`,
 * to be freed by the caller, or a negative errno. */
int sysfs_read_at(int dir_fd, const char *path, char **ret) _nonnull_all_ _must_check_;

/* The same for one of a device. Returns 1; 0 if it is not there or cannot be read; or -ENOMEM. */
int sysfs_read_attribute(int root_fd, dev_t number, const char *name, char **ret) _nonnull_all_ _must_check_;

/* Where the device is among all others: ".../host0/target0:0:0/0:0:0:0/block/sda". Returns as above. */
int sysfs_read_location(int root_fd, dev_t number, char **ret) _nonnull_all_ _must_check_;

/* The last part of that, the kernel's name: "sda". Returns as above. */
int sysfs_read_name(int root_fd, dev_t number, char **ret) _nonnull_all_ _must_check_;

/* The kernel's name of the multipath device or the md array that the device is a part of. Returns as above. */
int sysfs_read_upper_map(int root_fd, dev_t number, char **ret) _nonnull_all_ _must_check_;

/* The lines of mountinfo, swaps or fstab, which libmount tells apart, without those that it does not understand.
 * Starts empty: all zeros. */
struct mount_table {
        struct libmnt_table *table;
        struct libmnt_fs **entries; /* in the order of the lines; the table's */
        size_t n;
};

/* Returns 1; 0 if there is no such file, and then there are no lines; or a negative errno. */
int mount_table_read(int dir_fd, const char *path, struct mount_table *ret) _nonnull_all_ _must_check_;
void mount_table_done(struct mount_table *table) _nonnull_all_;
#define _cleanup_mount_table_ _cleanup_(mount_table_done)

#define FOREACH_MOUNT(entry, list)                                                                                \
        for (struct libmnt_fs **entry##_at = (list)->entries, *entry;                                             \
                entry##_at != (list)->entries + (list)->n && ((entry = *entry##_at), true); entry##_at++)

/* Which disk it is that has a device number now. The kernel gives each disk that comes a sequence number, which it never gives
 * again (since 5.15, DISKSEQ in /sys/dev/block/MAJOR:MINOR/uevent): so a disk that went and came back, or another one in its
 * place, can be told from one that stayed. */

/* Whether the kernel has a block device of that number. */
bool diskseq_device_exists(dev_t number);

/* The sequence number of the disk that has that number, or of the one that it is a partition of; 0 if there is no
 * such device, and where the kernel does not tell. */
uint64_t diskseq_read(dev_t number);

/* Whether the process is blocked in the kernel, by a disk as a rule: state D of proc_pid_stat(5). False if that cannot be told. */
bool process_waits_for_disk(pid_t pid);
