/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

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
        uint64_t took_usec;  /* at most, if it went in parallel with others */
        size_t group,
                group_end; /* the places of the first device that went in parallel with it, its own if it went alone,
                                    and of the first one after them */
};

static inline bool kernel_device_is_parallel(const struct kernel_device *device)
{
        return device->group_end - device->group > 1;
}

/* Starts empty: all zeros. */
struct kernel_shutdown {
        struct kernel_device *devices; /* in the order in which they were begun with */
        size_t n;
        uint64_t begin_usec; /* when the first was begun with, after the kernel's start */
        uint64_t total_usec; /* from then until all was done */
};

/* Adds a device that was begun with at a time after the kernel's start. Returns 0, -ENOMEM, or -E2BIG if there
 * are 16384 already. */
int kernel_shutdown_add(struct kernel_shutdown *shutdown, const char *driver, const char *name, uint64_t usec)
        _nonnull_(1, 2, 3) _must_check_;

/* Works out what follows from all devices and the time, after the kernel's start, when all was done:
 * `begin_usec`, `total_usec`, `step_usec`, `took_usec`, the order, and which went in parallel: those that were begun with in
 * less than a tenth of the time that is usual in this log, by the median, from one device to the next. To be
 * called once, with at least one device. Returns 0 or -ENOMEM. */
int kernel_shutdown_finish(struct kernel_shutdown *shutdown, uint64_t end_usec) _nonnull_(1) _must_check_;

/* How many devices a driver has, and from when the first of them was begun with until the last of them was. */
size_t kernel_shutdown_measure_driver(
        const struct kernel_shutdown *shutdown, const char *driver, uint64_t *ret_usec) _nonnull_(1, 2, 3);

/* Whether no device before it has the same driver. */
bool kernel_shutdown_is_first_of_driver(const struct kernel_shutdown *shutdown, size_t i) _nonnull_(1);

void kernel_shutdown_done(struct kernel_shutdown *shutdown) _nonnull_(1);

/* Two shutdowns, of the same machine for instance, side by side, or one by itself. What went in parallel in one of them can be
 * compared only as a whole: that is one unit, and any other device is one by itself. The units' times add up to
 * the totals. */

enum {
        FIRST,
        SECOND,
        _SIDE_MAX,
};

#define NOT_THERE SIZE_MAX

/* A device, by its driver and name. */
struct kernel_pair {
        size_t places[_SIDE_MAX]; /* in the shutdowns, or NOT_THERE */
        size_t unit;              /* the place of its unit; all pairs of one are next to each other */
};

struct kernel_unit {
        size_t first_pair, n_pairs;
        uint64_t usec[_SIDE_MAX]; /* the sum of their steps */
};

/* Starts empty: all zeros. Refers to the shutdowns, which live longer. */
struct kernel_comparison {
        const struct kernel_shutdown *sides[_SIDE_MAX]; /* the second of one has no devices */
        size_t n_sides;
        struct kernel_pair *pairs; /* unit by unit, of one shutdown in its order */
        size_t n_pairs;
        struct kernel_unit *units; /* those that differ most come first, of one shutdown those that took longest */
        size_t n_units;
};

/* Devices that have the same name several times are compared in their order. `second` may be NULL. Returns 0 or -ENOMEM. */
int kernel_comparison_make(struct kernel_comparison *comparison, const struct kernel_shutdown *first,
        const struct kernel_shutdown *second) _nonnull_(1, 2) _must_check_;
void kernel_comparison_done(struct kernel_comparison *comparison) _nonnull_(1);
#define _cleanup_kernel_comparison_ _cleanup_(kernel_comparison_done)

/* The device of a pair, of whichever side has it. */
const struct kernel_device *kernel_pair_device(
        const struct kernel_comparison *comparison, const struct kernel_pair *pair) _nonnull_(1, 2);

/* How much longer the second side took, in microseconds, negative if it was faster. */
int64_t kernel_unit_difference(const struct kernel_unit *unit) _nonnull_(1);
