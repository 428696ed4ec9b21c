/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include "timeline/timeline.h"

/* Draws a timeline as an SVG picture: a bar for each VG or device, or if there are more than fit on a page, those
 * that went wrong and those that took longest, and all together in bands of thin bars, one band for each vgchange. */

/* What is written may be a part of a picture if it fails. The order of the timeline is another afterwards. Returns 0
 * or a negative errno. */
int plot_write(FILE *file, struct timeline *timeline) _nonnull_(1, 2) _must_check_;
