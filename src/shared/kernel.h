/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libmount.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/util.h"

/* Block devices in sysfs, by /sys/dev/block, which has a link for each: MAJOR:MINOR -> ../../devices/...
 * (Documentation/ABI/testing/sysfs-dev of the kernel). A device may be removed at any time, with all its files. */

#define SYSFS_BLOCK_DIRECTORY "sys/dev/block"

/* Part of the location of each controller of NVMe over Fabrics, for any transport (drivers/nvme/host/fabrics.c). */
#define SYSFS_NVME_FABRICS "/nvme-fabrics/"

/* Returns the path, below the root, of the file or directory `name` of a device; "../NAME" is one of the device
 * that it is a part of. */
struct path sysfs_path(dev_t number, const char *name) _nonnull_all_;

/* Whether there is a device of that number; also true on error. */
bool sysfs_has_device(int root_fd, dev_t number);

/* Reads an attribute, without the newline at its end, by one read(). Returns 0 and `*ret`, to be freed by the
 * caller, or a negative errno. */
int sysfs_read_at(int dir_fd, const char *path, char **ret) _nonnull_all_ _must_check_;

/* Reads an attribute of a device. Returns 1; 0 if it is missing or unreadable; or -ENOMEM. */
int sysfs_read_attribute(int root_fd, dev_t number, const char *name, char **ret) _nonnull_all_ _must_check_;

/* Reads the location of a device: ".../host0/target0:0:0/0:0:0:0/block/sda". Returns as above. */
int sysfs_read_location(int root_fd, dev_t number, char **ret) _nonnull_all_ _must_check_;

/* Reads the last part of that, the kernel's name: "sda". Returns as above. */
int sysfs_read_name(int root_fd, dev_t number, char **ret) _nonnull_all_ _must_check_;

/* Reads the kernel's name of the multipath device or md array that the device is a part of. Returns as above. */
int sysfs_read_upper_map(int root_fd, dev_t number, char **ret) _nonnull_all_ _must_check_;

/* The lines of mountinfo, swaps or fstab, parsed by libmount, without invalid ones. Initialize with zeros. */
struct mount_table {
        struct libmnt_table *table;
        struct libmnt_fs **entries; /* in the order of the lines; owned by the table */
        size_t n;
};

/* Returns 1; 0 if there is no such file, with an empty table; or a negative errno. */
int mount_table_read(int dir_fd, const char *path, struct mount_table *ret) _nonnull_all_ _must_check_;
void mount_table_done(struct mount_table *table) _nonnull_all_;
#define _cleanup_mount_table_ _cleanup_(mount_table_done)

#define FOREACH_MOUNT(entry, list)                                                                                \
        for (struct libmnt_fs **entry##_at = (list)->entries, *entry;                                             \
                entry##_at != (list)->entries + (list)->n && ((entry = *entry##_at), true); entry##_at++)

/* A line of crypttab(5), integritytab(5) or veritytab(5), which libmount does not parse. */
struct crypttab_line {
        char *rest;          /* of the text */
        unsigned int number; /* from 1 on */
        char *fields[5];     /* the name in /dev/mapper, the device, ...; NULL for missing ones */
};

/* Walks over the lines of a text, which is modified, and may be NULL. Skips empty lines and comments. */
#define FOREACH_CRYPTTAB_LINE(line, text)                                                                         \
        for (struct crypttab_line line = crypttab_lines(text); crypttab_next_line(&line);)
struct crypttab_line crypttab_lines(char *text);
bool crypttab_next_line(struct crypttab_line *line) _nonnull_all_;

/* Identifies the disk that has a device number now. The kernel gives each disk a sequence number that it never uses
 * again (since 5.15, DISKSEQ in /sys/dev/block/MAJOR:MINOR/uevent). So a disk that was removed and attached again,
 * or replaced, differs from one that stayed. */

/* Returns the sequence number of the disk with that number, or of the disk of a partition. 0 if there is no such
 * device, or the kernel has no such numbers. */
uint64_t diskseq_read(dev_t number);

/* Whether the process is blocked in the kernel, usually by a disk: state D of proc_pid_stat(5). False if unknown. */
bool process_waits_for_disk(pid_t pid);

/* Opens a path with O_PATH below a directory, as openat2(2) does; `resolve` is RESOLVE_IN_ROOT or other flags of it. Returns a file
 * descriptor, to be closed by the caller, or a negative errno. */
int open_path_at(int dir_fd, const char *path, uint64_t resolve) _nonnull_all_ _must_check_;

/* Follows all links of a path below `root_fd`. Returns 0 and the path from "/" without links, to be freed by the caller; or a
 * negative errno, -EIO if /proc does not have it. */
int resolve_path_at(int root_fd, const char *path, char **ret) _nonnull_all_ _must_check_;

/* The kernel sets file times to its last tick, at most 10 ms ago. */
#define FILE_TIME_TICK_USEC (10 * USEC_PER_MSEC)

/* Reads when a file was created, on the clock of file times; `flags` are those of statx(). Returns 0 or a negative errno, -ENODATA if
 * that is not known. */
int read_birth_at(int dir_fd, const char *path, int flags, uint64_t *ret_usec) _nonnull_all_ _must_check_;
