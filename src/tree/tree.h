/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <sys/types.h>

#include "shared/macro.h"
#include "shared/names.h"

/* Kinds of nodes. Hidden LVs, which are parts of other LVs or layers between them, have kinds of their own. */
enum tree_kind {
        TREE_DISK, /* any other block device */
        TREE_PARTITION,
        TREE_MD,
        TREE_LOOP,
        TREE_MOUNT,
        TREE_SWAP,
        /* device-mapper, without lvm2 */
        TREE_MULTIPATH,
        TREE_DM_PARTITION, /* by kpartx(8) */
        TREE_CRYPT,
        TREE_DM,
        /* LVs */
        TREE_LV_LINEAR,
        TREE_LV_STRIPED,
        TREE_LV_MIRROR,
        TREE_LV_RAID,
        TREE_LV_THIN_POOL,
        TREE_LV_THIN,
        TREE_LV_SNAPSHOT,
        TREE_LV_ORIGIN, /* has snapshots */
        TREE_LV_CACHE,
        TREE_LV_WRITECACHE,
        TREE_LV_VDO,
        TREE_LV_INTEGRITY,
        TREE_LV_OTHER,       /* another target, or none */
        TREE_LV_COW,         /* copied data of a snapshot */
        TREE_LV_ORIGIN_DATA, /* data of an origin */
        TREE_LV_RAID_LEG,    /* data or metadata of one leg of a raid or mirror LV */
        TREE_LV_POOL_PART,   /* data or metadata of a thin or VDO pool */
        TREE_LV_CACHE_PART,  /* origin, data or metadata of a cached LV */
        TREE_LV_INTEGRITY_PART,
};

/* The word that is printed, "raid-leg". */
const char *tree_kind_to_string(enum tree_kind kind);

/* Whether teardown removes such nodes: device-mapper devices, md arrays and loop devices. systemd ends mounts and swaps;
 * partitions and disks stay. */
static inline bool tree_kind_is_removable(enum tree_kind kind)
{
        return kind == TREE_MD || kind == TREE_LOOP || kind >= TREE_MULTIPATH;
}

/* The kind of a device-mapper device, by its UUID and the type of its first target; both may be "". `lv` is the name of the LV,
 * NULL if it is none. */
enum tree_kind tree_kind_of_dm(const char *uuid, const char *target, const char *lv);

/* Progress of teardown with a node. */
enum tree_state {
        TREE_HELD,   /* used by other nodes, or not ours to remove */
        TREE_READY,  /* unused, in the queue `ready` */
        TREE_TAKEN,  /* handed out by tree_next_ready() */
        TREE_GONE,   /* removed; the node stays in memory as long as the tree */
        TREE_FAILED, /* could not be removed; nodes below it cannot, either */
};

/* Length of the part of an LV's UUID that all LVs of its VG share: "LVM-" and the VG's UUID. */
#define TREE_VG_UUID_LENGTH (strlen(LVM_UUID_PREFIX) + LVM_ID_LENGTH)

#define TREE_SIZE_UNKNOWN UINT64_MAX

struct tree_node;
struct tree_cycle;
struct removal;

struct tree_nodes {
        struct tree_node **nodes;
        size_t n;
};

/* Iterates over a list that does not grow in the loop. */
#define FOREACH_NODE(node, list)                                                                                  \
        for (struct tree_node **node##_at = (list)->nodes, *node;                                                 \
                node##_at != (list)->nodes + (list)->n && ((node = *node##_at), true); node##_at++)

/* The node of an element of such a list, for comparison functions of qsort(). */
#define TREE_NODE_AT(element) (*(struct tree_node *const *) (element))

/* Append a node, or all of another list. Return 0 or -ENOMEM. */
int tree_nodes_add(struct tree_nodes *nodes, struct tree_node *node) _nonnull_all_ _must_check_;
int tree_nodes_add_all(struct tree_nodes *nodes, const struct tree_nodes *more) _nonnull_all_ _must_check_;
bool tree_nodes_have(const struct tree_nodes *nodes, const struct tree_node *node) _nonnull_all_;
void tree_nodes_done(struct tree_nodes *nodes) _nonnull_all_;
#define _cleanup_tree_nodes_ _cleanup_(tree_nodes_done)

/* The tree owns all strings. They are the kernel's, and may contain any byte. */
struct tree_node {
        enum tree_kind kind;
        const char *name;        /* device-mapper's name, "sda1", a mount point, the path of a swap */
        const char *kernel_name; /* "dm-3", as in /sys/block; NULL for mounts and swaps */
        const char *uuid;        /* device-mapper's; NULL for others */
        const char *vg;          /* the name of the VG that it is an LV of; NULL for others */
        const char *lv, *layer;  /* the other parts of its name, "" if there is none */
        const char *file;        /* file of a loop device; NULL for others */
        const char *layers;      /* the options of an overlay; NULL for others */
        dev_t number;            /* of a block device; of a mount: st_dev of its files */
        uint64_t size;           /* of a block device, in bytes, or TREE_SIZE_UNKNOWN */
        uint64_t mount_id;       /* of a mount: as in mountinfo */
        bool is_pv;              /* an LV of another VG lies on it */
        bool is_virtual;         /* of a disk: without hardware */
        bool suspended;          /* I/O to it waits */
        bool may_be_monitored;   /* lvm2 may have dmeventd(8) monitor this LV */
        unsigned int n_opens;    /* device-mapper's open count; 0 until it is read */
        bool read_only;          /* of device-mapper's devices only */
        bool has_lost;           /* a device below it was removed, and is not in the tree */
        bool has_mdmon;          /* mdmon manages the metadata of this md array: "external" for the kernel */
        bool is_nfs;             /* or another network file system */
        bool on_network;         /* by tree_find_network() */
        bool selected;           /* selected by "headgate deactivate", may be skipped; see teardown/scope.h */

        struct tree_nodes uppers; /* nodes that use it */
        struct tree_nodes lowers; /* nodes that it uses */
        struct dm_list queue;     /* see tree_queue_add() */

        /* Why it stays, and all nodes below it; NULL if it does not. */
        const char *skip_reason;

        /* Set by tree_order(). */
        size_t index;             /* from 0, of all nodes ever added */
        size_t component;         /* nodes of one storage tree have the same number */
        size_t step;              /* 0 for an unused node, else one more than the last of its users */
        struct tree_cycle *cycle; /* that it is in, or NULL */
        bool is_stranded;         /* a device below it, however indirectly, was removed */

        enum tree_state state;   /* for the executor, see tree/order.h */
        struct removal *removal; /* teardown's, of a node to remove */
        bool unmount_retried;    /* teardown has had systemd unmount it once more */
        size_t seen_at;          /* tree.n_reads of the last tree_read_mounts() that found it */
};

/* Whether teardown removes the node: its kind is removable, and it is not skipped. */
static inline bool tree_node_is_ours(const struct tree_node *node)
{
        return tree_kind_is_removable(node->kind) && !node->skip_reason;
}

/* Whether it is a mount or a swap, which systemd ends. */
static inline bool tree_node_is_mount_or_swap(const struct tree_node *node)
{
        return node->kind == TREE_MOUNT || node->kind == TREE_SWAP;
}

/* Whether both are LVs of one VG, by its UUID, since two VGs can have the same name. */
static inline bool tree_are_in_one_vg(const struct tree_node *a, const struct tree_node *b)
{
        return a->vg && b->vg && strncmp(a->uuid, b->uuid, TREE_VG_UUID_LENGTH) == 0;
}

/* Whether the first node, which is below the second, is a snapshot of it. */
static inline bool tree_is_snapshot_of(const struct tree_node *snapshot, const struct tree_node *origin)
{
        return origin->kind == TREE_LV_ORIGIN && snapshot->kind == TREE_LV_SNAPSHOT;
}

/* Whether it has other users than the nodes on it, by `n_opens`: a process, another mount namespace, the kernel. */
bool tree_node_has_other_users(const struct tree_node *node) _nonnull_all_;

/* Whether it is a hidden LV, which lvm2 activates and deactivates with others of its VG: a part of an LV, or a layer. */
bool tree_lv_is_hidden(const struct tree_node *node) _nonnull_all_;

/* A dependency cycle: its nodes have no order, and are tried one after another. */
struct tree_cycle {
        struct tree_cycle *next;
        struct tree_nodes members; /* the newest devices first */
};

/* The storage of a machine: block devices, mounts and swaps, and the edges between them. An edge goes from a lower node to an
 * upper one, which has to be removed first. Examples are a disk and the LV on it, a device and its mount, and a mount and
 * another one below its mount point. A mount also has edges to loop devices and swaps on its files.
 *
 * Without memory for a node, an edge or a string, the tree is incomplete, and `error` is set. Callers check it once after adding
 * nodes; functions that return an error do so themselves.
 *
 * Nothing here is thread-safe: a caller with several threads locks every call. */
struct tree {
        int root_fd; /* root directory to read from; owned by the caller */
        int error;   /* 0 or -ENOMEM */
        struct dm_pool *memory;
        struct tree_nodes nodes;            /* in the order of `index` */
        struct dm_hash_table *numbers;      /* block devices by dev_t */
        struct dm_hash_table *kernel_names; /* by name in /sys/block */
        struct dm_hash_table *dm_names;     /* by device-mapper's name */
        struct dm_hash_table *vgs;          /* the first LV of each VG, by TREE_VG_UUID_LENGTH of its UUID */
        struct dm_hash_table *mount_points; /* the topmost mount at a mount point */
        struct dm_hash_table *mount_ids;    /* mounts by ID */
        size_t n_reads;                     /* how often mounts were read */
        size_t n_components;                /* by tree_order(), and so are the next two */
        const char **names;                 /* of the storage trees, by tree_node.component */
        struct tree_cycle *cycles;          /* a list */
        bool scheduled;                     /* by tree_schedule(), and so are the rest */
        struct dm_list ready;               /* a queue */
        size_t n_to_go, n_gone, n_failed;   /* of the nodes to remove; `n_to_go` counts all */
};

/* Keeps an error of adding a node. */
static inline void tree_fail(struct tree *tree, int error)
{
        if (error < 0)
                tree->error = error;
}

/* Makes an empty tree. Returns 0 or -ENOMEM. */
int tree_new(int root_fd, struct tree **ret) _nonnull_all_ _must_check_;
struct tree *tree_free(struct tree *tree);
DEFINE_CLEANUP(struct tree *, tree_free)
#define _cleanup_tree_ _cleanup_(tree_freep)

/* Makes a string that lives as long as the tree; "" without memory. */
const char *tree_printf(struct tree *tree, const char *format, ...) _nonnull_(1, 2) _printf_(2, 3);

/* Adds a node of that kind, with a copy of `name`, without edges. Returns the node, owned by the tree, or NULL without memory. */
struct tree_node *tree_add_node(struct tree *tree, enum tree_kind kind, const char *name) _nonnull_all_;
/* Adds a block device, which can be found by number and kernel name. */
struct tree_node *tree_add_device(
        struct tree *tree, enum tree_kind kind, const char *kernel_name, dev_t number) _nonnull_all_;
/* Makes a block device a device-mapper device. `uuid` and `target` may be "". */
void tree_set_dm(struct tree *tree, struct tree_node *node, const char *name, const char *uuid,
        const char *target) _nonnull_all_;

/* Adds an edge: `upper` uses `lower`. Does nothing if the edge exists, if both are the same node, or if one is NULL. */
void tree_add_edge(struct tree *tree, struct tree_node *lower, struct tree_node *upper) _nonnull_(1);

/* Finds a node by number or name; NULL if there is none. */
struct tree_node *tree_find_number(const struct tree *tree, dev_t number) _nonnull_all_;
struct tree_node *tree_find_kernel_name(const struct tree *tree, const char *name) _nonnull_all_;
/* Finds a device by a path in /dev that the kernel uses: "/dev/dm-3", "/dev/cciss/c0d0", or "/dev/mapper/vg-lv". */
struct tree_node *tree_find_device_path(const struct tree *tree, const char *path) _nonnull_all_;
/* Finds the mount of a file with this absolute path. */
struct tree_node *tree_find_mount_of(const struct tree *tree, const char *path) _nonnull_all_;
/* Finds the first LV of the VG of an LV. */
struct tree_node *tree_find_vg(const struct tree *tree, const struct tree_node *lv) _nonnull_all_;

/* Adds a node to a queue, of a walk through the tree or of ready nodes. A node is in one queue at most; adding it again does
 * nothing. A queue starts with DM_LIST_INIT(). */
void tree_queue_add(struct dm_list *queue, struct tree_node *node) _nonnull_all_;
/* Takes the first node out; NULL if there is none. */
struct tree_node *tree_queue_take(struct dm_list *queue) _nonnull_all_;

/* Skips a node and all nodes below it. `reason` is kept, and reads well after "skipped: ". A skipped node keeps its first reason.
 * Call this before tree_order(). */
void tree_skip(struct tree_node *node, const char *reason) _nonnull_all_;
