/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "shared/macro.h"

/* The axis of time, from left to right. */
struct axis {
        uint64_t from_usec, to_usec; /* of the timeline */
        uint64_t zero_usec;          /* where its numbers count from */
        uint64_t step_usec;          /* from number to number */
        double left, width;          /* pixels */
};

/* An axis that shows from `from_usec` to `to_usec`, a little more on both sides, and round numbers. */
struct axis axis_make(uint64_t from_usec, uint64_t to_usec, uint64_t zero_usec, double left, double width);

/* Where a moment is; what is beyond an end is there. */
double axis_position(const struct axis *axis, uint64_t usec) _nonnull_(1);

/* Draws its numbers above `top` and below `bottom`, and lines between. */
void axis_draw(FILE *file, const struct axis *axis, double top, double bottom) _nonnull_(1, 2);
