/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/selection.h"

#include "shared/util.h"

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

static bool is_snapshot_of(const struct tree_node *snapshot, const struct tree_node *origin)
{
        return origin->kind == TREE_LV_ORIGIN && snapshot->kind == TREE_LV_SNAPSHOT;
}

/* A node and what goes with it: above it up to mounts and swaps, below it an origin's snapshots. In `reached`, by
 * index, what has been reached before. */
static int reach(struct tree_node *node, bool *reached, struct tree_nodes *ret)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = tree_nodes_add(&waiting, node);

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                if (tree_node_is_mount_or_swap(node) || reached[node->index])
                        continue;
                reached[node->index] = true;
                r = tree_nodes_add(ret, node);
                if (r >= 0)
                        r = tree_nodes_add_all(&waiting, &node->uppers);
                FOREACH_NODE(lower, &node->lowers)
                        if (r >= 0 && is_snapshot_of(lower, node))
                                r = tree_nodes_add(&waiting, lower);
        }
        return r;
}

int selection_add(struct selection *selection, struct tree_node *node)
{
        _cleanup_free_ bool *reached = calloc(selection->tree->nodes.n + 1, sizeof(*reached));
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};
        bool found = false;
        int r = reached ? reach(node, reached, &nodes) : -ENOMEM;

        FOREACH_NODE(reached_node, &nodes) {
                selection->selected[reached_node->index] = true;
                found |= tree_kind_is_removable(reached_node->kind);
        }
        return r < 0 ? r : found;
}

int selection_add_vg(struct selection *selection, const char *vg)
{
        bool found = false;

        FOREACH_NODE(node, &selection->tree->nodes) {
                int r;

                if (!node->vg || !streq(node->vg, vg))
                        continue;
                found = true;
                r = selection_add(selection, node);
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
                r = tree_nodes_add_all(&waiting, &node->lowers);
        }
        return r;
}

/* What something is mounted or swapped to on, however indirectly. `*ret` is by index, to be freed. */
static int find_used(const struct tree *tree, bool **ret)
{
        *ret = calloc(tree->nodes.n + 1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        FOREACH_NODE(node, &tree->nodes) {
                int r = tree_node_is_mount_or_swap(node) ? mark_used(node, *ret) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

/* A snapshot of the origin that is used though the origin is not; NULL if there is none. */
static const struct tree_node *find_used_snapshot(const struct tree_node *origin, const bool *used)
{
        if (origin->kind != TREE_LV_ORIGIN || used[origin->index])
                return NULL;
        FOREACH_NODE(lower, &origin->lowers)
                if (is_snapshot_of(lower, origin) && used[lower->index])
                        return lower;
        return NULL;
}

int selection_add_unused(struct selection *selection)
{
        _cleanup_free_ bool *used = NULL;
        int r;

        r = find_used(selection->tree, &used);
        if (r < 0)
                return r;
        FOREACH_NODE(node, &selection->tree->nodes) {
                r = find_used_snapshot(node, used) ? mark_used(node, used) : 0;
                if (r < 0)
                        return r;
        }
        FOREACH_NODE(node, &selection->tree->nodes)
                selection->selected[node->index] |= !used[node->index] && tree_node_is_ours(node);
        return 0;
}

/* With an LV stay the hidden LVs that it consists of. */
static int skip_components(struct tree_node *node, const char *reason)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = tree_nodes_add(&waiting, node);

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                FOREACH_NODE(lower, &node->lowers) {
                        if (lower->skip_reason || !tree_lv_is_hidden(lower) || !tree_are_in_one_vg(node, lower))
                                continue;
                        r = tree_skip_node(lower, reason);
                        if (r >= 0)
                                r = tree_nodes_add(&waiting, lower);
                        if (r < 0)
                                return r;
                }
        }
        return r;
}

int selection_refuse(struct tree_node *node, const char *reason)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = tree_nodes_add(&waiting, node);

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                if (tree_node_is_mount_or_swap(node) || node->skip_reason)
                        continue;
                r = tree_skip_node(node, reason);
                if (r >= 0)
                        r = skip_components(node, reason);
                if (r >= 0)
                        r = tree_nodes_add_all(&waiting, &node->uppers);
        }
        return r;
}

/* What is used itself is in nobody's way, and fails when it is tried. */
static int refuse_origin(struct selection *selection, struct tree_node *origin, const bool *used)
{
        const struct tree_node *snapshot = find_used_snapshot(origin, used);
        _cleanup_free_ char *reason = NULL;
        int r;

        if (!snapshot || !selection_has(selection, origin))
                return 0;
        reason = string_format("snapshots go with their origin, and %s is in use", snapshot->name);
        r = reason ? selection_refuse(origin, reason) : -ENOMEM;
        FOREACH_NODE(lower, &origin->lowers)
                if (r >= 0 && is_snapshot_of(lower, origin) && !used[lower->index])
                        r = selection_refuse(lower, reason);
        return r;
}

static int refuse_origins(struct selection *selection)
{
        _cleanup_free_ bool *used = NULL;
        int r;

        r = find_used(selection->tree, &used);
        FOREACH_NODE(node, &selection->tree->nodes)
                if (r >= 0)
                        r = refuse_origin(selection, node, used);
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
        FOREACH_NODE(upper, &node->uppers)
                if (!goes(selection, upper) || !tree_are_in_one_vg(node, upper))
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
        int r;

        r = refuse_origins(selection);
        select_what_is_left_over(selection);
        FOREACH_NODE(node, &selection->tree->nodes)
                if (r >= 0 && !selection_has(selection, node) && tree_node_is_ours(node))
                        r = tree_skip_node(node, REASON_NOT_SELECTED);
        return r;
}

void selection_done(struct selection *selection)
{
        free(selection->selected);
}
