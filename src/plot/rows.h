/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "plot/axis.h"
#include "timeline/timeline.h"

/* The bars of a plot, from top to bottom. */
struct rows {
        FILE *file;
        struct axis axis;
        double right; /* where what is written beside the bars ends */
        double y;     /* where the next row begins; each moves it on */
};

#define ROWS_HEIGHT 22.0

/* The class of the style sheet for a phase. */
const char *rows_style(enum timeline_phase phase);
/* How high a phase is drawn: what is only waited for is half as high as what is done. */
double rows_phase_height(enum timeline_phase phase);

/* A sign with its middle at a point, for an end that is not as it should be; nothing for one that is. */
void rows_draw_sign(FILE *file, enum timeline_end end, double x, double y) _nonnull_(1);

/* Words between rows. */
void rows_draw_heading(struct rows *rows, const char *text) _nonnull_(1, 2);

/* A bar with its name and its time, and, if it has not ended well, a sign and the reason. */
void rows_draw_bar(struct rows *rows, const struct timeline_bar *bar) _nonnull_(1, 2);

/* Many bars as one, each a thin line, with a label and what it is about to the left, an upright line where the first
 * of them was begun with, and beside them how long all took from there. */
void rows_draw_band(struct rows *rows, const struct timeline_bar *const *bars, size_t n, const char *label,
        const char *what) _nonnull_(1, 2, 4, 5);
