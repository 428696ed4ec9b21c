/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "shared/macro.h"

/* A shutdown of devices by the kernel. With initcall_debug it logs the start of each device and the end of all, but not the end
 * of each. A device that it waited for ended when the next one was started. Devices that were started in parallel ended at the
 * latest when the next one after all of them was started. */

struct kernel_device {
        char *name;          /* the driver, or the bus if it has none, and the device */
        uint64_t began_usec; /* after the first device */
        uint64_t gap_usec;   /* until the next start, or the end: gaps add up to the total */
        uint64_t took_usec;  /* at most, if in parallel */
        bool parallel;       /* with others */
        size_t place;        /* position in the log */
};

/* Starts empty: all zeros. */
struct kernel_shutdown {
        struct kernel_device *devices; /* in the order of their starts, after kernel_shutdown_finish() */
        size_t n;
        uint64_t total_usec; /* from the first device until all were shut down */
        size_t n_incomplete; /* missing devices, whose lines are mixed with others */
};

/* Adds a device with its start, in microseconds since kernel start. Returns 0, -ENOMEM, or -E2BIG if there are 16384 already. */
int kernel_shutdown_add(
        struct kernel_shutdown *shutdown, const char *name, uint64_t usec) _nonnull_all_ _must_check_;

/* Computes all times from the starts and the end, which is in microseconds since kernel start. Also finds parallel devices: those
 * with a gap of less than a tenth of the median gap, and the one after these. Call it once, with at least one device. Returns 0
 * or -ENOMEM. */
int kernel_shutdown_finish(struct kernel_shutdown *shutdown, uint64_t end_usec) _nonnull_all_ _must_check_;

void kernel_shutdown_done(struct kernel_shutdown *shutdown) _nonnull_all_;
#define _cleanup_kernel_shutdown_ _cleanup_(kernel_shutdown_done)
