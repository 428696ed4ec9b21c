/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/timeline.h"
#include "view/systemd.h"

/* The time before headgate saw a disk: the initrd, the driver, udev. Times are those of a timeline, and 0 if unknown. */

/* Milestones of this boot, as systemd has them; unknown if it is not connected. */
struct milestones {
        uint64_t initrd_usec;    /* systemd started in the initrd; not known of an initrd without systemd */
        uint64_t userspace_usec; /* systemd started on the root file system */
        uint64_t coldplug_usec;  /* the kernel was asked to announce all devices again, since udev runs now */
};
struct milestones milestones_read(const struct systemd *systemd) _nonnull_all_;

struct disk_times {
        uint64_t
                made_usec; /* the kernel had the device, by the age of its node (STATX_BTIME, from Linux 6.0 on) */
        uint64_t handled_usec; /* udev's rules had handled it for the first time */
};

/* Of any block device, 0 for none; `clock_usec` as in struct vg. */
struct disk_times disk_times_read(dev_t number, uint64_t clock_usec);

/* Of the PV that udev handled last. Returns that PV, or NULL without one that is there. */
const struct vg_pv *disk_times_read_last(const struct vg *vg, struct disk_times *ret) _nonnull_all_;

/* When udev began with the device: when the kernel announced it, or announced it again. Not known if another udev, the initrd's, handled it. */
uint64_t udev_began_usec(const struct milestones *milestones, const struct disk_times *times) _nonnull_all_;

/* How long the initrd took of the time until then. Not known after a soft reboot. */
uint64_t initrd_took_usec(const struct milestones *milestones, uint64_t until_usec) _nonnull_all_;

/* Adds all that to the bar of the VG. Returns as disk_times_read_last(). */
const struct vg_pv *timeline_bar_add_origin(
        struct timeline_bar *bar, const struct vg *vg, const struct milestones *milestones) _nonnull_all_;
