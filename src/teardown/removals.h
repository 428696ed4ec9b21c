/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Trying to remove nodes, again and again if need be. */

/* How often running removals are looked at. */
#define REMOVALS_CHECK_USEC (1 * USEC_PER_SEC)

/* Gives the pool what nothing holds any more, but to lvm2 first what may be monitored. Returns 0 or -ENOMEM. */
int removals_start(struct teardown *teardown) _nonnull_(1) _must_check_;

/* Gives it what lvm2 has unmonitored, or is not waited for any more, and what is to be repeated. Returns 0 or
 * -ENOMEM. */
int removals_resume(struct teardown *teardown) _nonnull_(1) _must_check_;

/* The pool is done with a removal, which is taken over. What something has open is to be repeated; if there is
 * another error, or nodes hold each other in a circle, the try has failed. */
void removals_finish(struct teardown *teardown, struct removal_job *job) _nonnull_(1, 2);

/* Gives up removals that take longer than the deadline. Each keeps its thread. Should it come to an end all the
 * same, that counts. Does so at most once in REMOVALS_CHECK_USEC. `now` is now_usec(). */
void removals_check_deadlines(struct teardown *teardown, uint64_t now) _nonnull_(1);
