/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* lvm2 has dmeventd(8) monitor some LVs. dmeventd has to stop before these are removed. Otherwise it would treat the removal as
 * a failure and react, by extending a thin pool for instance.
 *
 * A child process asks dmeventd, because libdevmapper-event may block. It asks for one LV at a time, when the LV is ready: a thin
 * pool is extended as long as something may be written to it. This needs no lvm process, so no disk is read.
 *
 * On a running machine, the child has LVs monitored again that are left, also if this process was killed. At shutdown,
 * lvm2-monitor.service ends the monitoring of these. */

/* Starts the child if dmeventd runs and may monitor a node to remove. No thread may be running yet. Returns 0 or a negative
 * errno. */
int unmonitor_init(struct teardown *teardown) _nonnull_all_ _must_check_;

/* Takes the removal if it has to wait, and returns whether it does. It moves to teardown.busy when it may be attempted. */
bool unmonitor_takes(struct teardown *teardown, struct removal *removal) _nonnull_all_;

/* Asks for the next LV if dmeventd has answered. If an answer takes more than 10 s, no removal waits any more. Call this after
 * each change, and at unmonitor.deadline_usec. */
void unmonitor_step(struct teardown *teardown, uint64_t now) _nonnull_all_;

/* On a running machine, waits until LVs that are left are monitored again, for at most 10 s. Returns 0, or -EIO after logging LVs
 * that may not be monitored as before. */
int unmonitor_end(const struct teardown *teardown) _nonnull_all_ _must_check_;
