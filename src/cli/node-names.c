/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/node-names.h"

#include "shared/util.h"

#define NAMES_SHOWN 3

static int compare_names(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;

        return strverscmp(first->name, second->name);
}

char *node_names_join(const struct tree_nodes *nodes, size_t n, const char *separator)
{
        _cleanup_tree_nodes_ struct tree_nodes sorted = {};
        _cleanup_free_ char *joined = strdup("");

        for (size_t i = 0; i < nodes->n; i++)
                if (tree_nodes_add(&sorted, nodes->nodes[i]) < 0)
                        return NULL;
        if (sorted.n > 0)
                qsort(sorted.nodes, sorted.n, sizeof(*sorted.nodes), compare_names);
        for (size_t i = 0; joined && i < MIN(n, sorted.n); i++) {
                _cleanup_free_ char *name = string_printable(sorted.nodes[i]->name);

                if (!name ||
                        string_replace(&joined, string_format("%s%s%s", joined, i > 0 ? separator : "", name)) < 0)
                        return NULL;
        }
        return TAKE_PTR(joined);
}

char *node_names_summarize(const struct tree_nodes *nodes)
{
        _cleanup_free_ char *joined = node_names_join(nodes, NAMES_SHOWN, ", ");

        if (joined && nodes->n > NAMES_SHOWN)
                return string_format("%s and %zu more", joined, nodes->n - NAMES_SHOWN);
        return TAKE_PTR(joined);
}
