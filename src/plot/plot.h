/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/timeline.h"

/* What took how long, as an SVG picture in a file, or on standard output for "-". What is written may be a part of a picture if
 * it fails. Returns 0 or a negative errno. */

/* A bar for each VG or device, or if there are more than fit on a page, those that went wrong and those that took
 * longest, and all together in bands of thin bars, one band for each vgchange. The order of the timeline is another
 * afterwards. */
int plot_timeline(const char *path, struct timeline *timeline) _nonnull_(1, 2) _must_check_;
