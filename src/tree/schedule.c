/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/schedule.h"

static bool are_in_one_cycle(const struct tree_node *a, const struct tree_node *b)
{
        return a->cycle && a->cycle == b->cycle;
}

/* Whether a member of a circle is there and somebody else's to remove. */
static bool is_awaited(const struct tree_node *node)
{
        return node->state != TREE_GONE && !tree_node_is_ours(node);
}

static void put_ready(struct tree *tree, struct tree_node *node)
{
        node->state = TREE_READY;
        dm_list_add(&tree->ready, &node->ready);
}

static void put_back(struct tree_node *node)
{
        dm_list_del(&node->ready);
        dm_list_init(&node->ready);
        node->state = TREE_HELD;
}

static bool is_being_tried(const struct tree_cycle *cycle)
{
        FOREACH_NODE(member, &cycle->members)
                if (member->state == TREE_READY || member->state == TREE_TAKEN)
                        return true;
        return false;
}

static void fail_cycle(struct tree *tree, struct tree_cycle *cycle)
{
        FOREACH_NODE(member, &cycle->members)
                if (member->state == TREE_HELD) {
                        member->state = TREE_FAILED;
                        tree->n_failed++;
                }
}

/* Has the next member tried. */
static void offer_cycle(struct tree *tree, struct tree_cycle *cycle)
{
        if (cycle->n_holders > 0 || is_being_tried(cycle))
                return;
        for (;;) {
                while (cycle->position < cycle->members.n) {
                        struct tree_node *member = cycle->members.nodes[cycle->position++];

                        if (member->state == TREE_HELD) {
                                put_ready(tree, member);
                                return;
                        }
                }
                if (cycle->n_gone == 0)
                        break;
                cycle->position = 0;
                cycle->n_gone = 0;
        }
        fail_cycle(tree, cycle);
}

static void offer(struct tree *tree, struct tree_node *node)
{
        if (node->cycle)
                offer_cycle(tree, node->cycle);
        else if (node->n_holders > 0 || node->state != TREE_HELD)
                return;
        else if (tree_node_is_ours(node))
                put_ready(tree, node);
        else if (node->kind == TREE_PARTITION && !node->skip_reason)
                tree_node_gone(tree, node);
}

static size_t *holders_of(struct tree_node *node)
{
        return node->cycle ? &node->cycle->n_holders : &node->n_holders;
}

void tree_schedule(struct tree *tree)
{
        FOREACH_NODE(node, &tree->nodes) {
                if (tree_node_is_ours(node)) {
                        tree->n_to_go++;
                        tree->n_gone += node->state == TREE_GONE;
                }
                if (node->cycle && is_awaited(node))
                        node->cycle->n_holders++;
                FOREACH_NODE(upper, &node->uppers)
                        if (upper->state != TREE_GONE && !are_in_one_cycle(node, upper))
                                ++*holders_of(node);
        }
        tree->scheduled = true;
        FOREACH_NODE(node, &tree->nodes)
                offer(tree, node);
}

struct tree_node *tree_next_ready(struct tree *tree)
{
        struct tree_node *node;

        if (dm_list_empty(&tree->ready))
                return NULL;
        node = dm_list_struct_base(dm_list_first(&tree->ready), struct tree_node, ready);
        put_back(node);
        node->state = TREE_TAKEN;
        return node;
}

static void holder_went(struct tree *tree, struct tree_node *lower, const struct tree_node *upper)
{
        if (are_in_one_cycle(lower, upper))
                return;
        --*holders_of(lower);
        offer(tree, lower);
}

void tree_node_gone(struct tree *tree, struct tree_node *node)
{
        if (node->state == TREE_GONE)
                return;
        if (!tree->scheduled) {
                node->state = TREE_GONE;
                return;
        }
        if (node->cycle && is_awaited(node))
                node->cycle->n_holders--;
        if (node->state == TREE_READY)
                put_back(node);
        tree->n_failed -= node->state == TREE_FAILED;
        tree->n_gone += tree_node_is_ours(node);
        node->state = TREE_GONE;
        FOREACH_NODE(lower, &node->lowers)
                holder_went(tree, lower, node);
        if (node->cycle) {
                node->cycle->n_gone++;
                offer_cycle(tree, node->cycle);
        }
}

void tree_node_failed(struct tree *tree, struct tree_node *node)
{
        if (node->state != TREE_TAKEN)
                return;
        if (node->cycle) {
                node->state = TREE_HELD;
                offer_cycle(tree, node->cycle);
        } else {
                node->state = TREE_FAILED;
                tree->n_failed++;
        }
}

int tree_hold(struct tree *tree, struct tree_node *lower, struct tree_node *upper)
{
        size_t n_before = lower->uppers.n;
        int r;

        r = tree_add_edge(lower, upper);
        if (r < 0 || lower->uppers.n == n_before || !tree->scheduled || lower->state == TREE_GONE ||
                upper->state == TREE_GONE)
                return r;
        ++*holders_of(lower);
        if (lower->state == TREE_READY)
                put_back(lower);
        return 0;
}
