/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/macro.h"

/* How the kernel has shut down devices, as its log tells with initcall_debug: a line as each device is begun
 * with, and one when all are done. When a device is done is not in the log: one that was waited for took until
 * the next was begun with; those that were begun with at once, in parallel, were all done when the next one
 * after them was begun with. */

struct kernel_device {
        char *driver; /* or its bus, if it has none */
        char *name;
        uint64_t began_usec; /* after the first device */
        uint64_t step_usec;  /* until the next device was begun with, or all was done: all steps make the total */
        size_t group; /* the place of the first device that went in parallel with it, its own if it went alone */
};

/* Starts empty: all zeros. */
struct kernel_shutdown {
        struct kernel_device *devices; /* in the order in which they were begun with */
        size_t n, n_allocated;
        uint64_t begin_usec; /* when the first was begun with, after the kernel's start */
        uint64_t total_usec; /* from then until all was done */
};

/* Adds a device that was begun with at a time after the kernel's start. Returns 0, -ENOMEM, or -E2BIG if there
 * are 16384 already. */
int kernel_shutdown_add(struct kernel_shutdown *shutdown, const char *driver, const char *name, uint64_t usec)
        _nonnull_(1, 2, 3) _must_check_;

/* Works out what follows from all devices and the time, after the kernel's start, when all was done:
 * `begin_usec`, `total_usec`, `step_usec`, the order, and which went in parallel: those that were begun with in
 * less than a tenth of the time that is usual in this log, by the median, from one device to the next. To be
 * called once, with at least one device. Returns 0 or -ENOMEM. */
int kernel_shutdown_finish(struct kernel_shutdown *shutdown, uint64_t end_usec) _nonnull_(1) _must_check_;

/* The end of the group that device `i` belongs to: the place of the first device that is not of it. */
size_t kernel_shutdown_group_end(const struct kernel_shutdown *shutdown, size_t i) _nonnull_(1);
bool kernel_shutdown_is_parallel(const struct kernel_shutdown *shutdown, size_t i) _nonnull_(1);
/* How long a device took, at most if it went in parallel with others. */
uint64_t kernel_shutdown_took_usec(const struct kernel_shutdown *shutdown, size_t i) _nonnull_(1);

/* How many devices a driver has, and from when the first of them was begun with until the last of them was. */
size_t kernel_shutdown_measure_driver(
        const struct kernel_shutdown *shutdown, const char *driver, uint64_t *ret_usec) _nonnull_(1, 2, 3);

/* Whether no device before it has the same driver. */
bool kernel_shutdown_is_first_of_driver(const struct kernel_shutdown *shutdown, size_t i) _nonnull_(1);

void kernel_shutdown_done(struct kernel_shutdown *shutdown) _nonnull_(1);
#define _cleanup_kernel_shutdown_ _cleanup_(kernel_shutdown_done)
