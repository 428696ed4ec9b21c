/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Takes the storage of a tree down: each node in the moment that nothing holds it any more, many at a time. It
 * never unmounts anything, and waits for those who do. One event loop; what may block in the kernel is done in the
 * threads of a pool, and all else, the tree included, belongs to the thread that calls this. */

/* Prepares for taking down all nodes that are ours. `tree` comes from tree_order() and stays the caller's; it must
 * not be changed any more. No thread may be running yet: SIGCHLD, SIGTERM and SIGINT are blocked from now on.
 * Returns 0 or a negative errno. */
int teardown_init(struct teardown *teardown, struct tree *tree,
        const struct teardown_options *options) _nonnull_all_ _must_check_;

/* Comes back when all nodes are gone, or when nothing more can be achieved, having said in the log what there is
 * to say: see teardown/report.h. Returns 0 if all are gone; 1 if some are not; or a negative errno. */
int teardown_run(struct teardown *teardown) _nonnull_all_ _must_check_;

/* Leaves behind what hangs in the kernel, with the memory that it uses. One that was never begun may be all zeros. */
void teardown_done(struct teardown *teardown) _nonnull_all_;
#define _cleanup_teardown_ _cleanup_(teardown_done)

/* lvm2 notes in /run, which a soft reboot leaves as it is, which VGs have been autoactivated, so that no further event activates
 * them again. Has it forget that of the VGs of nodes that `concerned` says. */
void teardown_withdraw_claims(
        const struct tree *tree, bool (*concerned)(const struct tree_node *node)) _nonnull_all_;
