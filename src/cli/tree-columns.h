/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cli/table.h"
#include "tree/tree.h"

/* One line of "headgate tree". */
struct tree_line {
        const struct tree_node *node;
        int root_fd;           /* where the machine's files are */
        const char *tree_name; /* of the storage tree that it belongs to */
        bool again;            /* the node has had a line before */
        bool cut;              /* and what lies on it is drawn there only */
};

/* The columns, as headgate-tree(8) describes them, for lines of this kind. */
struct table_verb tree_table_verb(void (*help)(void), const struct table_switch *switches, size_t n_switches);
