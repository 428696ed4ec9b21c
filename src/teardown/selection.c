/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/selection.h"

#include "tree/lvs.h"

#define REASON_NOT_SELECTED "it was not asked for"

int selection_init(struct selection *selection, struct tree *tree)
{
        *selection = (struct selection){
                .tree = tree,
                .selected = calloc(tree->nodes.n + 1, sizeof(*selection->selected)),
        };
        return selection->selected ? 0 : -ENOMEM;
}

bool selection_has(const struct selection *selection, const struct tree_node *node)
{
        return selection->selected[node->index];
}

/* Whoever unmounts or swaps off is not us. */
static bool is_boundary(const struct tree_node *node)
{
        return node->kind == TREE_MOUNT || node->kind == TREE_SWAP;
}

static bool is_selectable(const struct selection *selection, const struct tree_node *node)
{
        return !is_boundary(node) && !selection_has(selection, node);
}

static bool is_snapshot_of(const struct tree_node *node, const struct tree_node *origin)
{
        return origin->kind == TREE_LV_ORIGIN && node->kind == TREE_LV_SNAPSHOT;
}

int selection_add(struct selection *selection, struct tree_node *node)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = is_selectable(selection, node) ? tree_nodes_add(&waiting, node) : 0;

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                selection->selected[node->index] = true;
                for (size_t i = 0; r >= 0 && i < node->uppers.n; i++)
                        if (is_selectable(selection, node->uppers.nodes[i]))
                                r = tree_nodes_add(&waiting, node->uppers.nodes[i]);
                for (size_t i = 0; r >= 0 && i < node->lowers.n; i++)
                        if (is_snapshot_of(node->lowers.nodes[i], node) &&
                                is_selectable(selection, node->lowers.nodes[i]))
                                r = tree_nodes_add(&waiting, node->lowers.nodes[i]);
        }
        return r;
}

int selection_add_vg(struct selection *selection, const char *vg)
{
        const struct tree_nodes *nodes = &selection->tree->nodes;
        bool found = false;

        for (size_t i = 0; i < nodes->n; i++) {
                int r;

                if (!nodes->nodes[i]->vg || !streq(nodes->nodes[i]->vg, vg))
                        continue;
                found = true;
                r = selection_add(selection, nodes->nodes[i]);
                if (r < 0)
                        return r;
        }
        return found;
}

/* Marks a node and all below it. */
static int mark_used(struct tree_node *node, bool *used)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = tree_nodes_add(&waiting, node);

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                if (used[node->index])
                        continue;
                used[node->index] = true;
                for (size_t i = 0; r >= 0 && i < node->lowers.n; i++)
                        r = tree_nodes_add(&waiting, node->lowers.nodes[i]);
        }
        return r;
}

int selection_add_unused(struct selection *selection)
{
        const struct tree_nodes *nodes = &selection->tree->nodes;
        _cleanup_free_ bool *used = calloc(nodes->n + 1, sizeof(*used));
        int r = used ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < nodes->n; i++)
                if (is_boundary(nodes->nodes[i]))
                        r = mark_used(nodes->nodes[i], used);
        for (size_t i = 0; r >= 0 && i < nodes->n; i++)
                if (!used[i] && tree_node_is_ours(nodes->nodes[i]))
                        selection->selected[i] = true;
        return r;
}

int selection_refuse(struct selection *selection, struct tree_node *node, const char *reason)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = tree_nodes_add(&waiting, node);

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                if (node->left_alone)
                        continue;
                r = tree_leave_node_alone(node, reason);
                for (size_t i = 0; r >= 0 && i < node->uppers.n; i++)
                        if (selection_has(selection, node->uppers.nodes[i]))
                                r = tree_nodes_add(&waiting, node->uppers.nodes[i]);
        }
        return r;
}

static bool goes(const struct selection *selection, const struct tree_node *node)
{
        return selection_has(selection, node) && tree_node_is_ours(node);
}

/* A hidden LV whose holders all go. Those of another VG are none that it would be there for. */
static bool is_left_over(const struct selection *selection, const struct tree_node *node)
{
        if (!tree_lv_is_hidden(node) || node->uppers.n == 0)
                return false;
        for (size_t i = 0; i < node->uppers.n; i++)
                if (!goes(selection, node->uppers.nodes[i]) || !tree_are_in_one_vg(node, node->uppers.nodes[i]))
                        return false;
        return true;
}

/* From the newest device on, as what is below was there before it; if not, once more. */
static void select_what_is_left_over(struct selection *selection)
{
        const struct tree_nodes *nodes = &selection->tree->nodes;
        bool more;

        do {
                more = false;
                for (size_t i = nodes->n; i > 0; i--) {
                        if (selection->selected[i - 1] || !is_left_over(selection, nodes->nodes[i - 1]))
                                continue;
                        selection->selected[i - 1] = true;
                        more = true;
                }
        } while (more);
}

int selection_finish(struct selection *selection)
{
        const struct tree_nodes *nodes = &selection->tree->nodes;
        int r = 0;

        select_what_is_left_over(selection);
        for (size_t i = 0; r >= 0 && i < nodes->n; i++)
                if (!selection->selected[i] && tree_node_is_ours(nodes->nodes[i]))
                        r = tree_leave_node_alone(nodes->nodes[i], REASON_NOT_SELECTED);
        return r;
}

void selection_done(struct selection *selection)
{
        free(selection->selected);
}
