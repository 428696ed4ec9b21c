/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/volume_group.h"
#include "timeline/timeline.h"

/* The timeline of this boot, made of what the worker has written down and of the times of what is in /dev. */

/* Reads it of VGs as snapshot_read() has them; with /dev below `root_fd`.
 *
 * vgchange waits for udev itself, VG by VG. So where its time went is told by /dev: the kernel makes the node of an
 * LV's device, and later udev the link /dev/VG/LV. Both keep the time at which they were made (STATX_BTIME, on
 * devtmpfs from Linux 6.0 on), as exactly as the kernel's tick, 1 to 10 ms. VGs of one vgchange come one after
 * another: until the one before it is done, a VG is still in the queue. What cannot be true is not believed, where
 * somebody has deactivated and activated LVs since for instance: then lvm2's phase lasts until vgchange ended.
 *
 * Returns 0 or -ENOMEM. */
int timeline_read_boot(struct timeline *timeline, struct volume_group *const *volume_groups, size_t n, int root_fd)
        _nonnull_(1) _must_check_;
