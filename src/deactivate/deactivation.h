/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "deactivate/target.h"
#include "lvm/online.h"
#include "view/sources.h"

/* A run of "headgate deactivate": its arguments, the nodes of the storage tree that these select, and the locks of their VGs.
 * Functions return 0 or a negative errno unless they say otherwise. An error of a single name or device is logged and does
 * not end the run. */
struct deactivation {
        struct sources sources; /* with the configuration */
        struct target *targets; /* NULL for all nodes that are not in use */
        size_t n_targets;
        bool serial;           /* remove one device after another */
        bool no_udev_sync;     /* do not wait until udev has removed its links */
        uint64_t timeout_usec; /* how long to try what is in use */
        struct vg_locks locks;
        struct tree *tree;
        bool something_left; /* a node or name that was asked for is still active, or unknown */
};

/* Parses `names`, which are kept, not copied; without any, all nodes that are not in use are selected (--all). The caller has set
 * the options. */
int deactivation_init(struct deactivation *deactivation, char *names[], size_t n) _nonnull_all_ _must_check_;
void deactivation_done(struct deactivation *deactivation) _nonnull_all_;
#define _cleanup_deactivation_ _cleanup_(deactivation_done)

/* Selects the nodes without locks, and skips those in use. Returns 1 and an ordered tree, in which tree_node_is_ours() tells
 * the nodes that would be removed; or 0 if there is none. */
int deactivation_preview(struct deactivation *deactivation) _nonnull_all_ _must_check_;

/* Selects the nodes with lvm2's locks, for which it waits a few seconds, removes them, and waits for udev. */
int deactivation_run(struct deactivation *deactivation) _nonnull_all_ _must_check_;
