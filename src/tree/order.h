/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Nodes that hold each other in a circle, so that there is no order among them: one after the other is tried. */
struct tree_part {
        struct tree_part *next;
        struct tree_nodes members; /* the newest devices first */

        /* For tree/schedule.h. */
        size_t n_holders; /* of all members: what is not gone and no member, and members not to be tried */
        size_t position;  /* the member to be tried next */
        size_t n_gone;    /* members that went since the first one was tried the last time */
};

void tree_parts_free(struct tree_part *parts);

/* Finds out, once everything is in the tree, what can go in which order: `step` and `part` of each node, and
 * `component`, the storage tree that it belongs to. Two nodes are of one tree if one holds the other, however
 * indirectly, or if they are LVs of one VG. What only has in common that it is mounted below something that is
 * not to be removed, such as /, is not. */
int tree_order(struct tree *tree) _nonnull_(1) _must_check_;

/* The names of all storage trees, by `component`: the VG in it, "vg0 and 2 more" if there are several, in the
 * order of the alphabet; without one, the disk, or what else there is at the bottom. `*ret` has n_components
 * strings, to be freed by tree_names_free(). */
int tree_names(const struct tree *tree, char ***ret) _nonnull_(1, 2) _must_check_;
void tree_names_free(const struct tree *tree, char **names) _nonnull_(1);
