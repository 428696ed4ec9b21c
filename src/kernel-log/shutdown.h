/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "shared/macro.h"

/* How the kernel has shut down devices. With initcall_debug it logs when it starts with each device, and when all are
 * shut down, but not when it is done with one. A device that it waited for took until the next one was started; of devices
 * that it started at once, in parallel, each was done at the latest when the next one after all of them was started. */

struct kernel_device {
        char *name;          /* the driver, or the bus if it has none, and the device */
        uint64_t began_usec; /* after the first device */
        uint64_t gap_usec; /* until the next device was started, or all were shut down: gaps add up to the total */
        uint64_t took_usec; /* at most, if in parallel */
        bool parallel;      /* with others */
        size_t place;       /* in the log */
};

/* Starts empty: all zeros. */
struct kernel_shutdown {
        struct kernel_device *devices; /* in the order in which they were started, once it is finished */
        size_t n;
        uint64_t total_usec; /* from the first device until all were shut down */
        size_t n_incomplete; /* lines about devices that were broken by other lines: these devices are missing */
};

/* Adds a device that was started at a time after the kernel's start. Returns 0, -ENOMEM, or -E2BIG if there are 16384
 * already. */
int kernel_shutdown_add(
        struct kernel_shutdown *shutdown, const char *name, uint64_t usec) _nonnull_all_ _must_check_;

/* Computes all times from those of the log, the end's being after the kernel's start as well, and which devices went in
 * parallel: those with a gap of less than a tenth of the log's median gap, and the one after these. To be called once, with
 * at least one device. Returns 0 or -ENOMEM. */
int kernel_shutdown_finish(struct kernel_shutdown *shutdown, uint64_t end_usec) _nonnull_all_ _must_check_;

void kernel_shutdown_done(struct kernel_shutdown *shutdown) _nonnull_all_;
#define _cleanup_kernel_shutdown_ _cleanup_(kernel_shutdown_done)

/* Two shutdowns side by side, of the same machine for instance. */

enum {
        FIRST,
        SECOND,
        _SIDE_MAX,
};

/* A device in both. */
struct kernel_pair {
        const char *name;
        uint64_t gaps_usec[_SIDE_MAX]; /* UINT64_MAX in the shutdown that does not have it */
        int64_t difference_usec; /* how much longer the second is: these add up to the difference of the totals */
        bool parallel;           /* in either, so that the gap may be that of another device */
};

/* Devices of one name are paired in their order. Those that differ most come first. Returns 0 and `*ret`, which refers to
 * the shutdowns and is to be freed by the caller, or -ENOMEM. */
int kernel_shutdown_compare(const struct kernel_shutdown *first, const struct kernel_shutdown *second,
        struct kernel_pair **ret, size_t *ret_n) _nonnull_all_ _must_check_;
