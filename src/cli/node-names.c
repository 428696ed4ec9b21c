/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/node-names.h"

#include "shared/util.h"

static int compare_names(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;

        return strverscmp(first->name, second->name);
}

char *node_names_join(const struct tree_nodes *nodes)
{
        _cleanup_string_vector_ struct string_vector names = {};
        _cleanup_tree_nodes_ struct tree_nodes sorted = {};

        for (size_t i = 0; i < nodes->n; i++)
                if (tree_nodes_add(&sorted, nodes->nodes[i]) < 0)
                        return NULL;
        if (sorted.n > 0)
                qsort(sorted.nodes, sorted.n, sizeof(*sorted.nodes), compare_names);
        for (size_t i = 0; i < sorted.n; i++) {
                _cleanup_free_ char *name = string_printable(sorted.nodes[i]->name);

                if (!name || string_vector_add(&names, name) < 0)
                        return NULL;
        }
        return string_vector_join(&names, "\n");
}
