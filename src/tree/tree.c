/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The storage tree: what its nodes are, how they are found, and which of them stay. */

#include "tree/tree.h"

#include "shared/util.h"

/* ------ kinds ------ */

static const char *const kind_names[] = {
        [TREE_DISK] = "disk",
        [TREE_PARTITION] = "partition",
        [TREE_MD] = "md",
        [TREE_LOOP] = "loop",
        [TREE_MOUNT] = "mount",
        [TREE_SWAP] = "swap",
        [TREE_MULTIPATH] = "multipath",
        [TREE_DM_PARTITION] = "dm-partition",
        [TREE_CRYPT] = "crypt",
        [TREE_DM] = "dm",
        [TREE_LV_LINEAR] = "linear",
        [TREE_LV_STRIPED] = "striped",
        [TREE_LV_MIRROR] = "mirror",
        [TREE_LV_RAID] = "raid",
        [TREE_LV_THIN_POOL] = "thin-pool",
        [TREE_LV_THIN] = "thin",
        [TREE_LV_SNAPSHOT] = "snapshot",
        [TREE_LV_ORIGIN] = "origin",
        [TREE_LV_CACHE] = "cache",
        [TREE_LV_WRITECACHE] = "writecache",
        [TREE_LV_VDO] = "vdo",
        [TREE_LV_INTEGRITY] = "integrity",
        [TREE_LV_OTHER] = "lv",
        [TREE_LV_COW] = "cow",
        [TREE_LV_ORIGIN_DATA] = "origin-data",
        [TREE_LV_RAID_LEG] = "raid-leg",
        [TREE_LV_POOL_PART] = "pool-part",
        [TREE_LV_CACHE_PART] = "cache-part",
        [TREE_LV_INTEGRITY_PART] = "integrity-part",
};

const char *tree_kind_to_string(enum tree_kind kind)
{
        return kind_names[kind];
}

bool tree_kind_is_removable(enum tree_kind kind)
{
        return kind == TREE_MD || kind == TREE_LOOP || kind >= TREE_MULTIPATH;
}

struct meaning {
        const char *word;
        enum tree_kind kind;
};

/* In the names of hidden LVs, behind a "_", where no name that a user chooses has them (lvm2,
 * lib/misc/lvm-string.c). */
static const struct meaning name_layers[] = {
        {"cdata", TREE_LV_CACHE_PART},
        {"cmeta", TREE_LV_CACHE_PART},
        {"corig", TREE_LV_CACHE_PART},
        {"cvol", TREE_LV_CACHE_PART},
        {"wcorig", TREE_LV_CACHE_PART},
        {"imeta", TREE_LV_INTEGRITY_PART},
        {"iorig", TREE_LV_INTEGRITY_PART},
        {"mimage", TREE_LV_RAID_LEG},
        {"mlog", TREE_LV_RAID_LEG},
        {"rimage", TREE_LV_RAID_LEG},
        {"rmeta", TREE_LV_RAID_LEG},
        {"tdata", TREE_LV_POOL_PART},
        {"tmeta", TREE_LV_POOL_PART},
        {"vdata", TREE_LV_POOL_PART},
};

/* At the end of the UUID, behind a "-", where lvm2 puts a device of its own between others. "real" is also
 * there for much that the names say better. */
static const struct meaning uuid_layers[] = {
        {"cow", TREE_LV_COW},
        {"pool", TREE_LV_THIN_POOL},
        {"real", TREE_LV_ORIGIN_DATA},
        {"tpool", TREE_LV_THIN_POOL},
        {"vpool", TREE_LV_VDO},
};

static const struct meaning lv_targets[] = {
        {"cache", TREE_LV_CACHE},
        {"integrity", TREE_LV_INTEGRITY},
        {"linear", TREE_LV_LINEAR},
        {"mirror", TREE_LV_MIRROR},
        {"raid", TREE_LV_RAID},
        {"snapshot", TREE_LV_SNAPSHOT},
        /* While it merges, the origin is both. */
        {"snapshot-merge", TREE_LV_ORIGIN},
        {"snapshot-origin", TREE_LV_ORIGIN},
        {"striped", TREE_LV_STRIPED},
        {"thin", TREE_LV_THIN},
        {"thin-pool", TREE_LV_THIN_POOL},
        {"vdo", TREE_LV_VDO},
        {"writecache", TREE_LV_WRITECACHE},
};

static const struct meaning *find(const struct meaning *meanings, size_t n, const char *word, size_t length)
{
        for (size_t i = 0; i < n; i++)
                if (strncmp(meanings[i].word, word, length) == 0 && meanings[i].word[length] == '\0')
                        return &meanings[i];
        return NULL;
}

/* The last one in the name counts: "pool_tdata_rimage_0" is a leg. */
static const struct meaning *find_in_name(const char *lv)
{
        const struct meaning *last = NULL;

        for (const char *word = strchr(lv, '_'); word; word = strchr(word, '_')) {
                word++;
                last = find(name_layers, ELEMENTSOF(name_layers), word, strcspn(word, "_")) ?: last;
        }
        return last;
}

/* Behind VG and LV, and a "-". */
#define UUID_LAYER_OFFSET (TREE_VG_UUID_LENGTH + LVM_ID_LENGTH + strlen("-"))

static enum tree_kind kind_of_lv(const char *uuid, const char *target, const char *lv)
{
        const struct meaning *meaning = find_in_name(lv);

        if (!meaning && strlen(uuid) > UUID_LAYER_OFFSET)
                meaning = find(uuid_layers, ELEMENTSOF(uuid_layers), uuid + UUID_LAYER_OFFSET,
                        strlen(uuid + UUID_LAYER_OFFSET));
        if (!meaning)
                meaning = find(lv_targets, ELEMENTSOF(lv_targets), target, strlen(target));
        return meaning ? meaning->kind : TREE_LV_OTHER;
}

enum tree_kind tree_kind_of_dm(const char *uuid, const char *target, const char *lv)
{
        unsigned int number;
        char end;

        if (lv)
                return kind_of_lv(uuid, target, lv);
        if (skip_prefix(uuid, "mpath-") || streq(target, "multipath"))
                return TREE_MULTIPATH;
        /* kpartx numbers partitions: "part1-mpath-..." */
        if (sscanf(uuid, "part%u%c", &number, &end) == 2 && end == '-')
                return TREE_DM_PARTITION;
        if (skip_prefix(uuid, "CRYPT-") || streq(target, "crypt"))
                return TREE_CRYPT;
        return TREE_DM;
}

/* ------ lists of nodes ------ */

int tree_nodes_add(struct tree_nodes *nodes, struct tree_node *node)
{
        /* There is room up to the next power of two. */
        if ((nodes->n & (nodes->n - 1)) == 0) {
                struct tree_node **larger =
                        reallocarray(nodes->nodes, nodes->n == 0 ? 1 : 2 * nodes->n, sizeof(*larger));

                if (!larger)
                        return -ENOMEM;
                nodes->nodes = larger;
        }
        nodes->nodes[nodes->n++] = node;
        return 0;
}

int tree_nodes_add_all(struct tree_nodes *nodes, const struct tree_nodes *more)
{
        FOREACH_NODE(node, more) {
                int r = tree_nodes_add(nodes, node);

                if (r < 0)
                        return r;
        }
        return 0;
}

bool tree_nodes_have(const struct tree_nodes *nodes, const struct tree_node *node)
{
        FOREACH_NODE(other, nodes)
                if (other == node)
                        return true;
        return false;
}

void tree_nodes_done(struct tree_nodes *nodes)
{
        free(nodes->nodes);
        *nodes = (struct tree_nodes){};
}

/* ------ nodes ------ */

/* As many layers as a stack has, and no more in a cycle. */
#define LAYERS_MAX 16

static bool lies_on_lost(const struct tree_node *node, unsigned int layer)
{
        if (node->has_lost || layer == LAYERS_MAX)
                return node->has_lost;
        FOREACH_NODE(lower, &node->lowers)
                if (lies_on_lost(lower, layer + 1))
                        return true;
        return false;
}

bool tree_node_is_stranded(const struct tree_node *node)
{
        return lies_on_lost(node, 0);
}

struct tree_node *tree_node_free(struct tree_node *node)
{
        if (!node)
                return NULL;
        free(node->name);
        free(node->kernel_name);
        free(node->uuid);
        free(node->vg);
        free(node->file);
        free(node->skip_reason);
        tree_nodes_done(&node->uppers);
        tree_nodes_done(&node->lowers);
        free(node);
        return NULL;
}

bool tree_node_is_ours(const struct tree_node *node)
{
        return tree_kind_is_removable(node->kind) && !node->skip_reason;
}

bool tree_node_is_mount_or_swap(const struct tree_node *node)
{
        return node->kind == TREE_MOUNT || node->kind == TREE_SWAP;
}

bool tree_are_in_one_vg(const struct tree_node *a, const struct tree_node *b)
{
        return a->vg && b->vg && strncmp(a->uuid, b->uuid, TREE_VG_UUID_LENGTH) == 0;
}

bool tree_lv_is_hidden(const struct tree_node *node)
{
        const char *layer = node->vg ? strrchr(node->uuid, '-') : NULL;

        /* Of the layers of pools the kind is that of the LV that people know. */
        return node->vg &&
               (node->kind >= TREE_LV_COW || (layer && (streq(layer, "-tpool") || streq(layer, "-vpool"))));
}

/* ------ the tree ------ */

/* libdevmapper's hash tables do not grow. This is quick up to ten thousand nodes, and costs little where there are few. */
#define HASH_SIZE 1024

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
        for (struct tree_cycle *cycle = tree->cycles, *next; cycle; cycle = next) {
                next = cycle->next;
                tree_nodes_done(&cycle->members);
                free(cycle);
        }
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

int tree_set_dm(struct tree *tree, struct tree_node *node, const char *name, const char *uuid, const char *target)
{
        char *lv = NULL, *layer;

        node->uuid = strdup(uuid);
        if (!node->uuid || string_replace(&node->name, strdup(name)) < 0 ||
                !dm_hash_insert(tree->dm_names, name, node))
                return -ENOMEM;
        if (skip_prefix(uuid, LVM_UUID_PREFIX)) {
                /* Split where it is. */
                node->vg = strdup(name);
                if (!node->vg || !dm_split_lvm_name(NULL, NULL, &node->vg, &lv, &layer))
                        return -ENOMEM;
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

struct tree_node *tree_find_below(const struct tree *tree, const char *path)
{
        return tree_find_device_path(tree, path) ?: tree_find_mount_of(tree, path);
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
