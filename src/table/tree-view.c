/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The storage tree as rows: which nodes are shown, below which ones, and in which order. The tree is walked without
 * recursion, as it may be arbitrarily deep. */

#include "table/tree-view.h"

#include <linux/major.h>
#include <sys/sysmacros.h>

#include "tree/walk.h"

/* Whether the edge between these nodes is drawn. */
static bool is_drawn_on(const struct tree_node *lower, const struct tree_node *upper)
{
        if (lower->kind == TREE_MOUNT && upper->kind == TREE_MOUNT)
                return false;
        return lower->kind != TREE_LV_SNAPSHOT || upper->kind != TREE_LV_ORIGIN ||
               !tree_are_in_one_vg(lower, upper);
}

/* ------ selecting nodes ------ */

int tree_view_init(struct tree_view *view, struct tree *tree)
{
        *view = (struct tree_view){
                .tree = tree,
                .shown = calloc(tree->nodes.n + 1, sizeof(*view->shown)),
        };
        if (!view->shown)
                return -ENOMEM;
        FOREACH_NODE(node, &tree->nodes)
                view->shown[node->index] = !tree_node_is_mount_or_swap(node);
        /* Mounts first, as a swap may be a file on one. */
        for (enum tree_kind kind = TREE_MOUNT; kind <= TREE_SWAP; kind++)
                FOREACH_NODE(node, &tree->nodes)
                        FOREACH_NODE(lower, &node->lowers)
                                if (node->kind == kind && view->shown[lower->index] && is_drawn_on(lower, node))
                                        view->shown[node->index] = true;
        return 0;
}

void tree_view_done(struct tree_view *view)
{
        free(view->shown);
}

void tree_view_leave_out_empty(struct tree_view *view)
{
        FOREACH_NODE(node, &view->tree->nodes)
                if (node->kind == TREE_DISK && node->uppers.n == 0 &&
                        (node->size == 0 || major(node->number) == RAMDISK_MAJOR))
                        view->shown[node->index] = false;
}

/* ------ edges and order ------ */

/* Mounts and swaps first, before other devices on the same device. */
static int rank_of(const struct tree_node *node)
{
        return tree_node_is_mount_or_swap(node) ? 0 : node->kind >= TREE_MULTIPATH ? 2 : 1;
}

static int compare_nodes(const void *a, const void *b)
{
        const struct tree_node *first = TREE_NODE_AT(a), *second = TREE_NODE_AT(b);
        int r = rank_of(first) - rank_of(second);

        if (r == 0 && rank_of(first) != 1)
                r = strverscmp(first->name, second->name);
        return r ?: CMP(first->number, second->number) ?: CMP(first->index, second->index);
}

/* Adds the nodes below one, in any order. */
static int find_children(const struct tree_view *view, const struct tree_node *node, enum tree_direction direction,
        struct tree_nodes *ret)
{
        const struct tree_nodes *others = direction == TREE_UPWARDS ? &node->uppers : &node->lowers;

        FOREACH_NODE(other, others) {
                bool drawn = direction == TREE_UPWARDS ? is_drawn_on(node, other) : is_drawn_on(other, node);
                int r = drawn && view->shown[other->index] ? tree_nodes_add(ret, other) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

static struct tree_walk walk_from(
        const struct tree_view *view, const struct tree_nodes *nodes, enum tree_direction direction)
{
        struct tree_walk walk = tree_walk_new(view->tree);

        FOREACH_NODE(node, nodes)
                tree_walk_add(&walk, node);
        FOREACH_VISITED(node, &walk) {
                _cleanup_tree_nodes_ struct tree_nodes children = {};

                tree_fail(view->tree, find_children(view, node, direction, &children));
                FOREACH_NODE(child, &children)
                        tree_walk_add(&walk, child);
        }
        return walk;
}

int tree_view_restrict(struct tree_view *view, const struct tree_nodes *nodes)
{
        _cleanup_tree_walk_ struct tree_walk above = walk_from(view, nodes, TREE_UPWARDS),
                                             below = walk_from(view, nodes, TREE_DOWNWARDS);

        FOREACH_NODE(node, &view->tree->nodes)
                view->shown[node->index] &= tree_walk_has(&above, node) || tree_walk_has(&below, node);
        return view->tree->error;
}

/* ------ rows ------ */

void tree_rows_done(struct tree_rows *rows)
{
        free(rows->rows);
}

static int add_row(struct tree_rows *rows, struct tree_row row)
{
        return APPEND(rows->rows, rows->n, row);
}

/* The nodes on a node are drawn only the first time, so that dependency cycles end. The last waiting one is drawn
 * first. */
static int draw_from(const struct tree_view *view, enum tree_direction direction, struct tree_node *root,
        bool *drawn, struct tree_rows *rows)
{
        _cleanup_tree_rows_ struct tree_rows waiting = {};
        int r = add_row(&waiting, (struct tree_row){.node = root, .parent = TREE_ROW_NONE});

        while (r >= 0 && waiting.n > 0) {
                struct tree_row row = waiting.rows[--waiting.n];
                _cleanup_tree_nodes_ struct tree_nodes children = {};

                r = find_children(view, row.node, direction, &children);
                if (r < 0)
                        return r;
                row.has_children = children.n > 0;
                row.again = drawn[row.node->index];
                drawn[row.node->index] = true;
                r = add_row(rows, row);
                if (row.again)
                        continue;
                SORT(children.nodes, children.n, compare_nodes);
                for (size_t i = children.n; r >= 0 && i > 0; i--)
                        r = add_row(
                                &waiting, (struct tree_row){.node = children.nodes[i - 1], .parent = rows->n - 1});
        }
        return r;
}

int tree_view_draw(const struct tree_view *view, enum tree_direction direction, struct tree_rows *ret)
{
        enum tree_direction back = direction == TREE_UPWARDS ? TREE_DOWNWARDS : TREE_UPWARDS;
        const struct tree_nodes *nodes = &view->tree->nodes;
        _cleanup_free_ bool *drawn = calloc(nodes->n + 1, sizeof(*drawn));
        _cleanup_tree_nodes_ struct tree_nodes roots = {};
        int r = drawn ? 0 : -ENOMEM;

        FOREACH_NODE(node, nodes) {
                _cleanup_tree_nodes_ struct tree_nodes parents = {};

                r = r ?: find_children(view, node, back, &parents);
                if (r >= 0 && view->shown[node->index] && parents.n == 0)
                        r = tree_nodes_add(&roots, node);
        }
        SORT(roots.nodes, roots.n, compare_nodes);
        FOREACH_NODE(root, &roots)
                r = r ?: draw_from(view, direction, root, drawn, ret);
        /* A dependency cycle has no root; its first node is as good as any. */
        FOREACH_NODE(node, nodes)
                if (r >= 0 && view->shown[node->index] && !drawn[node->index])
                        r = draw_from(view, direction, node, drawn, ret);
        return r;
}

/* ------ names ------ */

static int compare_names(const void *a, const void *b)
{
        return strverscmp(*(char *const *) a, *(char *const *) b);
}

int tree_nodes_names(const struct tree_nodes *nodes, struct strv *ret)
{
        int r = 0;

        FOREACH_NODE(node, nodes)
                r = r ?: strv_add(ret, node->name);
        SORT(ret->strings, ret->n, compare_names);
        STRV_FOREACH(name, ret)
                r = r ?: string_replace(name, string_printable(*name));
        return r;
}
