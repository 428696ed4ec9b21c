/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The order of removal of nodes, the storage trees, and the queue of nodes to remove. */

#include "tree/order.h"

#include "shared/util.h"
#include "tree/walk.h"

static bool are_in_one_cycle(const struct tree_node *a, const struct tree_node *b)
{
        return a->cycle && a->cycle == b->cycle;
}

/* ------ steps and cycles ------ */

/* Sets the longest path to each node from above. In and below an unknown cycle it grows to the number of all nodes. Starts from
 * the newest nodes, which are mounts. */
static void set_steps(struct tree *tree)
{
        DM_LIST_INIT(waiting);

        for (size_t i = tree->nodes.n; i > 0; i--) {
                tree->nodes.nodes[i - 1]->step = 0;
                tree_queue_add(&waiting, tree->nodes.nodes[i - 1]);
        }
        for (struct tree_node *node; (node = tree_queue_take(&waiting));)
                FOREACH_NODE(lower, &node->lowers) {
                        size_t step = MIN(node->step + !are_in_one_cycle(node, lower), tree->nodes.n);

                        if (lower->step < step) {
                                lower->step = step;
                                tree_queue_add(&waiting, lower);
                        }
                }
}

static int compare_newest_first(const void *a, const void *b)
{
        const struct tree_node *first = TREE_NODE_AT(a), *second = TREE_NODE_AT(b);

        return CMP(second->number, first->number) ?: CMP(second->index, first->index);
}

/* Finds the cycle of a node, unless it is only below one: all nodes that are both above and below it. */
static void find_cycle(struct tree *tree, struct tree_node *node)
{
        _cleanup_tree_walk_ struct tree_walk above = tree_walk_new(tree), below = {};
        struct tree_cycle *cycle;

        FOREACH_NODE(upper, &node->uppers)
                tree_walk_add(&above, upper);
        tree_walk_up(&above);
        if (!tree_walk_has(&above, node))
                return;
        cycle = dm_pool_zalloc(tree->memory, sizeof(*cycle));
        if (!cycle) {
                tree_fail(tree, -ENOMEM);
                return;
        }
        cycle->next = tree->cycles;
        tree->cycles = cycle;
        below = tree_walk_new(tree);
        tree_walk_add(&below, node);
        FOREACH_VISITED(member, &below) {
                member->cycle = cycle;
                tree_fail(tree, tree_nodes_add(&cycle->members, member));
                FOREACH_NODE(lower, &member->lowers)
                        if (tree_walk_has(&above, lower))
                                tree_walk_add(&below, lower);
        }
        SORT(cycle->members.nodes, cycle->members.n, compare_newest_first);
}

/* ------ storage trees ------ */

/* While components are found, the component of a node is the index of another node in it, and at the end of the first one. */
static size_t find_first(const struct tree *tree, size_t index)
{
        struct tree_node *const *nodes = tree->nodes.nodes;

        while (nodes[index]->component != index) {
                nodes[index]->component = nodes[nodes[index]->component]->component;
                index = nodes[index]->component;
        }
        return index;
}

static void join(const struct tree *tree, const struct tree_node *a, const struct tree_node *b)
{
        size_t first = find_first(tree, a->index), second = find_first(tree, b->index);

        tree->nodes.nodes[MAX(first, second)]->component = MIN(first, second);
}

static void find_components(struct tree *tree)
{
        /* Nodes to remove, and all nodes above them. */
        _cleanup_tree_walk_ struct tree_walk above = tree_walk_new(tree);

        FOREACH_NODE(node, &tree->nodes) {
                node->component = node->index;
                if (tree_node_is_ours(node))
                        tree_walk_add(&above, node);
        }
        tree_walk_up(&above);
        FOREACH_NODE(node, &tree->nodes) {
                /* Joins LVs of one VG, on whatever disks. */
                if (node->vg)
                        join(tree, node, tree_find_vg(tree, node));
                /* A mount below another one is in its tree only if one of them has to wait. */
                if (node->kind == TREE_MOUNT && !tree_walk_has(&above, node))
                        continue;
                FOREACH_NODE(upper, &node->uppers)
                        join(tree, node, upper);
        }
        FOREACH_NODE(node, &tree->nodes)
                node->component = node->component == node->index ? tree->n_components++
                                                                 : tree->nodes.nodes[node->component]->component;
}

/* Orders nodes by storage tree. In each, LVs come first, by the names of their VGs, then disks, then the lowest nodes. */
static int compare_names(const void *a, const void *b)
{
        const struct tree_node *first = TREE_NODE_AT(a), *second = TREE_NODE_AT(b);

        return CMP(first->component, second->component)
                       ?: CMP(!first->vg, !second->vg)
                       ?: (first->vg ? strcmp(first->vg, second->vg) : 0)
                       ?: CMP(first->kind != TREE_DISK, second->kind != TREE_DISK)
                       ?: CMP(first->lowers.n, second->lowers.n)
                       ?: CMP(first->number, second->number)
                       ?: CMP(first->index, second->index);
}

static int set_names(struct tree *tree)
{
        _cleanup_tree_nodes_ struct tree_nodes sorted = {};

        tree->names = dm_pool_zalloc(tree->memory, (tree->n_components + 1) * sizeof(*tree->names));
        if (!tree->names || tree_nodes_add_all(&sorted, &tree->nodes) < 0)
                return -ENOMEM;
        SORT(sorted.nodes, sorted.n, compare_names);
        for (size_t i = 0, next; i < sorted.n; i = next) {
                const struct tree_node *first = sorted.nodes[i];
                size_t n_more = 0;

                for (next = i + 1; next < sorted.n && sorted.nodes[next]->component == first->component; next++)
                        n_more += sorted.nodes[next]->vg &&
                                  !streq(sorted.nodes[next]->vg, sorted.nodes[next - 1]->vg);
                tree->names[first->component] = n_more > 0
                                                        ? tree_printf(tree, "%s and %zu more", first->vg, n_more)
                                                        : first->vg ?: first->name;
        }
        return tree->error;
}

int tree_order(struct tree *tree)
{
        _cleanup_tree_walk_ struct tree_walk stranded = tree_walk_new(tree);

        set_steps(tree);
        FOREACH_NODE(node, &tree->nodes)
                if (node->step == tree->nodes.n && !node->cycle)
                        find_cycle(tree, node);
        if (tree->cycles)
                set_steps(tree);
        FOREACH_NODE(node, &tree->nodes)
                if (node->has_lost)
                        tree_walk_add(&stranded, node);
        tree_walk_up(&stranded);
        FOREACH_NODE(node, &tree->nodes)
                node->is_stranded = tree_walk_has(&stranded, node);
        find_components(tree);
        return set_names(tree);
}

/* ------ the executor ------ */

/* The newest users are usually the last ones to be removed. */
bool tree_node_is_held(const struct tree_node *node)
{
        for (size_t i = node->uppers.n; i > 0; i--) {
                const struct tree_node *upper = node->uppers.nodes[i - 1];

                if (upper->state != TREE_GONE && !are_in_one_cycle(node, upper))
                        return true;
        }
        return false;
}

/* Queues the newest member that has not failed, unless one is in progress, has other users, or exists and is not ours to remove. */
static void offer_cycle(struct tree *tree, struct tree_cycle *cycle)
{
        FOREACH_NODE(member, &cycle->members)
                if (member->state == TREE_READY || member->state == TREE_TAKEN || tree_node_is_held(member) ||
                        (member->state != TREE_GONE && !tree_node_is_ours(member)))
                        return;
        FOREACH_NODE(member, &cycle->members)
                if (member->state == TREE_HELD) {
                        member->state = TREE_READY;
                        tree_queue_add(&tree->ready, member);
                        return;
                }
}

static void offer(struct tree *tree, struct tree_node *node)
{
        bool goes_by_itself = node->kind == TREE_PARTITION && !node->skip_reason;

        if (node->cycle) {
                offer_cycle(tree, node->cycle);
        } else if (node->state != TREE_HELD || !(goes_by_itself || tree_node_is_ours(node)) ||
                   tree_node_is_held(node)) {
                return;
        } else if (goes_by_itself) {
                tree_node_gone(tree, node);
        } else {
                node->state = TREE_READY;
                tree_queue_add(&tree->ready, node);
        }
}

void tree_schedule(struct tree *tree)
{
        tree->scheduled = true;
        FOREACH_NODE(node, &tree->nodes)
                if (tree_node_is_ours(node)) {
                        tree->n_to_go++;
                        tree->n_gone += node->state == TREE_GONE;
                }
        FOREACH_NODE(node, &tree->nodes)
                offer(tree, node);
}

struct tree_node *tree_next_ready(struct tree *tree)
{
        for (struct tree_node *node; (node = tree_queue_take(&tree->ready));) {
                if (node->state != TREE_READY)
                        continue;
                /* A mount may have appeared meanwhile. */
                node->state = tree_node_is_held(node) ? TREE_HELD : TREE_TAKEN;
                if (node->state == TREE_TAKEN)
                        return node;
        }
        return NULL;
}

void tree_node_gone(struct tree *tree, struct tree_node *node)
{
        enum tree_state before = node->state;

        node->state = TREE_GONE;
        if (before == TREE_GONE || !tree->scheduled)
                return;
        tree->n_failed -= before == TREE_FAILED;
        tree->n_gone += tree_node_is_ours(node);
        FOREACH_NODE(lower, &node->lowers)
                if (!are_in_one_cycle(node, lower))
                        offer(tree, lower);
        if (!node->cycle)
                return;
        /* Members that failed before may be unused now. */
        FOREACH_NODE(member, &node->cycle->members)
                if (member->state == TREE_FAILED) {
                        member->state = TREE_HELD;
                        tree->n_failed--;
                }
        offer_cycle(tree, node->cycle);
}

void tree_node_failed(struct tree *tree, struct tree_node *node)
{
        if (node->state != TREE_TAKEN)
                return;
        node->state = TREE_FAILED;
        tree->n_failed++;
        if (node->cycle)
                offer_cycle(tree, node->cycle);
}
