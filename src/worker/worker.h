/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* Makes a worker that holds the lock `running_fd` (taken over in any case) of the run directory `run_fd`
 * (likewise), takes what an earlier one left, and starts to listen to udev and to the socket `wakeup_fd` (not
 * taken over; < 0 if there is none). Returns 0 or a negative errno. */
int worker_new(int run_fd, int running_fd, int wakeup_fd, struct worker **ret) _must_check_;
struct worker *worker_free(struct worker *worker);
DEFINE_CLEANUP(struct worker *, worker_free)
#define _cleanup_worker_ _cleanup_(worker_freep)

/* Works until there has been nothing to do for a while. Returns 0 or the negative errno that made it impossible to
 * go on. */
int worker_run(struct worker *worker) _must_check_;
