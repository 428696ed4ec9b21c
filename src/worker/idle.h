/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* What the worker does with nothing to do: it stays for a while, and leaves without losing
 * a request. */

/* Whether there is anything to be done, or to be waited for but PVs. */
bool idle_has_work(const struct worker *worker);

/* Says that the worker listens to udev, so that no program need run for a device. Returns 0 or a negative
 * errno. */
int idle_listen(struct worker *worker);

/* For a worker that was about to leave: there is something to do after all. Likewise. */
int idle_stay(struct worker *worker);

/* To be called in each step that finds nothing to do. Returns 1 if the worker has left: it no longer holds
 * "running", and is to end. 0 if it stays. Or a negative errno. */
int idle_rest(struct worker *worker, const struct gather_phase *phase);
