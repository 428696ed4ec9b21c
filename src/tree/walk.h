/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* A walk through a tree, which visits each node at most once. It has a set of nodes of its own, so that nodes keep nothing of a
 * walk. The set is no bitset of libdevmapper's: dm_bit_set() shifts into the sign of an int. No node may be added to the tree
 * meanwhile. */
struct tree_walk {
        bool *seen;                 /* by tree_node.index: the nodes that were added; NULL without memory */
        struct tree_node **waiting; /* those that were not visited yet */
        size_t n;
};

/* Starts a walk without nodes. Without memory, it stays empty, and tree.error is set. */
static inline struct tree_walk tree_walk_new(struct tree *tree)
{
        struct tree_walk walk = {.waiting = calloc(tree->nodes.n + 1, sizeof(*walk.waiting) + sizeof(*walk.seen))};

        tree_fail(tree, walk.waiting ? 0 : -ENOMEM);
        walk.seen = walk.waiting ? (bool *) (walk.waiting + tree->nodes.n) : NULL;
        return walk;
}

static inline void tree_walk_done(struct tree_walk *walk)
{
        free(walk->waiting);
}
#define _cleanup_tree_walk_ _cleanup_(tree_walk_done)

/* Whether the node was added. */
static inline bool tree_walk_has(const struct tree_walk *walk, const struct tree_node *node)
{
        return walk->seen && walk->seen[node->index];
}

/* Adds a node, unless it was added before. */
static inline void tree_walk_add(struct tree_walk *walk, struct tree_node *node)
{
        if (!walk->seen || walk->seen[node->index])
                return;
        walk->seen[node->index] = true;
        walk->waiting[walk->n++] = node;
}

/* Visits the nodes that were added, also those that are added in the loop, in any order. */
#define FOREACH_VISITED(node, walk)                                                                               \
        for (struct tree_node *node = NULL; (walk)->n > 0 && (node = (walk)->waiting[--(walk)->n]);)

/* Adds and visits all nodes above those that were added, however indirectly. */
static inline void tree_walk_up(struct tree_walk *walk)
{
        FOREACH_VISITED(node, walk)
                FOREACH_NODE(upper, &node->uppers)
                        tree_walk_add(walk, upper);
}
