/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"
#include "table/table.h"
#include "tree/tree.h"

/* The view of a storage tree: block devices, and the mounts and swaps on them. Mounts without a block device, such
 * as /proc, are not shown. Neither is the order of removal alone: a mount below another one, an origin below its
 * snapshots. Unless stated otherwise, functions return 0 or -ENOMEM. */
struct tree_view {
        struct tree *tree;
        bool *shown; /* by index */
};

/* The direction of drawing. */
enum tree_direction {
        TREE_UPWARDS,   /* from disks to mounts */
        TREE_DOWNWARDS, /* from mounts to disks */
};

/* Shows all nodes. `tree` is kept, not copied. */
int tree_view_init(struct tree_view *view, struct tree *tree) _nonnull_all_ _must_check_;
void tree_view_done(struct tree_view *view) _nonnull_all_;
#define _cleanup_tree_view_ _cleanup_(tree_view_done)

/* Hides disks without size, such as empty card readers, and RAM disks, if nothing is on them. */
void tree_view_leave_out_empty(struct tree_view *view) _nonnull_all_;

/* Hides all but these nodes and those above and below them, also indirectly. */
int tree_view_restrict(struct tree_view *view, const struct tree_nodes *nodes) _nonnull_all_ _must_check_;

struct tree_row {
        struct tree_node *node;
        size_t parent;              /* the index of its parent row, or TREE_ROW_NONE at the left margin */
        bool has_children;          /* below the first row of the node */
        bool again;                 /* this is not the first row of the node */
        struct libscols_line *line; /* for callers that add it to a table; else NULL */
};

#define TREE_ROW_NONE SIZE_MAX

/* Initialize with zeros. */
struct tree_rows {
        struct tree_row *rows;
        size_t n;
};

void tree_rows_done(struct tree_rows *rows) _nonnull_all_;
#define _cleanup_tree_rows_ _cleanup_(tree_rows_done)

/* Adds a row for each edge, and each node without parent. On each level mounts and swaps come first, then disks by
 * number, then device-mapper devices by name. */
int tree_view_draw(const struct tree_view *view, enum tree_direction direction,
        struct tree_rows *ret) _nonnull_all_ _must_check_;

/* Lists the printable names of nodes, sorted alphabetically with numbers by value, as sysfs is unordered. */
int tree_nodes_names(const struct tree_nodes *nodes, struct strv *ret) _nonnull_all_ _must_check_;
