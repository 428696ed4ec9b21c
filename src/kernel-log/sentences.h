/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "kernel-log/shutdown.h"

/* Prints sentences about one log of a shutdown, or about two: the totals, the devices that went in parallel, where that time
 * was lost again, and how far apart devices of the same driver were begun with. `names` are of the logs. Without memory for a
 * piece, "?" is printed. */
void print_shutdown_sentences(const struct kernel_comparison *comparison, char *const names[]) _nonnull_(1, 2);
