/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cli/table.h"
#include "kernel-log/comparison.h"

/* The tables of "headgate shutdown-log": a tree of the whole shutdown, what went in parallel, and devices; and
 * beside it the drivers that have several devices. */

/* The columns for one log, and for two that are compared. */
extern const struct table_kind shutdown_log_table, shutdown_log_comparison_table;

/* Print the table. Names are of the logs. Return 0 or a negative errno. */
int shutdown_log_print(const struct table_options *options, const struct kernel_shutdown *shutdown,
        const char *name) _nonnull_(1, 2, 3) _must_check_;
int shutdown_log_print_comparison(const struct table_options *options, const struct kernel_comparison *comparison,
        const char *const names[_SIDE_MAX]) _nonnull_(1, 2, 3) _must_check_;
