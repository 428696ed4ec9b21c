/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Removes the storage of a tree: each node once nothing uses it, many at a time. It never unmounts; it follows systemd, which
 * does. There is one event loop. Calls that may block in the kernel run in a pool of threads; everything else, including the
 * tree, belongs to the calling thread. */

/* Prepares the removal of all nodes that are ours. The caller owns `tree`, has called tree_order(), and must not change it any
 * more. No thread may be running yet: SIGCHLD, SIGTERM and SIGINT are blocked from now on. Returns 0 or a negative errno. */
int teardown_init(struct teardown *teardown, struct tree *tree,
        const struct teardown_options *options) _nonnull_all_ _must_check_;

/* Returns when all nodes are removed, or no more can be, after logging the reports of teardown/report.h. Returns 0 if all are
 * removed; 1 if some are not; or a negative errno. */
int teardown_run(struct teardown *teardown) _nonnull_all_ _must_check_;

/* The next action of teardown at `now`, by its state alone. */
enum wait_verdict {
        WAIT_PROGRESS, /* waits for removals that are at work */
        WAIT_RELEASE,  /* waits: systemd may still stop a unit, or end a mount or a swap */
        WAIT_IN_USE,   /* retries nodes in use for a while, although no process can release them */
        WAIT_GIVE_UP,  /* ends: nothing was removed for too long */
        WAIT_END,      /* ends: nothing else can be removed */
};
enum wait_verdict wait_decide(const struct teardown *teardown, uint64_t now) _nonnull_all_;

/* Frees a teardown, which may be all zeros. Removals that hang in the kernel keep their memory. */
void teardown_done(struct teardown *teardown) _nonnull_all_;
#define _cleanup_teardown_ _cleanup_(teardown_done)

/* Removes lvm2's vgs_online entries of the VGs of nodes for which `concerned` returns true. Otherwise these VGs would not be
 * activated after a soft reboot, which keeps /run. */
void teardown_withdraw_claims(
        const struct tree *tree, bool (*concerned)(const struct tree_node *node)) _nonnull_all_;
