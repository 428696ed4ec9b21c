/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "kernel-log/comparison.h"

/* Prints what one log of a shutdown tells, or two: the totals, what went in parallel, where that time was given back, and
 * how far apart devices of the same driver were begun with. `names` are of the logs. Where there is no memory for a piece,
 * "?" stands. */
void print_shutdown_sentences(const struct kernel_comparison *comparison, char *const names[]) _nonnull_(1, 2);
