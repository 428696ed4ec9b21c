/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cli/table.h"

/* "headgate blame --list-boots". */

/* The columns, as headgate-blame(8) describes them. */
struct table_verb boots_table_verb(void (*help)(void), const struct table_switch *switches, size_t n_switches);

/* Prints a line for each boot that can be asked about, the oldest first. Returns 0, or a negative errno, having
 * said on standard error what went wrong. */
int boots_table_print(const struct table_verb *verb, const struct table_options *options)
        _nonnull_(1, 2) _must_check_;
