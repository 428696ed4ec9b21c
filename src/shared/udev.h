/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libudev.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "shared/macro.h"

/* Rules of udev by their name: of several files with one name only the first counts, in the order of udev(7):
 * /etc, /run, /usr/local/lib, /usr/lib; and /lib where that is not the same.
 * All paths are without the slash at the beginning, below `root_fd`. */

/* These directories. */
#define RULE_DIRECTORIES_N 5
extern const char *const rule_directories[RULE_DIRECTORIES_N];

/* lvm2's rule is called so by Debian, and by lvm2 itself. */
#define STOCK_RULES_N 2
extern const char *const stock_rules[STOCK_RULES_N];

/* The path of the file that counts, to be freed by the caller. Returns 0; -ENOENT without one; or -ENOMEM. */
int rule_file_find(int root_fd, const char *name, char **ret) _nonnull_all_ _must_check_;

/* The same of those that are installed, whatever is in /etc and /run. */
int rule_file_find_installed(int root_fd, const char *name, char **ret) _nonnull_all_ _must_check_;

/* Opens that of the rules that count until the next boot, below root_open(), and makes it first where it is missing. Returns a
 * descriptor or a negative errno. */
#define RULES_OF_THIS_BOOT "run/udev/rules.d"
int rule_directory_open(void) _must_check_;

/* Whether lvm2's own rule, as it is installed, takes PVs on LVs for PVs like all others. 2.03.24 and later do so only
 * for those to which another rule gives LVM_PVSCAN_ON_LVS=1. Returns 1 or 0, also without a rule that can be read;
 * or -ENOMEM. */
int rule_file_stock_takes_lvs(int root_fd) _must_check_;

/* Whether it tells systemd by SYSTEMD_READY which PVs can be used; 2.03.19 and later do not. Likewise. */
int rule_file_stock_sets_ready(int root_fd) _must_check_;

/* Shared set-up of libudev's monitor, which receives events from udev. */

/* How many events are handled at a time. Where udev's processes take most of the processors they may come as fast as they
 * are handled, for as long as there are disks to announce; everything else would have to wait till then, and systemd
 * would take the worker for one that hangs. */
#define MONITOR_EVENTS_MAX 64

/* Starts empty: all zeros. */
struct monitor {
        struct udev *udev;
        struct udev_monitor *monitor;
        sd_event_source *source;
};

/* Opens it for the devices with the tag; NULL for whole disks, device-mapper's and md's included. Returns a negative errno
 * on error; to be closed in any case. */
int monitor_open(struct monitor *monitor, const char *tag) _nonnull_(1) _must_check_;
void monitor_close(struct monitor *monitor) _nonnull_all_;

/* Begins to queue events, with room for those of a shelf of several thousand disks, for the event loop, which calls `handler`,
 * and which a negative errno from it ends. Returns 0 or a negative errno. */
int monitor_start(struct monitor *monitor, sd_event *event, sd_event_io_handler_t handler, void *userdata)
        _nonnull_(1, 2, 3) _must_check_;

DEFINE_CLEANUP(struct udev *, udev_unref)
#define _cleanup_udev_ _cleanup_(udev_unrefp)
DEFINE_CLEANUP(struct udev_device *, udev_device_unref)
#define _cleanup_udev_device_ _cleanup_(udev_device_unrefp)

/* Returns the next device, to be given back with udev_device_unref(), or NULL when there is no more. `*lost` is set if
 * events were lost on the way to us, and is left as it is otherwise. */
struct udev_device *monitor_receive(const struct monitor *monitor, bool *lost) _nonnull_all_;

/* Whether the device has the property with that value, in its event or by now. */
bool udev_property_is(struct udev_device *device, const char *name, const char *value) _nonnull_all_;

/* Paths of multipath devices. At each event of a disk, udev's rules ask multipath(8) whether it is a path
 * (DM_MULTIPATH_DEVICE_PATH=1) or not (=0). It is one if a multipath device has its WWID, or /etc/multipath/wwids lists that as
 * of one that there was. For a new WWID the answer is final, but with find_multipaths=yes: then multipathd makes a multipath
 * device once two disks have that WWID, lists it, and has udev announce both again. With "smart", a disk counts as a path until
 * that is decided. (multipath-tools: is_path_valid() in libmultipath/valid.c, should_multipath() in libmultipath/wwids.c) */

#define UDEV_MULTIPATH_PATH "DM_MULTIPATH_DEVICE_PATH"

/* Whether multipathd runs or, while `booting`, is to be started, and makes multipath devices of new WWIDs; by files below
 * `root_fd`. Those that cannot be read count as missing. */
bool multipath_finds_new(int root_fd, bool booting) _must_check_;

/* Whether a disk may be a path, if so. */
enum path_kind {
        PATH_NEVER,     /* no: multipath(8) was not asked, or the disk is ATA, USB, virtio or local NVMe */
        PATH_OF_TWINS,  /* if another disk has the same WWID: other SCSI disks */
        PATH_OF_FABRIC, /* yes: Fibre Channel, iSCSI, NVMe over fabrics without the kernel's own multipathing */
        PATH_MARKED,    /* it is one: the multipath device is the PV */
};

/* By DM_MULTIPATH_DEVICE_PATH and ID_BUS, which may be NULL, and its location in sysfs. */
enum path_kind path_get_kind(const char *mark, const char *bus, const char *location) _nonnull_(3);

/* The disk that a device is, or is a partition of. Starts empty. */
struct storage_path {
        enum path_kind kind;
        dev_t disk;
        char *wwid; /* that multipathd knows the disk by; NULL only for PATH_NEVER */
};

/* What udev and the kernel say. Empty without such a device, or without memory. */
void storage_path_read(int root_fd, dev_t number, struct storage_path *path) _nonnull_all_;
