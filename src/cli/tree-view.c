/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/tree-view.h"

#include <linux/major.h>
#include <sys/sysmacros.h>

#include "shared/util.h"

/* Whether the upper node is drawn on the lower one. */
static bool is_drawn_on(const struct tree_node *lower, const struct tree_node *upper)
{
        if (lower->kind == TREE_MOUNT && upper->kind == TREE_MOUNT)
                return false;
        return lower->kind != TREE_LV_SNAPSHOT || upper->kind != TREE_LV_ORIGIN ||
               !tree_are_in_one_vg(lower, upper);
}

static bool lies_on_something(const struct tree_view *view, const struct tree_node *node)
{
        FOREACH_NODE(lower, &node->lowers)
                if (view->shown[lower->index] && is_drawn_on(lower, node))
                        return true;
        return false;
}

/* Mounts before swaps, which may be in a file of one. */
static void show_mounts_and_swaps(struct tree_view *view)
{
        static const enum tree_kind kinds[] = {TREE_MOUNT, TREE_SWAP};

        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                FOREACH_NODE(node, &view->tree->nodes)
                        if (node->kind == kinds[i])
                                view->shown[node->index] = lies_on_something(view, node);
}

int tree_view_init(struct tree_view *view, const struct tree *tree)
{
        *view = (struct tree_view){
                .tree = tree,
                .shown = calloc(tree->nodes.n + 1, sizeof(*view->shown)),
        };
        if (!view->shown)
                return -ENOMEM;
        FOREACH_NODE(node, &tree->nodes)
                view->shown[node->index] = !tree_node_is_mount_or_swap(node);
        show_mounts_and_swaps(view);
        return 0;
}

void tree_view_done(struct tree_view *view)
{
        free(view->shown);
        *view = (struct tree_view){};
}

void tree_view_leave_out_empty(struct tree_view *view)
{
        FOREACH_NODE(node, &view->tree->nodes)
                if (node->kind == TREE_DISK && node->uppers.n == 0 &&
                        (node->size == 0 || major(node->number) == RAMDISK_MAJOR))
                        view->shown[node->index] = false;
}

/* ------ what is drawn where ------ */

static const struct tree_nodes *neighbours(const struct tree_node *node, enum tree_direction direction)
{
        return direction == TREE_UPWARDS ? &node->uppers : &node->lowers;
}

static bool is_child(const struct tree_view *view, const struct tree_node *node, const struct tree_node *other,
        enum tree_direction direction)
{
        return view->shown[other->index] &&
               (direction == TREE_UPWARDS ? is_drawn_on(node, other) : is_drawn_on(other, node));
}

static int mark_from(
        const struct tree_view *view, const struct tree_nodes *nodes, enum tree_direction direction, bool *wanted)
{
        _cleanup_free_ bool *met = calloc(view->tree->nodes.n + 1, sizeof(*met));
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = met ? tree_nodes_add_all(&waiting, nodes) : -ENOMEM;

        while (r >= 0 && waiting.n > 0) {
                const struct tree_node *node = waiting.nodes[--waiting.n];
                const struct tree_nodes *others = neighbours(node, direction);

                if (met[node->index])
                        continue;
                met[node->index] = wanted[node->index] = true;
                FOREACH_NODE(other, others)
                        if (r >= 0 && is_child(view, node, other, direction))
                                r = tree_nodes_add(&waiting, other);
        }
        return r;
}

int tree_view_restrict(struct tree_view *view, const struct tree_nodes *nodes)
{
        _cleanup_free_ bool *wanted = calloc(view->tree->nodes.n + 1, sizeof(*wanted));
        int r = wanted ? 0 : -ENOMEM;

        if (r >= 0)
                r = mark_from(view, nodes, TREE_UPWARDS, wanted);
        if (r >= 0)
                r = mark_from(view, nodes, TREE_DOWNWARDS, wanted);
        if (r < 0)
                return r;
        for (size_t i = 0; i < view->tree->nodes.n; i++)
                view->shown[i] = view->shown[i] && wanted[i];
        return 0;
}

/* Mounts and swaps come first: what lies on the same device as they do is a layer of its own. */
static int rank_of(const struct tree_node *node)
{
        return tree_node_is_mount_or_swap(node) ? 0 : node->kind >= TREE_MULTIPATH ? 2 : 1;
}

static int compare_nodes(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;
        int r = rank_of(first) - rank_of(second);

        if (r == 0 && rank_of(first) != 1)
                r = strverscmp(first->name, second->name);
        if (r != 0)
                return r;
        if (first->number != second->number)
                return first->number < second->number ? -1 : 1;
        return first->index < second->index ? -1 : first->index > second->index;
}

static void sort(struct tree_nodes *nodes)
{
        if (nodes->n > 1)
                qsort(nodes->nodes, nodes->n, sizeof(*nodes->nodes), compare_nodes);
}

int tree_view_children(const struct tree_view *view, const struct tree_node *node, enum tree_direction direction,
        struct tree_nodes *ret)
{
        FOREACH_NODE(other, neighbours(node, direction)) {
                int r = is_child(view, node, other, direction) ? tree_nodes_add(ret, other) : 0;

                if (r < 0)
                        return r;
        }
        sort(ret);
        return 0;
}

static bool is_root(const struct tree_view *view, const struct tree_node *node, enum tree_direction direction)
{
        enum tree_direction back = direction == TREE_UPWARDS ? TREE_DOWNWARDS : TREE_UPWARDS;

        FOREACH_NODE(other, neighbours(node, back))
                if (is_child(view, node, other, back))
                        return false;
        return true;
}

/* What holds itself in a circle has no root; its first node is as good as any. */
static int add_roots_of_circles(
        const struct tree_view *view, enum tree_direction direction, struct tree_nodes *roots)
{
        _cleanup_free_ bool *reached = calloc(view->tree->nodes.n + 1, sizeof(*reached));
        int r = reached ? mark_from(view, roots, direction, reached) : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < view->tree->nodes.n; i++) {
                struct tree_nodes only = {.nodes = &view->tree->nodes.nodes[i], .n = 1};

                if (!view->shown[i] || reached[i])
                        continue;
                r = tree_nodes_add(roots, view->tree->nodes.nodes[i]);
                if (r >= 0)
                        r = mark_from(view, &only, direction, reached);
        }
        return r;
}

int tree_view_roots(const struct tree_view *view, enum tree_direction direction, struct tree_nodes *ret)
{
        FOREACH_NODE(node, &view->tree->nodes) {
                int r = view->shown[node->index] && is_root(view, node, direction) ? tree_nodes_add(ret, node) : 0;

                if (r < 0)
                        return r;
        }
        sort(ret);
        return add_roots_of_circles(view, direction, ret);
}
