/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/schedule.h"

#include "tree/order.h"

static bool are_in_one_part(const struct tree_node *a, const struct tree_node *b)
{
        return a->part && a->part == b->part;
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

static bool has_one_in_work(const struct tree_part *part)
{
        for (size_t i = 0; i < part->members.n; i++)
                if (part->members.nodes[i]->state == TREE_READY || part->members.nodes[i]->state == TREE_TAKEN)
                        return true;
        return false;
}

static void fail_part(struct tree *tree, struct tree_part *part)
{
        for (size_t i = 0; i < part->members.n; i++)
                if (part->members.nodes[i]->state == TREE_HELD) {
                        part->members.nodes[i]->state = TREE_FAILED;
                        tree->n_failed++;
                }
}

/* Has the next member tried. */
static void offer_part(struct tree *tree, struct tree_part *part)
{
        if (part->n_holders > 0 || has_one_in_work(part))
                return;
        for (;;) {
                while (part->position < part->members.n) {
                        struct tree_node *member = part->members.nodes[part->position++];

                        if (member->state == TREE_HELD) {
                                put_ready(tree, member);
                                return;
                        }
                }
                if (part->n_gone == 0)
                        break;
                part->position = 0;
                part->n_gone = 0;
        }
        fail_part(tree, part);
}

static void offer(struct tree *tree, struct tree_node *node)
{
        if (node->part)
                offer_part(tree, node->part);
        else if (node->n_holders > 0 || node->state != TREE_HELD)
                return;
        else if (tree_node_is_ours(node))
                put_ready(tree, node);
        else if (node->kind == TREE_PARTITION && !node->left_alone)
                tree_node_gone(tree, node);
}

static size_t *holders_of(struct tree_node *node)
{
        return node->part ? &node->part->n_holders : &node->n_holders;
}

void tree_schedule(struct tree *tree)
{
        for (size_t i = 0; i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];

                if (tree_node_is_ours(node)) {
                        tree->n_to_go++;
                        tree->n_gone += node->state == TREE_GONE;
                }
                if (node->part && is_awaited(node))
                        node->part->n_holders++;
                for (size_t j = 0; j < node->uppers.n; j++)
                        if (node->uppers.nodes[j]->state != TREE_GONE &&
                                !are_in_one_part(node, node->uppers.nodes[j]))
                                ++*holders_of(node);
        }
        tree->scheduled = true;
        for (size_t i = 0; i < tree->nodes.n; i++)
                offer(tree, tree->nodes.nodes[i]);
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
        if (are_in_one_part(lower, upper))
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
        if (node->part && is_awaited(node))
                node->part->n_holders--;
        if (node->state == TREE_READY)
                put_back(node);
        tree->n_failed -= node->state == TREE_FAILED;
        tree->n_gone += tree_node_is_ours(node);
        node->state = TREE_GONE;
        for (size_t i = 0; i < node->lowers.n; i++)
                holder_went(tree, node->lowers.nodes[i], node);
        if (node->part) {
                node->part->n_gone++;
                offer_part(tree, node->part);
        }
}

void tree_node_failed(struct tree *tree, struct tree_node *node)
{
        if (node->state != TREE_TAKEN)
                return;
        if (node->part) {
                node->state = TREE_HELD;
                offer_part(tree, node->part);
        } else {
                node->state = TREE_FAILED;
                tree->n_failed++;
        }
}

void tree_holder_came(struct tree *tree, struct tree_node *lower, const struct tree_node *upper)
{
        if (!tree->scheduled || lower->state == TREE_GONE || upper->state == TREE_GONE)
                return;
        ++*holders_of(lower);
        if (lower->state == TREE_READY)
                put_back(lower);
}
