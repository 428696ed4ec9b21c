/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/util.h"
#include "tree/order.h"

/* What is found out of one storage tree. */
struct label {
        const char *vg; /* the first of the alphabet */
        size_t n_vgs;
        const struct tree_node *bottom;
};

/* VGs, each once, with their trees. */
static int compare_vgs(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;

        if (first->component != second->component)
                return first->component < second->component ? -1 : 1;
        return strcmp(first->vg, second->vg);
}

static int find_vgs(const struct tree *tree, struct label *labels)
{
        _cleanup_tree_nodes_ struct tree_nodes lvs = {};

        for (size_t i = 0; i < tree->nodes.n; i++)
                if (tree->nodes.nodes[i]->vg) {
                        int r = tree_nodes_add(&lvs, tree->nodes.nodes[i]);

                        if (r < 0)
                                return r;
                }
        if (lvs.n > 0)
                qsort(lvs.nodes, lvs.n, sizeof(*lvs.nodes), compare_vgs);
        for (size_t i = 0; i < lvs.n; i++) {
                struct label *label = &labels[lvs.nodes[i]->component];

                if (i > 0 && compare_vgs(&lvs.nodes[i - 1], &lvs.nodes[i]) == 0)
                        continue;
                if (!label->vg)
                        label->vg = lvs.nodes[i]->vg;
                label->n_vgs++;
        }
        return 0;
}

/* A disk rather than anything else, and then the first one. */
static bool is_better(const struct tree_node *node, const struct tree_node *other)
{
        if (!other)
                return true;
        if ((node->kind == TREE_DISK) != (other->kind == TREE_DISK))
                return node->kind == TREE_DISK;
        if (node->lowers.n != other->lowers.n)
                return node->lowers.n < other->lowers.n;
        return node->number != other->number ? node->number < other->number : node->index < other->index;
}

int tree_names(const struct tree *tree, char ***ret)
{
        _cleanup_free_ struct label *labels = calloc(tree->n_components + 1, sizeof(*labels));
        char **names = calloc(tree->n_components + 1, sizeof(*names));
        int r = labels && names ? find_vgs(tree, labels) : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                const struct tree_node *node = tree->nodes.nodes[i];

                if (is_better(node, labels[node->component].bottom))
                        labels[node->component].bottom = node;
        }
        for (size_t i = 0; r >= 0 && i < tree->n_components; i++) {
                const struct label *label = &labels[i];

                names[i] = label->n_vgs > 1 ? string_format("%s and %zu more", label->vg, label->n_vgs - 1)
                                            : strdup(label->vg ?: label->bottom->name);
                r = names[i] ? 0 : -ENOMEM;
        }
        if (r < 0) {
                if (names)
                        tree_names_free(tree, names);
                return r;
        }
        *ret = names;
        return 0;
}

void tree_names_free(const struct tree *tree, char **names)
{
        for (size_t i = 0; i < tree->n_components; i++)
                free(names[i]);
        free(names);
}
