/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* dmeventd(8) is told by lvm2 to watch some LVs, and has to be told to stop before these are removed, or it would
 * see their end as a failure and act on it, by extending a thin pool for instance.
 *
 * At shutdown "vgchange --monitor n" does that for all LVs of some VGs; there is one process at a time, for all VGs that
 * turned out to need it while the one before was running. */

/* Returns 0 or -ENOMEM. */
int unmonitor_init(struct unmonitor *unmonitor) _nonnull_all_ _must_check_;

/* Whether the removal has to wait; if so, it is taken over, and goes to teardown.busy when it may be attempted. */
bool unmonitor_takes(struct unmonitor *unmonitor, struct removal *removal) _nonnull_all_;

/* Starts lvm2, if there is something to be asked for and no process is running. After one that takes longer than
 * 10 s nothing waits for lvm2 any more. To be called whenever something may have changed. Returns 0 or -ENOMEM. */
int unmonitor_step(struct teardown *teardown) _nonnull_all_ _must_check_;

/* When unmonitor_step() is to be called at the latest. */
uint64_t unmonitor_next_usec(const struct unmonitor *unmonitor) _nonnull_all_;

/* On a machine that goes on running a child process tells dmeventd itself, of those LVs only that are to go, and has it
 * monitor again what was monitored before and is left: when monitoring_resume() is called, or when this process has ended, in
 * whichever way. lvm2 is not needed for that, so no disk is read. */

/* Waits until dmeventd has been told, for at most 10 s. No thread may be running yet. Returns 0 and `*ret_fd` for
 * monitoring_resume(), or a negative errno. */
int monitoring_pause(const struct tree *tree, int *ret_fd) _nonnull_all_ _must_check_;

/* Waits for the child, for at most 10 s. Returns 0, or a negative errno after logging what may not be monitored as before. */
int monitoring_resume(int fd) _must_check_;
