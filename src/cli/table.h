/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libsmartcols.h>
#include <stdbool.h>
#include <stddef.h>

#include "shared/macro.h"

/* What the verbs that print a table have in common: the same options, and the same look. */

DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)
#define _cleanup_table_ _cleanup_(scols_unref_tablep)

struct table_options {
        bool json;
        bool no_headings;
};

/* Takes --json, --noheadings and --help, for which `help` is called. Returns 1 to go on, with what is not an
 * option from argv[optind] on, or an exit status below that, negated; getopt_long() has said what is wrong. */
int table_parse_options(int argc, char *argv[], void (*help)(void), struct table_options *ret)
        _nonnull_(2, 3, 4) _must_check_;

/* A table without columns; `name` is the key of its lines in JSON. To be given back with scols_unref_table(); NULL
 * without memory. */
struct libscols_table *table_new(const struct table_options *options, const char *name)
        _nonnull_(1, 2) _must_check_;

/* Appends a column. `flags` and `json_type` are libsmartcols'. Returns 0 and `*ret`, which may be NULL and
 * belongs to the table, or -ENOMEM. */
int table_add_column(struct libscols_table *table, const char *name, int flags, int json_type,
        struct libscols_column **ret) _nonnull_(1, 2) _must_check_;

/* Takes `text` over, as the content of a cell. NULL, where there was no memory to make one, is -ENOMEM. Returns
 * 0 or -ENOMEM. */
int table_set_cell(struct libscols_line *line, size_t column, char *text) _nonnull_(1) _must_check_;
