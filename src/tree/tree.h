/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/node.h"

/* Nodes that hold each other in a circle, so that there is no order among them: one after the other is tried. */
struct tree_cycle {
        struct tree_cycle *next;
        struct tree_nodes members; /* the newest devices first */

        /* For tree/schedule.h. */
        size_t n_holders; /* of all members: what is not gone and no member, and members not to be tried */
        size_t position;  /* the member to be tried next */
        size_t n_gone;    /* members that went since the first one was tried the last time */
};

/* The storage of a machine: block devices, mounts and swaps, and what holds what. An edge goes from a lower
 * node to an upper one, which has to go first: a disk and the LV on it, a device and its mount, a mount and the
 * one below its mount point, a mount and the loop device or swap whose file lies on it.
 *
 * Nothing here is safe for several threads at once: an executor has a lock of its own around every call. Unless
 * said otherwise, functions return 0 or a negative errno, -ENOMEM above all. */
struct tree {
        struct tree_nodes nodes;            /* in the order of `index` */
        struct dm_hash_table *numbers;      /* block devices by dev_t */
        struct dm_hash_table *kernel_names; /* by name in /sys/block */
        struct dm_hash_table *dm_names;     /* by device-mapper's name */
        struct dm_hash_table *mount_points; /* the mount that is on top at a mount point */
        struct dm_hash_table *mount_ids;    /* mounts by ID */
        struct dm_hash_table *swaps;        /* by path */
        size_t n_components;                /* by tree_order(), and so are the next two */
        char **names;                       /* of the storage trees, by tree_node.component */
        struct tree_cycle *cycles;          /* a list */
        bool scheduled;                     /* by tree_schedule(), and so are the rest */
        struct dm_list ready;               /* of tree_node.ready */
        size_t n_to_go, n_gone, n_failed;   /* of the nodes that are ours; `n_to_go` counts all */
};

int tree_new(struct tree **ret) _nonnull_(1) _must_check_;
struct tree *tree_free(struct tree *tree);
DEFINE_CLEANUP(struct tree *, tree_free)
#define _cleanup_tree_ _cleanup_(tree_freep)

/* Adds a node of that kind, with a copy of `name`, and without edges. `*ret` belongs to the tree. */
int tree_add_node(struct tree *tree, enum tree_kind kind, const char *name, struct tree_node **ret)
        _nonnull_(1, 3, 4) _must_check_;
/* A block device. Has it found by number and kernel name, as well. */
int tree_add_device(struct tree *tree, enum tree_kind kind, const char *kernel_name, dev_t number,
        struct tree_node **ret) _nonnull_(1, 3, 5) _must_check_;
/* Makes a block device one of device-mapper's. `uuid` and `target` may be "". */
int tree_set_dm(struct tree *tree, struct tree_node *node, const char *name, const char *uuid, const char *target)
        _nonnull_(1, 2, 3, 4, 5) _must_check_;

/* `upper` holds `lower`, from now on. That it does already, or that they are the same node, changes nothing. Before
 * tree_schedule(); after that, tree_hold() is for it. */
int tree_add_edge(struct tree_node *lower, struct tree_node *upper) _nonnull_(1, 2) _must_check_;

/* What is there by that number or name; NULL without it. */
struct tree_node *tree_find_number(const struct tree *tree, dev_t number) _nonnull_(1);
struct tree_node *tree_find_kernel_name(const struct tree *tree, const char *name) _nonnull_(1, 2);
/* By a path in /dev that the kernel gives: "/dev/dm-3", "/dev/cciss/c0d0", or "/dev/mapper/vg-lv". */
struct tree_node *tree_find_device_path(const struct tree *tree, const char *path) _nonnull_(1, 2);
/* The mount that a file with this absolute path lies on. */
struct tree_node *tree_find_mount_of(const struct tree *tree, const char *path) _nonnull_(1, 2);

/* Adds all LVs, with those of one VG behind each other. Returns 0 or -ENOMEM. */
int tree_find_lvs(const struct tree *tree, struct tree_nodes *ret) _nonnull_(1, 2) _must_check_;

/* Has a node stay, and all that is below it, with a copy of `reason`, to be read behind "left alone: ". What is
 * skipped already keeps its reason. Before tree_order(). */
int tree_skip(struct tree_node *node, const char *reason) _nonnull_(1, 2) _must_check_;
/* The same for one node, and for nothing below it; after everything that is skipped with what is below it. */
int tree_skip_node(struct tree_node *node, const char *reason) _nonnull_(1, 2) _must_check_;
