/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/lvs.h"

bool tree_are_in_one_vg(const struct tree_node *a, const struct tree_node *b)
{
        return a->vg && b->vg && strncmp(a->uuid, b->uuid, TREE_VG_UUID_LENGTH) == 0;
}

/* Of these layers the kind is that of the LV that people know. */
static bool is_layer_of_pool(const struct tree_node *node)
{
        const char *layer = strrchr(node->uuid, '-');

        return layer && (streq(layer, "-tpool") || streq(layer, "-vpool"));
}

bool tree_lv_is_hidden(const struct tree_node *node)
{
        return node->vg && (node->kind >= TREE_LV_COW || is_layer_of_pool(node));
}

/* An LV of the same VG below an LV is what it is made of; anything else is a PV. */
static bool has_other_vg_above(const struct tree_node *node)
{
        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->vg && !tree_are_in_one_vg(node, node->uppers.nodes[i]))
                        return true;
        return false;
}

/* Both lie on the origin's data. */
static int add_snapshots(struct tree *tree, const struct tree_node *data)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < data->uppers.n; i++) {
                struct tree_node *origin = data->uppers.nodes[i];

                if (origin->kind != TREE_LV_ORIGIN)
                        continue;
                for (size_t j = 0; r >= 0 && j < data->uppers.n; j++)
                        if (data->uppers.nodes[j]->kind == TREE_LV_SNAPSHOT)
                                r = tree_add_edge(tree, data->uppers.nodes[j], origin);
        }
        return r;
}

int tree_add_lvm(struct tree *tree)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];

                node->is_pv = has_other_vg_above(node);
                if (node->kind == TREE_LV_ORIGIN_DATA)
                        r = add_snapshots(tree, node);
        }
        return r;
}
