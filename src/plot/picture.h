/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* A picture of what happened when, as an SVG document (https://www.w3.org/TR/SVG11/): a title, and below it rows on an
 * axis of time. Lengths are pixels from the upper left corner; `style` is a class of the style sheet. */

#define PICTURE_WIDTH 720.0 /* text is legible where a phone shows all of it */
#define PICTURE_LEFT 168.0  /* of the axis; names are to the left of it */
#define PICTURE_RIGHT 656.0 /* of the axis; a time fits beside it */
#define PICTURE_BAR_HEIGHT 14.0
#define PICTURE_ROW_HEIGHT 22.0
#define PICTURE_LETTER_WIDTH 7.4 /* on average */

#define PICTURE_MARKS_MAX 4U

/* Starts empty: all zeros. */
struct picture {
        struct memstream stream;     /* what is above the lines of the axis, whose height is known at the end */
        FILE *file;                  /* of that */
        uint64_t from_usec, to_usec; /* of the axis */
        uint64_t zero_usec;          /* where its numbers count from */
        uint64_t step_usec;          /* from number to number */
        double y;                    /* where the next row begins; who draws it moves this on */
        double marks[PICTURE_MARKS_MAX][2]; /* where lines of moments begin: x and y */
        size_t n_marks;
};

/* Begins a picture that shows from `from_usec` to `to_usec`, a little more on both sides, and round numbers. Returns 0, and
 * then picture_end() has to follow, or -ENOMEM. */
int picture_begin(struct picture *picture, uint64_t from_usec, uint64_t to_usec,
        uint64_t zero_usec) _nonnull_all_ _must_check_;

/* Ends it, and prints the document on standard output. `axis` says what the axis counts. Returns 0 or -ENOMEM. */
int picture_end(struct picture *picture, const char *title, const char *axis) _nonnull_all_ _must_check_;

/* Where a moment is; what is beyond an end is there. */
double picture_position(const struct picture *picture, uint64_t usec) _nonnull_all_;

/* Writes text as XML. Bytes that are not printable ASCII, most of which XML forbids, are written as string_printable()
 * does, and "?" without memory. */
void picture_print(struct picture *picture, const char *format, ...) _nonnull_(1, 2) _printf_(2, 3);

/* Text that begins, has its middle or ends ("start", "middle", "end") at a point on its base line: as much as fits into the
 * picture, for a "note" beside names, and "..." for the rest; "?" for NULL. */
void picture_text(struct picture *picture, double x, double y, const char *anchor, const char *style,
        const char *text) _nonnull_(1, 4, 5);

/* A line at a moment, behind all else, from here to the lower end of the axis, with its name in a row of its own. */
void picture_mark(struct picture *picture, uint64_t usec, const char *name) _nonnull_all_;

void picture_rectangle(
        struct picture *picture, double x, double y, double width, double height, const char *style) _nonnull_all_;
