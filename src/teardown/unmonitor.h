/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* lvm2 has dmeventd(8) monitor some LVs. dmeventd has to stop before these are removed. Otherwise it would treat the removal as
 * a failure and react, by extending a thin pool for instance.
 *
 * At shutdown, "vgchange --monitor n" does this for all LVs of some VGs. One process runs at a time, for all VGs that were
 * queued while the last one was running. */

void unmonitor_init(struct unmonitor *unmonitor) _nonnull_all_;

/* Takes the removal if it has to wait, and returns whether it does. It moves to teardown.busy when it may be attempted. */
bool unmonitor_takes(struct teardown *teardown, struct removal *removal) _nonnull_all_;

/* Starts lvm2 if VGs are queued and no process is running. After a process of more than 10 s, removals do not wait for lvm2 any
 * more. Call this after each change. Returns 0 or -ENOMEM. */
int unmonitor_step(struct teardown *teardown) _nonnull_all_ _must_check_;

/* When to call unmonitor_step() at the latest. */
uint64_t unmonitor_next_usec(const struct unmonitor *unmonitor) _nonnull_all_;

/* On a running machine, a child process tells dmeventd to stop monitoring only the LVs to remove. It has LVs monitored again that
 * are left, when monitoring_resume() is called, or when this process has ended or was killed. It does not need lvm2, so no disk
 * is read. */

/* Waits until dmeventd has stopped, for at most 10 s. No thread may be running yet. Returns 0 and `*ret_fd` for
 * monitoring_resume(), or a negative errno. */
int monitoring_pause(const struct tree *tree, int *ret_fd) _nonnull_all_ _must_check_;

/* Waits for the child, for at most 10 s. Returns 0, or a negative errno after logging LVs that may not be monitored as before. */
int monitoring_resume(int fd) _must_check_;
