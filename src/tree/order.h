/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Sets the order of removal, once the tree is complete: `step`, `cycle` and `component` of each node. A component is a storage
 * tree: nodes that depend on each other, however indirectly, and LVs of one VG. Mounts below a mount that stays, such as /, do
 * not join trees. Also names each storage tree: after its VG, "vg0 and 2 more" for several in alphabetical order; without a VG,
 * after its disk or lowest node. Call it once for a tree. */
int tree_order(struct tree *tree) _nonnull_all_ _must_check_;

/* Removes nodes, each once nothing uses it:
 *
 *     tree_schedule(tree);
 *     for (;;) {
 *             while ((node = tree_next_ready(tree)))
 *                     remove it, then tree_node_gone() or, if it cannot be removed, tree_node_failed()
 *             when mountinfo changes: tree_read_mounts()
 *     }
 *
 * until n_gone + n_failed is n_to_go, or no process is left that could release a node. Many nodes may be taken at a time.
 * Partitions count as gone when nothing uses them. A node is ready when its users are gone. A failed user is not gone, so all
 * nodes below a failed node stay.
 *
 * Nodes in a dependency cycle are tried when they have no other users, one at a time. When one is gone, those that failed before
 * are tried again. This ends when all are gone, or all others have failed since the last one was removed. */

/* Call this after tree_order(). */
void tree_schedule(struct tree *tree) _nonnull_all_;

/* Whether a node outside its cycle has to be removed first. */
bool tree_node_is_held(const struct tree_node *node) _nonnull_all_;

/* Takes the next node to remove. NULL if none is ready. */
struct tree_node *tree_next_ready(struct tree *tree) _nonnull_all_;

/* The node no longer exists. Any process may have removed it, in any state. */
void tree_node_gone(struct tree *tree, struct tree_node *node) _nonnull_all_;

/* A taken node could not be removed, and is tried again only in a cycle of which another node is gone later. If it disappears later, call
 * tree_node_gone(). */
void tree_node_failed(struct tree *tree, struct tree_node *node) _nonnull_all_;
