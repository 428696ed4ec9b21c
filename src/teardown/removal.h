/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Removes nodes, each in a thread of its own, since it may block forever in the kernel, and retries. Only the thread that made
 * the pool calls these functions; other threads call only options.remove. */

/* How often running removals are checked. */
#define REMOVALS_CHECK_USEC (1 * USEC_PER_SEC)

/* Makes the removals of all nodes to remove, and a pool of threads, without starting any. The event loop calls removals_finish()
 * when a removal has ended. Returns 0 or a negative errno. */
int removals_init(struct teardown *teardown) _nonnull_all_ _must_check_;

/* Takes finished removals from the pool. A device that is open is queued for another attempt. With another error, or in a cycle,
 * the attempt has failed. While removals are queued, the pool does not announce each one, so call this from time to time, too. */
void removals_finish(struct teardown *teardown) _nonnull_all_;

/* Queues ready nodes and attempts due at `now` in the pool. LVs that may be monitored wait for dmeventd first. */
void removals_start(struct teardown *teardown, uint64_t now) _nonnull_all_;

/* Abandons removals that take longer than the deadline. Each keeps its thread, and still counts if it succeeds later. Checks at
 * most once in REMOVALS_CHECK_USEC. */
void removals_check_deadlines(struct teardown *teardown, uint64_t now) _nonnull_all_;

/* Ends the threads when they return from the kernel, without waiting for that. Their removals are abandoned. */
void removals_done(struct teardown *teardown) _nonnull_all_;
