/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Finds out, once everything is in the tree, what can go in which order: `step` and `cycle` of each node, and
 * `component`, the storage tree that it belongs to. Two nodes are of one tree if one holds the other, however
 * indirectly, or if they are LVs of one VG. What only has in common that it is mounted below something that is
 * not to be removed, such as /, is not. And the name of each of these: the VG in it, "vg0 and 2 more" if there are
 * several, in the order of the alphabet; without one, the disk, or what else there is at the bottom. Once for a tree. */
int tree_order(struct tree *tree) _nonnull_all_ _must_check_;

/* Taking nodes away, each in the moment that nothing holds it any more:
 *
 *     tree_schedule(tree);
 *     for (;;) {
 *             while ((node = tree_next_ready(tree)))
 *                     remove it, then tree_node_gone() or, if it cannot be removed, tree_node_failed()
 *             when mountinfo changes: tree_read_mounts()
 *     }
 *
 * until n_gone + n_failed is n_to_go, or nobody is left who could let go of something. There may be many nodes
 * taken at a time. Partitions go by themselves, when nothing holds them. A node is done with its holders when
 * these are gone: to have failed is not to be gone, so that all below a failed node stays as it is.
 *
 * Nodes that hold each other in a circle get their turn when nothing else holds any of them, one at a time,
 * round and round, until all are gone or none of them could be removed in a whole round; only then has each of
 * them failed. */

/* After tree_order(), which it needs. */
void tree_schedule(struct tree *tree) _nonnull_all_;

/* Whether something that is not in a cycle with it has to go first. */
bool tree_node_is_held(const struct tree_node *node) _nonnull_all_;

/* The next node to be removed, now taken. NULL if none is ready. */
struct tree_node *tree_next_ready(struct tree *tree) _nonnull_all_;

/* The node is no longer there, whoever removed it, and whatever state it was in. */
void tree_node_gone(struct tree *tree, struct tree_node *node) _nonnull_all_;

/* A taken node could not be removed, and is not to be tried again, except in a circle. Should it go all the same,
 * tree_node_gone() is right. */
void tree_node_failed(struct tree *tree, struct tree_node *node) _nonnull_all_;
