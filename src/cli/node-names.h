/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/node.h"

/* The printable names of at most `n` nodes with a separator between them, in the order of the alphabet with
 * numbers as such, since directories of sysfs are in no order. With "\n" they are what libsmartcols makes an array
 * of. Returns a string to be freed by the caller, NULL without memory. */
char *node_names_join(const struct tree_nodes *nodes, size_t n, const char *separator)
        _nonnull_(1, 3) _must_check_;

/* For a cell of a table: the first three, "a, b, c and 997 more". A PV can hold a thousand LVs. Returns as above.
 * */
char *node_names_summarize(const struct tree_nodes *nodes) _nonnull_(1) _must_check_;
