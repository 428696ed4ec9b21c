/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plot/axis.h"

#include <inttypes.h>

#include "plot/svg.h"
#include "shared/util.h"

/* So many numbers fit beside each other. */
#define NUMBERS_MAX 12

/* The smallest of 1, 2, 5 ms, 10, 20, 50 ms, ... that is large enough. */
static uint64_t find_step(uint64_t span_usec)
{
        static const unsigned int mantissas[] = {1, 2, 5};

        for (uint64_t decade = USEC_PER_MSEC; decade < UINT64_MAX / 10; decade *= 10)
                for (size_t i = 0; i < ELEMENTSOF(mantissas); i++)
                        if (span_usec / (mantissas[i] * decade) <= NUMBERS_MAX)
                                return mantissas[i] * decade;
        return UINT64_MAX / NUMBERS_MAX;
}

struct axis axis_make(uint64_t from_usec, uint64_t to_usec, uint64_t zero_usec, double left, double width)
{
        uint64_t step = find_step(MAX(to_usec, from_usec + USEC_PER_MSEC) - from_usec);
        uint64_t before = (from_usec - zero_usec) % step, behind = step - (to_usec - zero_usec) % step;

        return (struct axis){
                .from_usec = from_usec - before,
                .to_usec = to_usec + behind,
                .zero_usec = zero_usec,
                .step_usec = step,
                .left = left,
                .width = width,
        };
}

double axis_position(const struct axis *axis, uint64_t usec)
{
        uint64_t inside = MIN(MAX(usec, axis->from_usec), axis->to_usec);

        return axis->left +
               axis->width * (double) (inside - axis->from_usec) / (double) (axis->to_usec - axis->from_usec);
}

/* With as many decimals as tell one number from the next. */
static char *format_number(const struct axis *axis, uint64_t usec)
{
        uint64_t step = axis->step_usec, seconds = usec / USEC_PER_SEC;
        uint64_t thousandths = usec % USEC_PER_SEC / USEC_PER_MSEC;

        if (step % USEC_PER_SEC == 0)
                return string_format("%" PRIu64 " s", seconds);
        if (step % (100 * USEC_PER_MSEC) == 0)
                return string_format("%" PRIu64 ".%" PRIu64 " s", seconds, thousandths / 100);
        if (step % (10 * USEC_PER_MSEC) == 0)
                return string_format("%" PRIu64 ".%02" PRIu64 " s", seconds, thousandths / 10);
        return string_format("%" PRIu64 ".%03" PRIu64 " s", seconds, thousandths);
}

void axis_draw(FILE *file, const struct axis *axis, double top, double bottom)
{
        for (uint64_t usec = axis->from_usec; usec <= axis->to_usec; usec += axis->step_usec) {
                _cleanup_free_ char *number = format_number(axis, usec - axis->zero_usec);
                double x = axis_position(axis, usec);

                svg_line(file, x, top, x, bottom, "grid");
                svg_text(file, x, top - 5, "middle", "number", number ?: "?");
                svg_text(file, x, bottom + 13, "middle", "number", number ?: "?");
        }
}
