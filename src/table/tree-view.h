/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"
#include "table/table.h"
#include "tree/tree.h"

/* What of a storage tree people want to see: block devices, and what is mounted or swapped to on them. What is not
 * on a block device, /proc for instance, is not seen, and neither is the order that is only kept for removal: that
 * a mount lies below another one, and an origin on its snapshots. Unless said otherwise, functions return 0 or -ENOMEM. */
struct tree_view {
        const struct tree *tree;
        bool *shown; /* by index */
};

/* Which way it is drawn. */
enum tree_direction {
        TREE_UPWARDS,   /* from disks to mounts */
        TREE_DOWNWARDS, /* from mounts to disks */
};

/* Shows all that there is. `tree` is kept, not copied. */
int tree_view_init(struct tree_view *view, const struct tree *tree) _nonnull_all_ _must_check_;
void tree_view_done(struct tree_view *view) _nonnull_all_;
#define _cleanup_tree_view_ _cleanup_(tree_view_done)

/* Leaves out what has nothing in it: disks of no size, such as an empty card reader, and RAM disks, if nothing
 * lies on them. */
void tree_view_leave_out_empty(struct tree_view *view) _nonnull_all_;

/* Leaves out all but these nodes, what lies on them and what they lie on, however indirectly. */
int tree_view_restrict(struct tree_view *view, const struct tree_nodes *nodes) _nonnull_all_ _must_check_;

struct tree_row {
        struct tree_node *node;
        size_t parent;     /* the index of the row that it is below, or TREE_ROW_NONE at the left margin */
        bool has_children; /* which are below the first row of the node */
        bool again;        /* this is not the first row of the node */
        struct libscols_line *line; /* in a table, of who adds it to one; else NULL */
};

#define TREE_ROW_NONE SIZE_MAX

/* Starts empty: all zeros. */
struct tree_rows {
        struct tree_row *rows;
        size_t n;
};

void tree_rows_done(struct tree_rows *rows) _nonnull_all_;
#define _cleanup_tree_rows_ _cleanup_(tree_rows_done)

/* Adds a row for each node on each of those that it lies on, so that there are never more than nodes and edges. Below each
 * other, and at the left margin, come mounts and swaps first, then disks in the order of their numbers, and
 * device-mapper's devices in that of their names. */
int tree_view_draw(const struct tree_view *view, enum tree_direction direction,
        struct tree_rows *ret) _nonnull_all_ _must_check_;

/* The printable names of nodes, in the order of the alphabet with numbers as such, since directories of sysfs are in no
 * order. */
int tree_nodes_names(const struct tree_nodes *nodes, struct strv *ret) _nonnull_all_ _must_check_;
