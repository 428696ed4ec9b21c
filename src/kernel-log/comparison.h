/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "kernel-log/shutdown.h"

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
        size_t unit;              /* the same for all pairs of a unit, which are next to each other */
};

struct kernel_unit {
        size_t first_pair, n_pairs;
        uint64_t usec[_SIDE_MAX]; /* the sum of their steps */
};

/* Starts empty: all zeros. Refers to the shutdowns, which live longer. */
struct kernel_comparison {
        const struct kernel_shutdown *sides[_SIDE_MAX]; /* the second of one has no devices */
        size_t n_sides;
        struct kernel_pair *pairs; /* unit by unit */
        size_t n_pairs;
        struct kernel_unit *units; /* those that differ most come first, of one shutdown those that took longest */
        size_t n_units;
};

/* Devices that have the same name several times are compared in their order. `second` may be NULL. Returns 0 or -ENOMEM. */
int kernel_comparison_make(struct kernel_comparison *comparison, const struct kernel_shutdown *first,
        const struct kernel_shutdown *second) _nonnull_(1, 2) _must_check_;
void kernel_comparison_done(struct kernel_comparison *comparison) _nonnull_(1);
#define _cleanup_kernel_comparison_ _cleanup_(kernel_comparison_done)

/* Of a single shutdown, whose pairs are in its order: what went in parallel with its device `i`, which is the first of that. */
struct kernel_unit kernel_comparison_group(const struct kernel_comparison *comparison, size_t i) _nonnull_(1);

/* The device of a pair, of whichever side has it. */
const struct kernel_device *kernel_pair_device(
        const struct kernel_comparison *comparison, const struct kernel_pair *pair) _nonnull_(1, 2);

/* How much longer the second side took, in microseconds, negative if it was faster. */
int64_t kernel_unit_difference(const struct kernel_unit *unit) _nonnull_(1);
