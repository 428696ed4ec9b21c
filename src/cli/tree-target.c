/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/tree-target.h"

#include "deactivate/target.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

/* What the path leads to, as the tree has it: without links, and without a slash at its end. */
static char *resolve(const char *path)
{
        char *resolved = root_is_chosen() ? NULL : realpath(path, NULL);

        if (!resolved)
                resolved = strdup(path);
        for (size_t length = resolved ? strlen(resolved) : 0; length > 1 && resolved[length - 1] == '/'; length--)
                resolved[length - 1] = '\0';
        return resolved;
}

/* There may be several mounts at one place. */
static int add_mounts_and_swaps(const struct tree *tree, const char *path, struct tree_nodes *ret)
{
        FOREACH_NODE(node, &tree->nodes) {
                int r = tree_node_is_mount_or_swap(node) && streq(node->name, path) ? tree_nodes_add(ret, node)
                                                                                    : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_path(const struct tree *tree, const char *path, struct tree_nodes *ret)
{
        _cleanup_free_ char *resolved = resolve(path);
        struct tree_node *node;

        if (!resolved)
                return -ENOMEM;
        node = tree_find_device_path(tree, resolved);
        return node ? tree_nodes_add(ret, node) : add_mounts_and_swaps(tree, resolved, ret);
}

static int add_names(const struct tree *tree, const char *name, struct tree_nodes *ret)
{
        struct tree_node *device = tree_find_kernel_name(tree, name) ?: dm_hash_lookup(tree->dm_names, name);
        int r = device ? tree_nodes_add(ret, device) : 0;

        FOREACH_NODE(node, &tree->nodes)
                if (r >= 0 && node->vg && streq(node->vg, name))
                        r = tree_nodes_add(ret, node);
        return r;
}

/* By what it can stand for elsewhere, too. The number of a device here says nothing of another machine. */
static int add_target(const struct tree *tree, const char *name, struct tree_nodes *ret)
{
        struct tree_node *node = NULL;
        struct target target;
        int r;

        r = target_parse(name, &target);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (target.lv || (target.number != 0 && !root_is_chosen()))
                r = target_find_node(&target, tree, &node);
        target_done(&target);
        return r >= 0 && node ? tree_nodes_add(ret, node) : r;
}

int tree_target_find(const struct tree *tree, const char *name, struct tree_nodes *ret)
{
        size_t n = ret->n;
        int r;

        r = name[0] == '/' || name[0] == '.' ? add_path(tree, name, ret) : 0;
        if (r >= 0)
                r = add_names(tree, name, ret);
        if (r >= 0 && ret->n == n)
                r = add_target(tree, name, ret);
        if (r < 0)
                return r;
        return ret->n > n ? 0 : -ENOENT;
}

/* Whether lvm2 has a backup of it: it is a VG or LV of which nothing is active. */
static bool is_inactive(int root_fd, const char *name)
{
        _cleanup_configuration_ struct configuration configuration = {};
        _cleanup_problems_ struct problems problems = {};
        struct target target;
        bool inactive;

        if (configuration_read(root_fd, &configuration, &problems) < 0 || target_parse(name, &target) < 0)
                return false;
        inactive = target.vg && target_is_down(&target, root_fd, &configuration) > 0;
        target_done(&target);
        return inactive;
}

static void suggest(const struct tree *tree, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};

        FOREACH_NODE(node, &tree->nodes) {
                _cleanup_free_ char *path =
                        node->kernel_name && name[0] == '/' ? string_format("/dev/%s", node->kernel_name) : NULL;

                if (node->kernel_name || name[0] == '/')
                        suggestion_consider(&suggestion, node->name);
                if (node->vg)
                        suggestion_consider(&suggestion, node->vg);
                if (node->kernel_name)
                        suggestion_consider(&suggestion, path ?: node->kernel_name);
        }
        suggestion_log_unknown(&suggestion, "device", "see headgate tree for those that there are");
}

void tree_target_log_unknown(const struct tree *tree, int root_fd, const char *name)
{
        if (is_inactive(root_fd, name))
                log_error("Of %s nothing is active.", name);
        else
                suggest(tree, name);
}
