/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/scope.h"

#include "teardown/others.h"
#include "tree/network.h"

const char *teardown_unit_of(const struct tree_node *node)
{
        return node->on_network ? "headgate-teardown-net.service" : "headgate-teardown.service";
}

static bool is_mount_or_swap(const struct tree_node *node)
{
        return node->kind == TREE_MOUNT || node->kind == TREE_SWAP;
}

/* A mount on a local device is on the network if its mount point is; the device waits for it all the same. */
static bool holds_local_device(const struct tree_node *node)
{
        for (size_t i = 0; i < node->lowers.n; i++)
                if (!node->lowers.nodes[i]->on_network && !is_mount_or_swap(node->lowers.nodes[i]))
                        return true;
        return false;
}

static int skip_network(struct tree *tree)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];

                if (node->on_network && !(is_mount_or_swap(node) && holds_local_device(node)))
                        r = tree_skip_node(node, "it is on the network");
        }
        return r;
}

static int skip_all_else(struct tree *tree)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++)
                if (!tree->nodes.nodes[i]->on_network)
                        r = tree_skip_node(tree->nodes.nodes[i], "it is not on the network");
        return r;
}

int teardown_scope_apply(struct tree *tree, int root_fd, enum teardown_scope scope)
{
        int r;

        r = tree_find_network(tree, root_fd);
        if (r >= 0)
                r = teardown_skip_foreign(tree, root_fd);
        if (r < 0)
                return r;
        switch (scope) {
        case TEARDOWN_LOCAL:
                return skip_network(tree);
        case TEARDOWN_NETWORK:
                return skip_all_else(tree);
        default:
                return 0;
        }
}
