/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "table/table.h"
#include "tree/tree.h"

/* The columns, as headgate-plan(8) describes them. */
extern const struct table_kind removal_table;

/* Adds, in the order in which they can go, the nodes of all storage trees of which at least one node is of interest,
 * to the table, which is of that kind. `tree` comes from tree_order(). */
void removal_table_fill(struct table *table, const struct tree *tree,
        bool (*is_of_interest)(const struct tree_node *node)) _nonnull_(1, 2, 3);
