/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/holders.h"

#include <sys/sysmacros.h>

#include "shared/kernel.h"
#include "shared/names.h"
#include "shared/program.h"
#include "teardown/scope.h"
#include "teardown/users.h"
#include "tree/read.h"

/* Of more devices than that the number has to do. */
#define TOLD_MAX 4

/* ------ a tree of what is asked for, and of what lies on it ------ */

/* `node` may be there already. The kind does not matter here, but what is not removed at shutdown has to be a
 * disk. */
static int add_device(const struct sources *sources, struct tree *tree, const char *kernel_name, dev_t number,
        struct tree_node **ret)
{
        const struct dm_device *device = sources_find_dm_device(sources, number);
        int r;

        *ret = tree_find_number(tree, number);
        if (*ret)
                return 0;
        r = tree_add_device(tree, device ? TREE_DM : TREE_DISK, kernel_name, number, ret);
        if (r < 0 || !device)
                return r;
        return tree_set_dm(tree, *ret, device->name, device->uuid, device->target);
}

/* `path` is that of the holder's directory from the node's on. */
static int add_holder(const struct sources *sources, struct tree *tree, struct tree_node *node, const char *path,
        const char *name)
{
        _cleanup_free_ char *attribute = string_format("%s%s/dev", path, name);
        unsigned int major_number, minor_number;
        _cleanup_free_ char *text = NULL;
        struct tree_node *holder;
        int r;

        r = attribute ? sysfs_read_attribute(sources->root_fd, node->number, attribute, &text) : -ENOMEM;
        if (r <= 0 || sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
                return MIN(r, 0);
        r = add_device(sources, tree, name, makedev(major_number, minor_number), &holder);
        return r < 0 ? r : tree_add_edge(node, holder);
}

/* What is in a directory of the node's in sysfs and begins with `prefix`. */
static int add_holders_in(const struct sources *sources, struct tree *tree, struct tree_node *node,
        const char *directory_name, const char *prefix)
{
        _cleanup_free_ char *path = sysfs_path(node->number, directory_name);
        _cleanup_closedir_ DIR *directory = path ? open_directory_at(sources->root_fd, path) : NULL;
        int r = path ? 0 : -ENOMEM;

        for (const struct dirent *entry; r >= 0 && directory && (entry = readdir(directory));)
                if (entry->d_name[0] != '.' && skip_prefix(entry->d_name, prefix))
                        r = add_holder(sources, tree, node, directory_name, entry->d_name);
        return r;
}

/* The list of nodes grows meanwhile. */
static int add_holders(const struct sources *sources, struct tree *tree)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];

                r = add_holders_in(sources, tree, node, "holders/", "");
                /* The partitions of a disk. */
                if (r >= 0 && node->kind == TREE_DISK)
                        r = add_holders_in(sources, tree, node, "", node->kernel_name);
        }
        return r;
}

/* ------ sentences ------ */

static const char *find_mount_point(const struct tree_node *node)
{
        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->kind == TREE_MOUNT)
                        return node->uppers.nodes[i]->name;
        return NULL;
}

static bool has_device_above(const struct tree_node *node)
{
        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->kernel_name)
                        return true;
        return false;
}

/* Whether a look through all processes may find somebody. Everybody uses what the system lies on, and what holds a
 * disk are the devices on it. */
static bool is_worth_a_look(const struct tree_node *node)
{
        return !node->skip_reason && (node->kind != TREE_DISK || !has_device_above(node));
}

static void explain_node(const struct tree_node *node, const struct users *users, struct explanation *explanation)
{
        _cleanup_free_ char *holders = node_describe_holders(node, users);
        _cleanup_free_ char *name = node_describe(node);

        if (!holders || !name) {
                explanation->error = -ENOMEM;
                return;
        }
        if (node->skip_reason)
                explanation_fact(explanation, "At shutdown %s is left alone: %s.", name, node->skip_reason);
        else if (*holders != '\0' && node->kind == TREE_DISK)
                explanation_fact(explanation, "%s is in use: %s.", name, holders);
        else if (*holders != '\0')
                explanation_fact(explanation, "At shutdown %s waits for what uses it: %s.", name, holders);
}

static int explain_nodes(
        const struct sources *sources, struct tree *tree, size_t n, struct explanation *explanation)
{
        size_t n_told = MIN(n, (size_t) TOLD_MAX);
        struct usage_query queries[TOLD_MAX] = {};
        bool look = false;
        int r;

        r = add_holders(sources, tree);
        if (r >= 0)
                r = tree_add_usage(tree, sources->root_fd);
        if (r >= 0)
                r = teardown_skip_foreign(
                        tree, sources->root_fd, &sources->configuration, &sources->configuration_problems);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n_told; i++)
                if (is_worth_a_look(tree->nodes.nodes[i])) {
                        queries[i].number = tree->nodes.nodes[i]->number;
                        queries[i].mount_point = find_mount_point(tree->nodes.nodes[i]);
                        look = true;
                }
        /* The processes are those of this machine, not of one that was captured. */
        if (look && !root_is_chosen())
                nodes_find_users(queries, n_told);
        for (size_t i = 0; i < n_told; i++) {
                explain_node(tree->nodes.nodes[i], &queries[i].users, explanation);
                users_done(&queries[i].users);
        }
        if (n > n_told)
                explanation_fact(
                        explanation, "%zu more of its LVs are in use; ask for them one by one.", n - n_told);
        return 0;
}

/* Whether the kernel knows of anybody who has it open, be it a mount or a device. If it does not tell, somebody
 * may. */
static bool is_open(const struct dm_device *device)
{
        struct dm_task *task = root_is_chosen() ? NULL : dm_task_create(DM_DEVICE_INFO);
        struct dm_info info = {.open_count = 1};

        if (task && dm_task_set_major(task, (int) major(device->number)) &&
                dm_task_set_minor(task, (int) minor(device->number)) && dm_task_run(task) &&
                !dm_task_get_info(task, &info))
                info.open_count = 1;
        if (task)
                dm_task_destroy(task);
        return info.open_count != 0;
}

static bool is_asked_for(const struct dm_device *device, const char *vgid, const char *lvid)
{
        const char *id = skip_prefix(device->uuid, "LVM-");
        const char *rest = id ? skip_prefix(id, vgid) : NULL;

        return rest && (lvid ? streq(rest, lvid) : strlen(rest) == LVM_ID_LENGTH);
}

int explain_holders_of_lvs(
        const struct sources *sources, const char *vgid, const char *lvid, struct explanation *explanation)
{
        const struct dm_devices *devices = sources->devices ? &sources->devices->list : NULL;
        _cleanup_tree_ struct tree *tree = NULL;
        struct tree_node *node;
        size_t n = 0;
        int r;

        r = tree_new(&tree);
        for (size_t i = 0; r >= 0 && devices && i < devices->n; i++) {
                const struct dm_device *device = &devices->devices[i];
                _cleanup_free_ char *kernel_name = NULL;

                if (!is_asked_for(device, vgid, lvid) || !is_open(device))
                        continue;
                kernel_name = string_format("dm-%u", minor(device->number));
                r = kernel_name ? add_device(sources, tree, kernel_name, device->number, &node) : -ENOMEM;
                n++;
        }
        return r < 0 || n == 0 ? r : explain_nodes(sources, tree, n, explanation);
}

int explain_holders_of_device(
        const struct sources *sources, dev_t number, const char *kernel_name, struct explanation *explanation)
{
        _cleanup_tree_ struct tree *tree = NULL;
        struct tree_node *node;
        int r;

        r = tree_new(&tree);
        if (r >= 0)
                r = add_device(sources, tree, kernel_name, number, &node);
        return r < 0 ? r : explain_nodes(sources, tree, 1, explanation);
}
