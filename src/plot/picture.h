/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* A picture of events, as an SVG document (https://www.w3.org/TR/SVG11/): a title, and rows on a time axis. Lengths
 * are pixels from the upper left corner; `style` is a class of the style sheet. */

#define PICTURE_WIDTH 720.0 /* legible on a phone */
#define PICTURE_LEFT 168.0  /* of the axis; names are to the left of it */
#define PICTURE_RIGHT 656.0 /* of the axis; a time fits to the right of it */
#define PICTURE_BAR_HEIGHT 14.0
#define PICTURE_ROW_HEIGHT 22.0
#define PICTURE_LETTER_WIDTH 7.4 /* on average */

#define PICTURE_MARKS_MAX 4U

/* Initialize with zeros. */
struct picture {
        struct memstream stream;            /* elements in front of the axis, whose height is known at the end */
        FILE *file;                         /* of the stream */
        uint64_t from_usec, to_usec;        /* of the axis */
        uint64_t zero_usec;                 /* zero of its numbers */
        uint64_t step_usec;                 /* between two numbers */
        double y;                           /* of the next row; advanced by the caller */
        double marks[PICTURE_MARKS_MAX][2]; /* x and y of vertical lines */
        size_t n_marks;
};

/* Begins a picture from `from_usec` to `to_usec`, extended to round numbers. Returns 0, then picture_end() must
 * follow, or -ENOMEM. */
int picture_begin(struct picture *picture, uint64_t from_usec, uint64_t to_usec,
        uint64_t zero_usec) _nonnull_all_ _must_check_;

/* Ends it, and prints the document to standard output. `axis` is the title of the axis. Returns 0 or -ENOMEM. */
int picture_end(struct picture *picture, const char *title, const char *axis) _nonnull_all_ _must_check_;

/* Returns the position of a moment, limited to the axis. */
double picture_position(const struct picture *picture, uint64_t usec) _nonnull_all_;

/* Writes text as XML. Bytes that are not printable ASCII, most of which XML forbids, are escaped as by
 * string_printable(); "?" without memory. */
void picture_print(struct picture *picture, const char *format, ...) _nonnull_(1, 2) _printf_(2, 3);

/* Draws text with its start, middle or end (`anchor`) at a point of its base line. A "note" beside names is cut to
 * fit, ending in "..."; "?" for NULL. */
void picture_text(struct picture *picture, double x, double y, const char *anchor, const char *style,
        const char *text) _nonnull_(1, 4, 5);

/* Draws a vertical line at a moment, behind everything else, from here to the lower end of the axis, with its name
 * in a row of its own. */
void picture_mark(struct picture *picture, uint64_t usec, const char *name) _nonnull_all_;

void picture_rectangle(
        struct picture *picture, double x, double y, double width, double height, const char *style) _nonnull_all_;
