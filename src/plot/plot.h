/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/timeline.h"

/* Prints a timeline as an SVG picture: a bar for each VG or device. If there are too many for a page, only failed
 * and slow ones have bars. A band shows how many of the others are active at a time. Reorders the timeline. Returns
 * 0 or -ENOMEM. */
int plot_timeline(struct timeline *timeline) _nonnull_all_ _must_check_;
