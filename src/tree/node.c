/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/node.h"

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

/* kpartx numbers partitions: "part1-mpath-..." */
static bool is_partition(const char *uuid)
{
        unsigned int number;
        char end;

        return sscanf(uuid, "part%u%c", &number, &end) == 2 && end == '-';
}

enum tree_kind tree_kind_of_dm(const char *uuid, const char *target, const char *lv)
{
        if (lv)
                return kind_of_lv(uuid, target, lv);
        if (skip_prefix(uuid, "mpath-") || streq(target, "multipath"))
                return TREE_MULTIPATH;
        if (is_partition(uuid))
                return TREE_DM_PARTITION;
        if (skip_prefix(uuid, "CRYPT-") || streq(target, "crypt"))
                return TREE_CRYPT;
        return TREE_DM;
}

int tree_nodes_add(struct tree_nodes *nodes, struct tree_node *node)
{
        if (nodes->n == nodes->n_allocated) {
                size_t n = nodes->n_allocated ? nodes->n_allocated * 2 : 4;
                struct tree_node **larger = reallocarray(nodes->nodes, n, sizeof(*larger));

                if (!larger)
                        return -ENOMEM;
                nodes->nodes = larger;
                nodes->n_allocated = n;
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
