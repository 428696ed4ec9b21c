/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* What of a storage tree people want to see: block devices, and what is mounted or swapped to on them. What is not
 * on a block device, /proc for instance, is not seen, and neither is the order that is only kept for removal: that
 * a mount lies below another one, and an origin on its snapshots. */
struct tree_view {
        const struct tree *tree;
        bool *shown; /* by index */
};

/* Which way it is drawn. */
enum tree_direction {
        TREE_UPWARDS,   /* from disks to mounts */
        TREE_DOWNWARDS, /* from mounts to disks */
};

/* Shows all that there is. `tree` is kept, not copied. Returns 0 or -ENOMEM. */
int tree_view_init(struct tree_view *view, const struct tree *tree) _nonnull_(1, 2) _must_check_;
void tree_view_done(struct tree_view *view) _nonnull_(1);
#define _cleanup_tree_view_ _cleanup_(tree_view_done)

/* Leaves out what has nothing in it: disks of no size, such as an empty card reader, and RAM disks, if nothing
 * lies on them. */
void tree_view_leave_out_empty(struct tree_view *view) _nonnull_(1);

/* Leaves out all but these nodes, what lies on them and what they lie on, however indirectly. Returns 0 or
 * -ENOMEM. */
int tree_view_restrict(struct tree_view *view, const struct tree_nodes *nodes) _nonnull_(1, 2) _must_check_;

/* Adds the nodes that are drawn below a node, or at the left margin: disks in the order of their numbers,
 * device-mapper's devices and mounts in that of their names. Returns 0 or -ENOMEM. */
int tree_view_children(const struct tree_view *view, const struct tree_node *node, enum tree_direction direction,
        struct tree_nodes *ret) _nonnull_(1, 2, 4) _must_check_;
int tree_view_roots(const struct tree_view *view, enum tree_direction direction, struct tree_nodes *ret)
        _nonnull_(1, 3) _must_check_;
