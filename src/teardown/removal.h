/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Removing nodes, each by a thread of its own as it may block for ever in the kernel, and again if need be. All
 * functions are for the one thread that has made the pool; only options.remove is called in other ones. */

/* How often running removals are looked at. */
#define REMOVALS_CHECK_USEC (1 * USEC_PER_SEC)

/* Makes the removals of all nodes that are to go, and a pool of threads, of which none is started yet. The event loop
 * calls removals_finish() when a removal has ended. Returns 0 or a negative errno. */
int removals_init(struct teardown *teardown) _nonnull_all_ _must_check_;

/* Takes over what the pool is done with. What something has open is to be attempted again; if there is another error,
 * or the nodes form a cycle, the attempt has failed. As long as removals wait for a thread, the pool may have a few that
 * were not announced yet, so that it is to be called from time to time in any case. */
void removals_finish(struct teardown *teardown) _nonnull_all_;

/* Gives the pool what nothing holds any more, but to lvm2 first what may be monitored, and what is to be attempted
 * again. Returns 0 or -ENOMEM. */
int removals_start(struct teardown *teardown) _nonnull_all_ _must_check_;

/* Gives up removals that take longer than the deadline. Each keeps its thread. Should it come to an end all the
 * same, that counts. Does so at most once in REMOVALS_CHECK_USEC. `now` is now_usec(). */
void removals_check_deadlines(struct teardown *teardown, uint64_t now) _nonnull_all_;

/* Whether there is any sense in the next attempt: a mount that has appeared meanwhile has to go first. In a cycle
 * that cannot be told. */
bool removal_is_possible(const struct removal *removal) _nonnull_all_;

/* Ends the threads as soon as they have returned from the kernel, and does not wait for that: what they are at is
 * left behind. */
void removals_done(struct teardown *teardown) _nonnull_all_;
