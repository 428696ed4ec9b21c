/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/tree.h"

/* libdevmapper's hash tables do not grow. This is quick up to some ten thousand nodes. */
#define HASH_SIZE 4096

int tree_new(struct tree **ret)
{
        _cleanup_tree_ struct tree *tree = calloc(1, sizeof(*tree));

        if (!tree)
                return -ENOMEM;
        dm_list_init(&tree->ready);
        tree->numbers = dm_hash_create(HASH_SIZE);
        tree->kernel_names = dm_hash_create(HASH_SIZE);
        tree->dm_names = dm_hash_create(HASH_SIZE);
        tree->mount_points = dm_hash_create(HASH_SIZE);
        tree->mount_ids = dm_hash_create(HASH_SIZE);
        tree->swaps = dm_hash_create(HASH_SIZE);
        if (!tree->numbers || !tree->kernel_names || !tree->dm_names || !tree->mount_points || !tree->mount_ids ||
                !tree->swaps)
                return -ENOMEM;

        *ret = TAKE_PTR(tree);
        return 0;
}

static void free_cycles(struct tree_cycle *cycles)
{
        while (cycles) {
                struct tree_cycle *next = cycles->next;

                tree_nodes_done(&cycles->members);
                free(cycles);
                cycles = next;
        }
}

struct tree *tree_free(struct tree *tree)
{
        if (!tree)
                return NULL;
        struct dm_hash_table *const tables[] = {tree->numbers, tree->kernel_names, tree->dm_names,
                tree->mount_points, tree->mount_ids, tree->swaps};
        for (size_t i = 0; i < ELEMENTSOF(tables); i++)
                if (tables[i])
                        dm_hash_destroy(tables[i]);
        FOREACH_NODE(node, &tree->nodes)
                tree_node_free(node);
        tree_nodes_done(&tree->nodes);
        free_cycles(tree->cycles);
        for (size_t i = 0; tree->names && i < tree->n_components; i++)
                free(tree->names[i]);
        free(tree->names);
        free(tree);
        return NULL;
}

int tree_add_node(struct tree *tree, enum tree_kind kind, const char *name, struct tree_node **ret)
{
        _cleanup_tree_node_ struct tree_node *node = calloc(1, sizeof(*node));
        int r;

        if (!node)
                return -ENOMEM;
        node->kind = kind;
        node->index = tree->nodes.n;
        node->size = TREE_SIZE_UNKNOWN;
        dm_list_init(&node->ready);
        node->name = strdup(name);
        if (!node->name)
                return -ENOMEM;
        r = tree_nodes_add(&tree->nodes, node);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(node);
        return 0;
}

int tree_add_device(
        struct tree *tree, enum tree_kind kind, const char *kernel_name, dev_t number, struct tree_node **ret)
{
        struct tree_node *node;
        int r;

        r = tree_add_node(tree, kind, kernel_name, &node);
        if (r < 0)
                return r;
        node->number = number;
        node->kernel_name = strdup(kernel_name);
        if (!node->kernel_name || !dm_hash_insert_binary(tree->numbers, &number, sizeof(number), node) ||
                !dm_hash_insert(tree->kernel_names, kernel_name, node))
                return -ENOMEM;

        *ret = node;
        return 0;
}

static int set_lv(struct tree_node *node, char **ret_lv)
{
        char *lv, *layer;

        /* Split where it is. */
        node->vg = strdup(node->name);
        if (!node->vg || !dm_split_lvm_name(NULL, NULL, &node->vg, &lv, &layer))
                return -ENOMEM;
        *ret_lv = strdup(lv);
        return *ret_lv ? 0 : -ENOMEM;
}

int tree_set_dm(struct tree *tree, struct tree_node *node, const char *name, const char *uuid, const char *target)
{
        _cleanup_free_ char *lv = NULL;
        char *copy = strdup(name);
        int r;

        if (!copy)
                return -ENOMEM;
        free(node->name);
        node->name = copy;
        node->uuid = strdup(uuid);
        if (!node->uuid || !dm_hash_insert(tree->dm_names, name, node))
                return -ENOMEM;
        if (skip_prefix(uuid, LVM_UUID_PREFIX)) {
                r = set_lv(node, &lv);
                if (r < 0)
                        return r;
        }
        node->kind = tree_kind_of_dm(uuid, target, lv);
        return 0;
}

int tree_add_edge(struct tree_node *lower, struct tree_node *upper)
{
        int r;

        if (lower == upper)
                return 0;
        if (lower->uppers.n < upper->lowers.n ? tree_nodes_have(&lower->uppers, upper)
                                              : tree_nodes_have(&upper->lowers, lower))
                return 0;

        r = tree_nodes_add(&lower->uppers, upper);
        if (r < 0)
                return r;
        r = tree_nodes_add(&upper->lowers, lower);
        if (r < 0)
                lower->uppers.n--;
        return r;
}

struct tree_node *tree_find_number(const struct tree *tree, dev_t number)
{
        return dm_hash_lookup_binary(tree->numbers, &number, sizeof(number));
}

struct tree_node *tree_find_kernel_name(const struct tree *tree, const char *name)
{
        return dm_hash_lookup(tree->kernel_names, name);
}

#define DEV_DIRECTORY "/dev/"
#define MAPPER_DIRECTORY "mapper/"

struct tree_node *tree_find_device_path(const struct tree *tree, const char *path)
{
        _cleanup_free_ char *kernel_name = NULL;

        if (!skip_prefix(path, DEV_DIRECTORY))
                return NULL;
        path += strlen(DEV_DIRECTORY);
        if (skip_prefix(path, MAPPER_DIRECTORY))
                return dm_hash_lookup(tree->dm_names, path + strlen(MAPPER_DIRECTORY));

        kernel_name = strdup(path);
        if (!kernel_name)
                return NULL;
        /* As the kernel does it for the names of directories in sysfs. */
        for (char *slash = strchr(kernel_name, '/'); slash; slash = strchr(slash, '/'))
                *slash = '!';
        return tree_find_kernel_name(tree, kernel_name);
}

struct tree_node *tree_find_mount_of(const struct tree *tree, const char *path)
{
        _cleanup_free_ char *prefix = strdup(path);
        struct tree_node *mount;

        if (!prefix || path[0] != '/')
                return NULL;
        for (char *slash = strrchr(prefix, '/'); slash != prefix; slash = strrchr(prefix, '/')) {
                *slash = '\0';
                mount = dm_hash_lookup(tree->mount_points, prefix);
                if (mount)
                        return mount;
        }
        return dm_hash_lookup(tree->mount_points, "/");
}

static int compare_vgs(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;

        return strncmp(first->uuid, second->uuid, TREE_VG_UUID_LENGTH);
}

int tree_find_lvs(const struct tree *tree, struct tree_nodes *ret)
{
        FOREACH_NODE(node, &tree->nodes) {
                int r = node->vg ? tree_nodes_add(ret, node) : 0;

                if (r < 0)
                        return r;
        }
        if (ret->n > 0)
                qsort(ret->nodes, ret->n, sizeof(*ret->nodes), compare_vgs);
        return 0;
}

int tree_skip_node(struct tree_node *node, const char *reason)
{
        if (!node->skip_reason)
                node->skip_reason = strdup(reason);
        return node->skip_reason ? 0 : -ENOMEM;
}

int tree_skip(struct tree_node *node, const char *reason)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r;

        r = tree_nodes_add(&waiting, node);
        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                if (node->skip_reason)
                        continue;
                r = tree_skip_node(node, reason);
                if (r >= 0)
                        r = tree_nodes_add_all(&waiting, &node->lowers);
        }
        return r;
}
