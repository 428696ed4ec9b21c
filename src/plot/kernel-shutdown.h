/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include "kernel-log/shutdown.h"

/* Draws how the kernel has shut down devices as an SVG picture: below each other, on the same axis, which
 * begins with the first device of each. Names are of the logs. Those devices that took least share bars if
 * there would be too many. What is written may be a part of a picture if it fails. Returns 0 or a negative
 * errno. */
int plot_write_kernel_shutdowns(FILE *file, const struct kernel_shutdown *const shutdowns[],
        const char *const names[], size_t n) _nonnull_(1, 2, 3) _must_check_;
