/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Users of devices, by a storage tree of these devices and all nodes above them. */

#include "shared/dm.h"
#include "shared/program.h"
#include "teardown/scope.h"
#include "teardown/users.h"
#include "tree/read.h"
#include "why/why.h"

/* Of further devices, only the number is shown. */
#define NODES_TOLD_MAX 4

static void explain_node(struct why *why, const struct tree_node *node, const struct users *users)
{
        _cleanup_free_ char *holders = node_describe_holders(node, users, false);
        _cleanup_free_ char *name = node_describe(node);

        if (!holders || !name)
                why_fail(why, -ENOMEM);
        else if (node->skip_reason)
                why_fact(why, "%s is not removed at shutdown: %s.", name, node->skip_reason);
        else if (*holders != '\0' && node->kind == TREE_DISK)
                why_fact(why, "%s is in use: %s.", name, holders);
        else if (*holders != '\0')
                why_fact(why, "%s is removed at shutdown once nothing uses it: %s.", name, holders);
}

/* Adds all nodes above those in the tree, and explains the users of each. */
static void explain_nodes(struct why *why, struct tree *tree)
{
        const struct sources *sources = why->sources;
        size_t n = tree->nodes.n, n_told = MIN(n, (size_t) NODES_TOLD_MAX);
        struct usage_query queries[NODES_TOLD_MAX] = {};
        bool look = false;
        int r;

        if (tree->error >= 0 && n == 0)
                return;
        tree_add_holders(tree, sources->devices);
        r = tree_add_usage(tree) ?: teardown_skip_foreign(tree, &sources->config, &sources->config_problems);
        if (r < 0) {
                why_fail(why, r);
                return;
        }

        for (size_t i = 0; i < n_told; i++) {
                const struct tree_node *node = tree->nodes.nodes[i];

                /* Nearly all processes use devices of the running system, so these are not searched. */
                if (!node->skip_reason) {
                        queries[i].number = node->number;
                        queries[i].mount_point = node_find_mount_point(node);
                        look = true;
                }
        }
        /* For a captured machine, the processes of this one do not count. */
        if (look && !root_is_chosen())
                nodes_find_users(queries, n_told);
        for (size_t i = 0; i < n_told; i++) {
                explain_node(why, tree->nodes.nodes[i], &queries[i].users);
                users_done(&queries[i].users);
        }
        if (n > n_told)
                why_fact(why, "%zu more of its LVs are in use; \"headgate why VG/LV\" shows their users.",
                        n - n_told);
}

/* Whether the kernel counts any opens, by mounts, devices or processes. If the count is unknown, returns true. */
static bool is_open(const struct dm_device *device)
{
        return root_is_chosen() || dm_open_count(device->number) != 0;
}

static bool is_asked_for(const struct dm_device *device, const char *vgid, const char *lvid)
{
        const char *id = skip_prefix(device->uuid, LVM_UUID_PREFIX);
        const char *rest = id ? skip_prefix(id, vgid) : NULL;

        return rest && (lvid ? streq(rest, lvid) : strlen(rest) == LVM_ID_LENGTH);
}

void explain_holders_of_lvs(struct why *why, const char *lvid)
{
        const struct dm_devices *devices = why->sources->devices;
        _cleanup_tree_ struct tree *tree = NULL;

        why_fail(why, tree_new(why->sources->root_fd, &tree));
        if (!tree || !devices)
                return;
        FOREACH_ARRAY(device, devices->devices, devices->n) {
                if (!is_asked_for(device, why->vg->vgid, lvid))
                        continue;
                /* A VG can have a thousand LVs. */
                if (lvid)
                        explain_read_only(why, path_format("/dev/mapper/%s", device->name).text, device->number);
                if (is_open(device))
                        tree_add_single_device(tree, devices, device->name, device->number);
        }
        explain_nodes(why, tree);
}

void explain_holders_of_device(struct why *why)
{
        _cleanup_tree_ struct tree *tree = NULL;

        why_fail(why, tree_new(why->sources->root_fd, &tree));
        if (!tree)
                return;
        tree_add_single_device(tree, why->sources->devices, why->device->kernel_name, why->device->number);
        explain_nodes(why, tree);
}
