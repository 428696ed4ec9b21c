/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* A picture of what happened when, as an SVG document (https://www.w3.org/TR/SVG11/): a title, a legend, and below it rows
 * on an axis of time. Lengths are pixels from the upper left corner; `style` is a class of the style sheet. */

#define PICTURE_WIDTH 1400.0
#define PICTURE_LEFT 200.0   /* of the axis; names are to the left of it */
#define PICTURE_RIGHT 1080.0 /* of the axis; times and reasons are to the right of bars, and of it */
#define PICTURE_BAR_HEIGHT 14.0
#define PICTURE_ROW_HEIGHT 22.0
#define PICTURE_GAP 6.0 /* between a bar and what is written beside it */

/* Starts empty: all zeros. */
struct picture {
        struct memstream
                stream; /* what is drawn: it is to be above the lines of the axis, whose height is known at the end */
        FILE *file;     /* of that */
        uint64_t from_usec, to_usec; /* of the axis */
        uint64_t zero_usec;          /* where its numbers count from */
        uint64_t step_usec;          /* from number to number */
        double y;                    /* where the next row begins; each moves it on */
};

/* Begins a picture that shows from `from_usec` to `to_usec`, a little more on both sides, and round numbers. Returns 0 or a
 * negative errno. */
int picture_begin(struct picture *picture, uint64_t from_usec, uint64_t to_usec, uint64_t zero_usec)
        _nonnull_(1) _must_check_;

/* Ends it, and writes the document into a file, or to standard output for "-". It may be a part of one if that fails. Returns 0
 * or a negative errno. */
int picture_write(struct picture *picture, const char *path, const char *title) _nonnull_(1, 2, 3) _must_check_;

void picture_done(struct picture *picture) _nonnull_(1);
#define _cleanup_picture_ _cleanup_(picture_done)

/* Where a moment is; what is beyond an end is there. */
double picture_position(const struct picture *picture, uint64_t usec) _nonnull_(1);

/* Writes text as it has to be in XML. Bytes that are not printable ASCII, most of which XML forbids, are written as
 * string_printable() does, and "?" without memory. */
void picture_print(struct picture *picture, const char *format, ...) _nonnull_(1, 2) _printf_(2, 3);

/* Text that begins, has its middle or ends ("start", "middle", "end") at a point on its base line. */
void picture_text(struct picture *picture, double x, double y, const char *anchor, const char *style,
        const char *format, ...) _nonnull_(1, 4, 5, 6) _printf_(6, 7);

/* The same with as much as fits into a width, and "..." for the rest; "?" for NULL. */
void picture_text_within(struct picture *picture, double x, double y, double width, const char *anchor,
        const char *style, const char *text) _nonnull_(1, 5, 6);

void picture_rectangle(struct picture *picture, double x, double y, double width, double height, const char *style)
        _nonnull_(1, 6);

/* An upright line. */
void picture_line(struct picture *picture, double x, double top, double bottom, const char *style) _nonnull_(1, 5);

/* A rectangle from one moment to another, around the middle of the row. */
void picture_bar(struct picture *picture, uint64_t from_usec, uint64_t to_usec, double height, const char *style)
        _nonnull_(1, 5);

/* A line of text between rows. */
void picture_heading(struct picture *picture, const char *format, ...) _nonnull_(1, 2) _printf_(2, 3);
