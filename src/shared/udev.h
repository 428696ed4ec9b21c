/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libudev.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "shared/macro.h"

/* udev rules by file name. Of several files with one name only the first counts, in the order of udev(7): /etc,
 * /run, /usr/local/lib, /usr/lib; and /lib if it is a separate directory. Paths are relative to `root_fd`. */

/* The number of these directories, and of those of the administrator and of this boot, which come first. */
#define RULE_DIRECTORIES_N 5
#define RULE_DIRECTORIES_LOCAL_N 2
extern const char *const rule_directories[RULE_DIRECTORIES_N];

/* Names of lvm2's rule, in lvm2 and in Debian. */
#define STOCK_RULES_N 2
extern const char *const stock_rules[STOCK_RULES_N];

/* Finds the file that counts, or the one that would count without /etc and /run; the caller frees the path. Returns
 * 0; -ENOENT without one; or -ENOMEM. */
#define rule_file_find(root_fd, name, ret) rule_file_find_from(root_fd, 0, name, ret)
#define rule_file_find_installed(root_fd, name, ret)                                                              \
        rule_file_find_from(root_fd, RULE_DIRECTORIES_LOCAL_N, name, ret)
int rule_file_find_from(
        int root_fd, size_t first_directory, const char *name, char **ret) _nonnull_all_ _must_check_;

/* Opens the directory of rules for this boot, below root_open(), and creates it if missing. Returns a descriptor or
 * a negative errno. */
#define RULES_OF_THIS_BOOT "run/udev/rules.d"
int rule_directory_open(void) _must_check_;

/* Whether the installed lvm2 rule handles PVs on LVs like all others. 2.03.24 and later do so only if another rule
 * sets LVM_PVSCAN_ON_LVS=1. Returns 1, 0 (also without a readable rule), or -ENOMEM. */
int rule_file_stock_takes_lvs(int root_fd) _must_check_;

/* Whether it sets SYSTEMD_READY for PVs; 2.03.19 and later do not. Returns likewise. */
int rule_file_stock_sets_ready(int root_fd) _must_check_;

/* Shared set-up of libudev's monitor, which receives events from udev. */

/* How many events are handled at a time. While udev's processes keep the processors busy, events may arrive as fast
 * as they are handled. Without a limit everything else would wait until coldplug ends, and systemd would kill the
 * worker as hung. */
#define MONITOR_EVENTS_MAX 64

/* Initialize with zeros. */
struct monitor {
        struct udev *udev;
        struct udev_monitor *monitor;
        sd_event_source *source;
};

/* Opens a monitor for devices with the tag; NULL for whole disks, including device-mapper and md. Returns 0 or a
 * negative errno; close it in any case. */
int monitor_open(struct monitor *monitor, const char *tag) _nonnull_(1) _must_check_;
void monitor_close(struct monitor *monitor) _nonnull_all_;

/* Starts to queue events, with room for several thousand disks. The event loop calls `handler`; a negative errno
 * from that ends the loop. Returns 0 or a negative errno. */
int monitor_start(struct monitor *monitor, sd_event *event, sd_event_io_handler_t handler, void *userdata)
        _nonnull_(1, 2, 3) _must_check_;

DEFINE_CLEANUP(struct udev *, udev_unref)
#define _cleanup_udev_ _cleanup_(udev_unrefp)
DEFINE_CLEANUP(struct udev_device *, udev_device_unref)
#define _cleanup_udev_device_ _cleanup_(udev_device_unrefp)

/* Returns the next device, to be freed with udev_device_unref(), or NULL at the end. `*lost` is set if events were
 * lost, and unchanged otherwise. */
struct udev_device *monitor_receive(const struct monitor *monitor, bool *lost) _nonnull_all_;

/* Whether the device has the property with that value, in its event or in the database. */
bool udev_property_is(struct udev_device *device, const char *name, const char *value) _nonnull_all_;

/* Paths of multipath devices. At each event of a disk, udev's rules ask multipath(8) whether it is a path
 * (DM_MULTIPATH_DEVICE_PATH=1) or not (=0). It is one if a multipath device has its WWID, or /etc/multipath/wwids
 * lists that from an earlier one.
 *
 * For a new WWID the reply is final, except with find_multipaths=yes: multipathd creates a multipath device once
 * two disks have that WWID, lists it, and makes udev announce both again. With "smart", a disk counts as a path
 * until that is decided. (multipath-tools: is_path_valid() in libmultipath/valid.c, should_multipath() in
 * libmultipath/wwids.c) */

#define UDEV_MULTIPATH_PATH "DM_MULTIPATH_DEVICE_PATH"

/* Whether multipathd runs or, while `booting`, will be started, and creates multipath devices of new WWIDs; by
 * files below `root_fd`. Unreadable files count as missing. */
bool multipath_finds_new(int root_fd, bool booting) _must_check_;

/* Whether a disk may become a path then. */
enum path_kind {
        PATH_NEVER,     /* no: multipath(8) was not asked, or the disk is ATA, USB, virtio or local NVMe */
        PATH_OF_TWINS,  /* if another disk has the same WWID: other SCSI disks */
        PATH_OF_FABRIC, /* yes: Fibre Channel, iSCSI, NVMe over Fabrics without native multipathing */
        PATH_MARKED,    /* it is a path: the multipath device is the PV */
};

/* Determined from DM_MULTIPATH_DEVICE_PATH and ID_BUS, which may be NULL, and the location in sysfs. */
enum path_kind path_get_kind(const char *mark, const char *bus, const char *location) _nonnull_(3);

/* The disk of a device or partition. Initialize with zeros. */
struct storage_path {
        enum path_kind kind;
        dev_t disk;
        char *wwid; /* multipathd's identifier of the disk; NULL only for PATH_NEVER */
};

/* Reads udev's database and sysfs. Empty if there is no such device, or no memory. */
void storage_path_read(int root_fd, dev_t number, struct storage_path *path) _nonnull_all_;
