/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <sys/types.h>

#include "shared/macro.h"
#include "shared/names.h"

/* What a node of the storage tree is. An LV that other LVs are made of, or that lvm2 puts between them, has a
 * kind of its own, and so has what the user sees. */
enum tree_kind {
        TREE_DISK, /* a block device that is nothing of the below */
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
        TREE_LV_ORIGIN, /* of snapshots */
        TREE_LV_CACHE,
        TREE_LV_WRITECACHE,
        TREE_LV_VDO,
        TREE_LV_INTEGRITY,
        TREE_LV_OTHER,       /* another target, or none */
        TREE_LV_COW,         /* what a snapshot has copied */
        TREE_LV_ORIGIN_DATA, /* what an origin would be without snapshots */
        TREE_LV_RAID_LEG,    /* data or metadata of one leg of a raid or mirror LV */
        TREE_LV_POOL_PART,   /* data or metadata of a thin or VDO pool */
        TREE_LV_CACHE_PART,  /* origin, data or metadata of a cached LV */
        TREE_LV_INTEGRITY_PART,
};

/* In one word, as it is printed, "raid-leg". */
const char *tree_kind_to_string(enum tree_kind kind);

/* Whether teardown removes such nodes: device-mapper's, md arrays and loop devices. Of the others, mounts and
 * swaps are systemd's to end, partitions go with their disk, and disks stay. */
static inline bool tree_kind_is_removable(enum tree_kind kind)
{
        return kind == TREE_MD || kind == TREE_LOOP || kind >= TREE_MULTIPATH;
}

/* What a device-mapper device is, by its name, UUID and the type of its table's first target; the latter two
 * may be "". `vg`, the VG's name if it is an LV, is NULL otherwise, and `lv` then too. */
enum tree_kind tree_kind_of_dm(const char *uuid, const char *target, const char *lv);

/* How far teardown is with a node. */
enum tree_state {
        TREE_HELD,   /* something else has to go first, or it is not ours to remove */
        TREE_READY,  /* nothing holds it, in the queue of ready ones */
        TREE_TAKEN,  /* handed out by tree_next_ready() */
        TREE_GONE,   /* no longer there; the node stays in memory as long as the tree */
        TREE_FAILED, /* could not be removed; neither can what is below it */
};

/* Of an LV's UUID, what is the same for all LVs of its VG: "LVM-" and the VG's identifier. */
#define TREE_VG_UUID_LENGTH (strlen(LVM_UUID_PREFIX) + LVM_ID_LENGTH)

#define TREE_SIZE_UNKNOWN UINT64_MAX

struct tree_node;
struct tree_cycle;
struct removal;

struct tree_nodes {
        struct tree_node **nodes;
        size_t n;
};

/* Each node of a list that does not grow meanwhile. */
#define FOREACH_NODE(node, list)                                                                                  \
        for (struct tree_node **node##_at = (list)->nodes, *node;                                                 \
                node##_at != (list)->nodes + (list)->n && ((node = *node##_at), true); node##_at++)

/* Append a node, or all of another list. Return 0 or -ENOMEM. */
int tree_nodes_add(struct tree_nodes *nodes, struct tree_node *node) _nonnull_all_ _must_check_;
int tree_nodes_add_all(struct tree_nodes *nodes, const struct tree_nodes *more) _nonnull_all_ _must_check_;
bool tree_nodes_have(const struct tree_nodes *nodes, const struct tree_node *node) _nonnull_all_;
void tree_nodes_done(struct tree_nodes *nodes) _nonnull_all_;
#define _cleanup_tree_nodes_ _cleanup_(tree_nodes_done)

/* All strings are the tree's, as the kernel has them: there may be any byte in them. */
struct tree_node {
        enum tree_kind kind;
        const char *name; /* as people know it: device-mapper's name, "sda1", a mount point, the path of a swap */
        const char *kernel_name; /* "dm-3", as in /sys/block; NULL for mounts and swaps */
        const char *uuid;        /* device-mapper's; NULL for others */
        const char *vg;          /* the name of the VG that it is an LV of; NULL for others */
        const char *lv, *layer;  /* then the parts of its name behind that, "" where it has none */
        const char *file;        /* that a loop device has its data from; NULL for others */
        const char *layers;      /* the options of an overlay; NULL for others */
        dev_t number;            /* of a block device; of a mount: what stat() says of its files */
        uint64_t size;           /* of a block device, in bytes, or TREE_SIZE_UNKNOWN */
        uint64_t mount_id;       /* of a mount: as in mountinfo */
        bool is_pv;              /* an LV of another VG lies on it */
        bool is_virtual;         /* of a disk: there is no hardware behind it */
        bool suspended;          /* I/O to it waits */
        unsigned int n_opens; /* how often it is open, as device-mapper counts; 0 as long as it is not asked for */
        bool read_only;       /* of device-mapper's devices only */
        bool has_lost;        /* something that it lies on has gone, and is no node */
        bool has_mdmon;       /* a program keeps the metadata of this md array: "external" in the kernel's terms */
        bool is_nfs;          /* or another file system of the network's */
        bool on_network;      /* by tree_find_network() */
        bool selected; /* to be removed by "headgate deactivate", unless it is skipped; see teardown/scope.h */
        bool marked;   /* for whoever walks through the tree just now */

        struct tree_nodes uppers; /* what holds it */
        struct tree_nodes lowers; /* what it holds */
        struct dm_list queue;     /* see tree_queue_add() */

        /* Why it stays, together with all that is below it; NULL if it does not. */
        const char *skip_reason;

        /* By tree_order(). */
        size_t index;             /* from 0, of all nodes ever added */
        size_t component;         /* nodes of one storage tree have the same number */
        size_t step;              /* 0 for what nothing holds, else one more than the last of its holders */
        struct tree_cycle *cycle; /* that it is in, or NULL */
        bool is_stranded;         /* it, or something that it lies on, lies on a device that has gone */

        enum tree_state state;   /* for the executor, see tree/order.h */
        struct removal *removal; /* teardown's, of a node that is to go */
        bool unmount_retried;    /* teardown has had systemd unmount it once more */
        size_t seen_at;          /* tree.n_reads of the last tree_read_mounts() that found it */
};

/* Whether the node is to be removed: of such a kind, and not skipped. */
static inline bool tree_node_is_ours(const struct tree_node *node)
{
        return tree_kind_is_removable(node->kind) && !node->skip_reason;
}

/* Whether it is a mount or a swap, which systemd ends, and not headgate. */
static inline bool tree_node_is_mount_or_swap(const struct tree_node *node)
{
        return node->kind == TREE_MOUNT || node->kind == TREE_SWAP;
}

/* Whether both are LVs of one VG: by its identifier, as there can be two of the same name. */
static inline bool tree_are_in_one_vg(const struct tree_node *a, const struct tree_node *b)
{
        return a->vg && b->vg && strncmp(a->uuid, b->uuid, TREE_VG_UUID_LENGTH) == 0;
}

/* Whether one of these nodes, of which the first lies below the other, is a snapshot, and the other one its origin. */
static inline bool tree_is_snapshot_of(const struct tree_node *snapshot, const struct tree_node *origin)
{
        return origin->kind == TREE_LV_ORIGIN && snapshot->kind == TREE_LV_SNAPSHOT;
}

/* Whether somebody else than what lies on it has it open, by `n_opens`: a process, another mount namespace, the kernel. */
bool tree_node_has_strangers(const struct tree_node *node) _nonnull_all_;

/* Whether it is an LV that is only there for others of its VG, which lvm2 activates and deactivates with them: a
 * component of one, or a layer between them. */
bool tree_lv_is_hidden(const struct tree_node *node) _nonnull_all_;

/* Nodes that hold each other in a circle, so that there is no order among them: one after the other is tried. */
struct tree_cycle {
        struct tree_cycle *next;
        struct tree_nodes members; /* the newest devices first */

        /* For tree/order.h. */
        size_t position; /* the member to be tried next */
        size_t n_gone;   /* members that went since the first one was tried the last time */
};

/* The storage of a machine: block devices, mounts and swaps, and what holds what. An edge goes from a lower
 * node to an upper one, which has to go first: a disk and the LV on it, a device and its mount, a mount and the
 * one below its mount point, a mount and the loop device or swap whose file lies on it.
 *
 * Without memory for a node, an edge or a string a tree is not complete, and `error` says so from then on. Whoever has
 * added something looks at it once, at the end, as the functions that return it do.
 *
 * Nothing here is safe for several threads at once: an executor has a lock of its own around every call. */
struct tree {
        int root_fd; /* where it is read from: the caller's, and open as long as anything is read */
        int error;   /* 0 or -ENOMEM */
        struct dm_pool *memory;
        struct tree_nodes nodes;            /* in the order of `index` */
        struct dm_hash_table *numbers;      /* block devices by dev_t */
        struct dm_hash_table *kernel_names; /* by name in /sys/block */
        struct dm_hash_table *dm_names;     /* by device-mapper's name */
        struct dm_hash_table *vgs;          /* the first LV of each VG, by TREE_VG_UUID_LENGTH of its UUID */
        struct dm_hash_table *mount_points; /* the mount that is on top at a mount point */
        struct dm_hash_table *mount_ids;    /* mounts by ID */
        size_t n_reads;                     /* how often mounts were read */
        size_t n_components;                /* by tree_order(), and so are the next two */
        const char **names;                 /* of the storage trees, by tree_node.component */
        struct tree_cycle *cycles;          /* a list */
        bool scheduled;                     /* by tree_schedule(), and so are the rest */
        struct dm_list ready;               /* a queue */
        size_t n_to_go, n_gone, n_failed;   /* of the nodes that are ours; `n_to_go` counts all */
};

/* Keeps the error of what was added, if it is one. */
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

/* Adds a node of that kind, with a copy of `name`, and without edges. Returns the node, which is the tree's, or NULL without
 * memory. */
struct tree_node *tree_add_node(struct tree *tree, enum tree_kind kind, const char *name) _nonnull_all_;
/* A block device. Has it found by number and kernel name, as well. */
struct tree_node *tree_add_device(
        struct tree *tree, enum tree_kind kind, const char *kernel_name, dev_t number) _nonnull_all_;
/* Makes a block device one of device-mapper's. `uuid` and `target` may be "". */
void tree_set_dm(struct tree *tree, struct tree_node *node, const char *name, const char *uuid,
        const char *target) _nonnull_all_;

/* `upper` holds `lower`, from now on. That it does already, that they are the same node, or that one of them is NULL, changes
 * nothing. */
void tree_hold(struct tree *tree, struct tree_node *lower, struct tree_node *upper) _nonnull_(1);

/* What is there by that number or name; NULL without it. */
struct tree_node *tree_find_number(const struct tree *tree, dev_t number) _nonnull_all_;
struct tree_node *tree_find_kernel_name(const struct tree *tree, const char *name) _nonnull_all_;
/* By a path in /dev that the kernel gives: "/dev/dm-3", "/dev/cciss/c0d0", or "/dev/mapper/vg-lv". */
struct tree_node *tree_find_device_path(const struct tree *tree, const char *path) _nonnull_all_;
/* The mount that a file with this absolute path lies on. */
struct tree_node *tree_find_mount_of(const struct tree *tree, const char *path) _nonnull_all_;
/* What a swap or the data of a loop device lies on by its path: the device that it is, or the mount. */
struct tree_node *tree_find_below(const struct tree *tree, const char *path) _nonnull_all_;
/* The first LV of the VG of an LV. */
struct tree_node *tree_find_vg(const struct tree *tree, const struct tree_node *lv) _nonnull_all_;

/* A queue of nodes: where a walk through the tree has still to go, or what is ready to be removed. A node is in one queue at
 * most, and adding it once more changes nothing. Starts as DM_LIST_INIT() makes it. */
void tree_queue_add(struct dm_list *queue, struct tree_node *node) _nonnull_all_;
/* Takes the first node out; NULL if there is none. */
struct tree_node *tree_queue_take(struct dm_list *queue) _nonnull_all_;

/* Marks all that lies on what is marked, however indirectly. */
void tree_mark_above(struct tree *tree) _nonnull_all_;
void tree_clear_marks(struct tree *tree) _nonnull_all_;

/* Has a node stay, and all that is below it, because of `reason`, which is kept and is to be read behind "left alone: ". What
 * is skipped already keeps its reason. Before tree_order(). */
void tree_skip(struct tree_node *node, const char *reason) _nonnull_all_;
