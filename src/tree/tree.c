/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The storage tree: nodes, their kinds, finding them, and skipping them. */

#include "tree/tree.h"

#include <stdarg.h>

#include "lvm/dm-devices.h"
#include "shared/dm.h"
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

static const struct {
        const char *word;
        enum tree_kind kind;
} meanings[] = {
        /* Parts of the names of hidden LVs, which lvm2 refuses in other names (lvm2, lib/misc/lvm-string.c). */
        {"_cdata", TREE_LV_CACHE_PART},
        {"_cmeta", TREE_LV_CACHE_PART},
        {"_corig", TREE_LV_CACHE_PART},
        {"_cvol", TREE_LV_CACHE_PART},
        {"_wcorig", TREE_LV_CACHE_PART},
        {"_imeta", TREE_LV_INTEGRITY_PART},
        {"_iorig", TREE_LV_INTEGRITY_PART},
        {"_mimage", TREE_LV_RAID_LEG},
        {"_mlog", TREE_LV_RAID_LEG},
        {"_rimage", TREE_LV_RAID_LEG},
        {"_rmeta", TREE_LV_RAID_LEG},
        {"_tdata", TREE_LV_POOL_PART},
        {"_tmeta", TREE_LV_POOL_PART},
        {"_vdata", TREE_LV_POOL_PART},
        /* UUID suffixes of layers that lvm2 adds between LVs. "real" is not listed: names are more specific, and lvm2 2.03.36 and
         * later add it to the UUIDs of all hidden LVs. */
        {"-cow", TREE_LV_COW},
        {"-pool", TREE_LV_THIN_POOL},
        {"-real", TREE_LV_ORIGIN_DATA},
        {"-tpool", TREE_LV_THIN_POOL},
        {"-vpool", TREE_LV_VDO},
        /* Types of targets. A merging origin is both. */
        {"cache", TREE_LV_CACHE},
        {"integrity", TREE_LV_INTEGRITY},
        {"linear", TREE_LV_LINEAR},
        {"mirror", TREE_LV_MIRROR},
        {"raid", TREE_LV_RAID},
        {"snapshot", TREE_LV_SNAPSHOT},
        {"snapshot-merge", TREE_LV_ORIGIN},
        {"snapshot-origin", TREE_LV_ORIGIN},
        {"striped", TREE_LV_STRIPED},
        {"thin", TREE_LV_THIN},
        {"thin-pool", TREE_LV_THIN_POOL},
        {"vdo", TREE_LV_VDO},
        {"writecache", TREE_LV_WRITECACHE},
};

/* The kind of a word, or else `kind`. */
static enum tree_kind find_meaning(const char *word, size_t length, enum tree_kind kind)
{
        FOREACH_ELEMENT(meaning, meanings)
                if (strlen(meaning->word) == length && memcmp(meaning->word, word, length) == 0)
                        return meaning->kind;
        return kind;
}

static enum tree_kind kind_of_lv(const char *uuid, const char *target, const char *lv)
{
        enum tree_kind kind = find_meaning(target, strlen(target), TREE_LV_OTHER);

        if (strlen(uuid) > LVM_UUID_LENGTH && !skip_prefix(lv, "pvmove"))
                kind = find_meaning(uuid + LVM_UUID_LENGTH, strlen(uuid + LVM_UUID_LENGTH), kind);
        /* The last one in the name counts: "pool_tdata_rimage_0" is a leg. */
        for (const char *word = strchr(lv, '_'); word; word = strchr(word + 1, '_'))
                kind = find_meaning(word, 1 + strcspn(word + 1, "_"), kind);
        return kind;
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
        return skip_prefix(uuid, "CRYPT-") || streq(target, "crypt") ? TREE_CRYPT : TREE_DM;
}

/* ------ lists of nodes ------ */

int tree_nodes_add(struct tree_nodes *nodes, struct tree_node *node)
{
        return APPEND(nodes->nodes, nodes->n, node);
}

int tree_nodes_add_all(struct tree_nodes *nodes, const struct tree_nodes *more)
{
        FOREACH_NODE(node, more)
                if (tree_nodes_add(nodes, node) < 0)
                        return -ENOMEM;
        return 0;
}

bool tree_nodes_have(const struct tree_nodes *nodes, const struct tree_node *node)
{
        return ANY(FOREACH_NODE(other, nodes), other == node);
}

void tree_nodes_done(struct tree_nodes *nodes)
{
        free(nodes->nodes);
        *nodes = (struct tree_nodes){};
}

/* ------ nodes ------ */

bool tree_lv_is_hidden(const struct tree_node *node)
{
        /* The layer of a pool has the kind of the visible LV. */
        return node->kind >= TREE_LV_COW || (node->vg && *node->layer != '\0');
}

/* ------ the tree ------ */

/* libdevmapper's hash tables do not grow. This size is fast up to ten thousand nodes, and small enough for few nodes. */
#define HASH_SIZE 1024

int tree_new(int root_fd, struct tree **ret)
{
        _cleanup_tree_ struct tree *tree = calloc(1, sizeof(*tree));

        if (!tree)
                return -ENOMEM;
        struct dm_hash_table **tables[] = {&tree->numbers, &tree->kernel_names, &tree->dm_names, &tree->vgs,
                &tree->mount_points, &tree->mount_ids};
        tree->root_fd = root_fd;
        dm_list_init(&tree->ready);
        tree->memory = dm_pool_create("tree", 16384);
        if (!tree->memory)
                return -ENOMEM;
        FOREACH_ELEMENT(table, tables)
                if (!(**table = dm_hash_create(HASH_SIZE)))
                        return -ENOMEM;

        *ret = TAKE_PTR(tree);
        return 0;
}

struct tree *tree_free(struct tree *tree)
{
        if (!tree)
                return NULL;
        struct dm_hash_table *tables[] = {
                tree->numbers, tree->kernel_names, tree->dm_names, tree->vgs, tree->mount_points, tree->mount_ids};
        FOREACH_ELEMENT(table, tables)
                dm_hash_destroyp(table);
        FOREACH_NODE(node, &tree->nodes) {
                tree_nodes_done(&node->uppers);
                tree_nodes_done(&node->lowers);
        }
        tree_nodes_done(&tree->nodes);
        for (struct tree_cycle *cycle = tree->cycles; cycle; cycle = cycle->next)
                tree_nodes_done(&cycle->members);
        dm_pool_destroyp(&tree->memory);
        free(tree);
        return NULL;
}

const char *tree_printf(struct tree *tree, const char *format, ...)
{
        _cleanup_free_ char *text = FORMAT_ARGUMENTS(string_format_list, format);
        const char *copy = text ? dm_pool_strdup(tree->memory, text) : NULL;

        tree_fail(tree, copy ? 0 : -ENOMEM);
        return copy ?: "";
}

struct tree_node *tree_add_node(struct tree *tree, enum tree_kind kind, const char *name)
{
        struct tree_node *node = dm_pool_zalloc(tree->memory, sizeof(*node));

        if (!node || tree_nodes_add(&tree->nodes, node) < 0) {
                tree_fail(tree, -ENOMEM);
                return NULL;
        }
        node->kind = kind;
        node->index = tree->nodes.n - 1;
        node->size = TREE_SIZE_UNKNOWN;
        node->name = tree_printf(tree, "%s", name);
        dm_list_init(&node->queue);
        return node;
}

struct tree_node *tree_add_device(struct tree *tree, enum tree_kind kind, const char *kernel_name, dev_t number)
{
        struct tree_node *node = tree_add_node(tree, kind, kernel_name);

        if (!node)
                return NULL;
        node->number = number;
        node->kernel_name = node->name;
        if (!dm_hash_insert_binary(tree->numbers, &number, sizeof(number), node) ||
                !dm_hash_insert(tree->kernel_names, kernel_name, node))
                tree_fail(tree, -ENOMEM);
        return node;
}

/* A UUID may be shorter than lvm2's are. */
static uint32_t vg_key_length(const struct tree_node *lv)
{
        return (uint32_t) strnlen(lv->uuid, TREE_VG_UUID_LENGTH);
}

struct tree_node *tree_find_vg(const struct tree *tree, const struct tree_node *lv)
{
        return dm_hash_lookup_binary(tree->vgs, lv->uuid, vg_key_length(lv));
}

struct tree_node *tree_find_number(const struct tree *tree, dev_t number)
{
        return dm_hash_lookup_binary(tree->numbers, &number, sizeof(number));
}

struct tree_node *tree_find_kernel_name(const struct tree *tree, const char *name)
{
        return dm_hash_lookup(tree->kernel_names, name);
}

void tree_set_dm(struct tree *tree, struct tree_node *node, const char *name, const char *uuid, const char *target)
{
        char *vg, *lv = NULL, *layer;

        node->name = tree_printf(tree, "%s", name);
        node->uuid = tree_printf(tree, "%s", uuid);
        if (!dm_hash_insert(tree->dm_names, name, node))
                tree_fail(tree, -ENOMEM);
        if (skip_prefix(uuid, LVM_UUID_PREFIX)) {
                /* Split in place. */
                vg = dm_pool_strdup(tree->memory, name);
                if (!vg || !dm_split_lvm_name(NULL, NULL, &vg, &lv, &layer) ||
                        (!tree_find_vg(tree, node) &&
                                !dm_hash_insert_binary(tree->vgs, uuid, vg_key_length(node), node))) {
                        tree_fail(tree, -ENOMEM);
                        return;
                }
                node->vg = vg;
                node->lv = lv;
                node->layer = layer;
        }
        node->kind = tree_kind_of_dm(uuid, target, lv);
        node->may_be_monitored = lv && dm_target_may_be_monitored(target);
}

void tree_add_edge(struct tree *tree, struct tree_node *lower, struct tree_node *upper)
{
        if (!lower || !upper || lower == upper ||
                (lower->uppers.n < upper->lowers.n ? tree_nodes_have(&lower->uppers, upper)
                                                   : tree_nodes_have(&upper->lowers, lower)))
                return;
        /* A node that appears after tree_order() belongs to the storage tree below it. */
        if (upper->lowers.n == 0)
                upper->component = lower->component;
        tree_fail(tree, tree_nodes_add(&lower->uppers, upper) ?: tree_nodes_add(&upper->lowers, lower));
}

struct tree_node *tree_find_device_path(const struct tree *tree, const char *path)
{
        const char *name = skip_prefix(path, "/dev/"), *dm_name = skip_prefix(path, "/dev/mapper/");
        struct path kernel_name = path_format("%s", name ?: "");

        if (dm_name)
                return dm_hash_lookup(tree->dm_names, dm_name);
        /* As in the kernel's names of sysfs directories. */
        for (char *slash = kernel_name.text; (slash = strchr(slash, '/'));)
                *slash = '!';
        return tree_find_kernel_name(tree, kernel_name.text);
}

struct tree_node *tree_find_mount_of(const struct tree *tree, const char *path)
{
        struct path directory = path_format("%s", path);
        struct tree_node *mount = NULL;

        for (char *slash; !mount && (slash = strrchr(directory.text, '/'));) {
                *slash = '\0';
                mount = dm_hash_lookup(tree->mount_points, slash == directory.text ? "/" : directory.text);
        }
        return mount;
}

void tree_queue_add(struct dm_list *queue, struct tree_node *node)
{
        if (dm_list_empty(&node->queue))
                dm_list_add(queue, &node->queue);
}

struct tree_node *tree_queue_take(struct dm_list *queue)
{
        struct tree_node *node;

        if (dm_list_empty(queue))
                return NULL;
        node = dm_list_struct_base(dm_list_first(queue), struct tree_node, queue);
        dm_list_del(&node->queue);
        dm_list_init(&node->queue);
        return node;
}

void tree_skip(struct tree_node *node, const char *reason)
{
        DM_LIST_INIT(waiting);

        for (tree_queue_add(&waiting, node); (node = tree_queue_take(&waiting));) {
                if (node->skip_reason)
                        continue;
                node->skip_reason = reason;
                FOREACH_NODE(lower, &node->lowers)
                        tree_queue_add(&waiting, lower);
        }
}

bool tree_node_has_other_users(const struct tree_node *node)
{
        unsigned int n_known = 0;

        FOREACH_NODE(upper, &node->uppers)
                /* An origin is removed before its snapshots, but does not open them. DRBD opens a device twice if its metadata
                 * is on it, too (the kernel's drivers/block/drbd/drbd_nl.c). */
                if (upper->state != TREE_GONE && !tree_is_snapshot_of(node, upper))
                        n_known += skip_prefix(upper->kernel_name ?: "", "drbd") ? 2 : 1;
        return node->n_opens > n_known;
}
