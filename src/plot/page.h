/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "plot/axis.h"
#include "timeline/timeline.h"

/* What is around the bars of a plot: the document with its style sheet, the title and the legend. */

#define PAGE_WIDTH 1400.0
#define PAGE_LEFT 200.0   /* of the axis; names are to the left of it */
#define PAGE_RIGHT 1080.0 /* of the axis; times and reasons are to the right of bars, and of it */
#define PAGE_TOP 118.0    /* of the bars */

/* What is shown of the timeline. */
struct page {
        const struct timeline *timeline;
        uint64_t until_usec; /* what began later is left out */
};

/* The document alone, on which anything can be drawn in the styles of its sheet. */
void page_begin_document(FILE *file, const char *title, double height) _nonnull_(1, 2);

/* The document with the title and the legend of a timeline. */
void page_begin(FILE *file, const struct page *page, double height) _nonnull_(1, 2);
void page_end(FILE *file) _nonnull_(1);
