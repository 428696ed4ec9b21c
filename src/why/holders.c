/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Users of devices, by the storage tree. */

#include "shared/dm.h"
#include "shared/program.h"
#include "teardown/scope.h"
#include "teardown/users.h"
#include "tree/read.h"
#include "why/why.h"

/* Of further devices, only the number is shown. */
#define NODES_TOLD_MAX 4

static void explain_node(void *userdata, struct tree_node *node, const char *holders, _unused_ size_t n_processes)
{
        struct why *why = userdata;
        _cleanup_free_ char *name = node_describe(node);

        if (!holders || !name)
                why_fail(why, -ENOMEM);
        else if (node->skip_reason)
                why_fact(why, "%s is not removed at shutdown: %s.", name, node->skip_reason);
        else if (*holders != '\0' && !tree_kind_is_removable(node->kind))
                why_fact(why, "%s is in use: %s.", name, holders);
        else if (*holders != '\0')
                why_fact(why, "%s is removed at shutdown once nothing uses it: %s.", name, holders);
}

static void explain_nodes(struct why *why, const struct tree_nodes *nodes)
{
        const struct tree_nodes first = {nodes->nodes, MIN(nodes->n, (size_t) NODES_TOLD_MAX)};

        why_fail(why, nodes_report_users(&first, false, explain_node, why));
        if (nodes->n > first.n)
                why_fact(why, "%zu more of its LVs are in use; \"headgate why VG/LV\" shows their users.",
                        nodes->n - first.n);
}

/* Reads the storage tree, once for all explanations. Returns it, or NULL on error. */
static struct tree *read_tree(struct why *why)
{
        struct sources *sources = why->sources;
        int r = sources->tree ? 0
                              : tree_new(sources->root_fd, &sources->tree)
                        ?: tree_add_devices(sources->tree, sources->devices)
                        ?: tree_add_usage(sources->tree)
                        ?: teardown_skip_foreign(sources->tree, &sources->config, &sources->config_problems);

        if (r < 0)
                sources->tree = tree_free(sources->tree);
        why_fail(why, r);
        return sources->tree;
}

void explain_holders_of_lvs(struct why *why, const char *lvid)
{
        struct path uuid = path_format(LVM_UUID_PREFIX "%s%s", why->vg->vgid, lvid ?: "");
        const struct dm_devices *devices = why->sources->devices;
        _cleanup_tree_nodes_ struct tree_nodes open = {};
        struct tree *tree = devices ? read_tree(why) : NULL;

        if (!tree)
                return;
        FOREACH_DM_DEVICE(device, devices) {
                if (!skip_prefix(device->uuid, uuid.text) || !dm_device_is_visible_lv(device))
                        continue;
                /* A VG can have a thousand LVs. */
                if (lvid)
                        explain_read_only(why, path_format("/dev/mapper/%s", device->name).text, device->number);
                /* The kernel counts opens by mounts, devices and processes; a negative count is unknown. */
                if (root_is_chosen() || dm_open_count(device->number) != 0)
                        why_fail(why, tree_nodes_add(&open, tree_find_number(tree, device->number)));
        }
        explain_nodes(why, &open);
}

void explain_holders_of_device(struct why *why)
{
        struct tree *tree = read_tree(why);
        struct tree_node *node = tree ? tree_find_number(tree, why->device->number) : NULL;

        if (node)
                explain_nodes(why, &(struct tree_nodes){&node, 1});
}
