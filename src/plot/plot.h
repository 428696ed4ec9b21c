/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "kernel-log/shutdown.h"
#include "timeline/timeline.h"

/* What took how long, as an SVG picture in a file, or on standard output for "-". What is written may be a part of a picture if
 * it fails. Return 0 or a negative errno. */

/* A bar for each VG or device, or if there are more than fit on a page, those that went wrong and those that took
 * longest, and all together in bands of thin bars, one band for each vgchange. The order of the timeline is another
 * afterwards. */
int plot_timeline(const char *path, struct timeline *timeline) _nonnull_(1, 2) _must_check_;

/* How the kernel has shut down devices: below each other, on the same axis, which begins with the first device of each.
 * Names are of the logs. Those devices that took least share bars if there would be too many. */
int plot_kernel_shutdowns(const char *path, const struct kernel_shutdown *const shutdowns[],
        const char *const names[], size_t n) _nonnull_(1, 2, 3) _must_check_;
