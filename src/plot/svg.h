/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include "shared/macro.h"

/* The little of SVG 1.1 (https://www.w3.org/TR/SVG11/) that a plot needs. Lengths are in pixels from the upper left
 * corner. What goes wrong with writing is told by ferror() in the end. */

/* Writes text so that it is text in XML, in an element or in an attribute. Bytes that are not printable ASCII, most of
 * which XML forbids, are written as string_printable() does. */
void svg_escape(FILE *file, const char *text) _nonnull_(1, 2);

/* Text that begins, has its middle or ends ("start", "middle", "end") at a point on its base line. `style` is a class
 * of the style sheet. */
void svg_text(FILE *file, double x, double y, const char *anchor, const char *style, const char *text)
        _nonnull_(1, 4, 5, 6);

void svg_rectangle(FILE *file, double x, double y, double width, double height, const char *style) _nonnull_(1, 6);
void svg_line(FILE *file, double x1, double y1, double x2, double y2, const char *style) _nonnull_(1, 6);

/* A group whose text is shown when the pointer is on it. */
void svg_begin_group(FILE *file, const char *title) _nonnull_(1, 2);
void svg_end_group(FILE *file) _nonnull_(1);

/* One shape of many rectangles, which takes less room than as many elements. */
void svg_begin_shape(FILE *file, const char *style) _nonnull_(1, 2);
void svg_shape_rectangle(FILE *file, double x, double y, double width, double height) _nonnull_(1);
void svg_end_shape(FILE *file) _nonnull_(1);
