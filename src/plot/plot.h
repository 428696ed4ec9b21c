/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/timeline.h"

/* Prints a timeline as an SVG picture: a bar for each VG or device, or if there are more than fit on a page, those that
 * went wrong and those that took longest, and the others in a band that shows how many are under way. The order
 * of the timeline is another afterwards. Returns 0 or -ENOMEM. */
int plot_timeline(struct timeline *timeline) _nonnull_all_ _must_check_;
