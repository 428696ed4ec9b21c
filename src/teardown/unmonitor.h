/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/command.h"
#include "teardown/removal.h"

/* dmeventd(8) is told by lvm2 to watch some LVs, and has to be told to stop before these are removed, or it would
 * see their end as a failure and act on it. "vgchange --monitor n" does that for all LVs of some VGs; there is one
 * process at a time, for all VGs that have come up for it while the one before was running. */
struct unmonitor {
        sd_event *event;
        bool dmeventd_runs;        /* otherwise nothing is monitored, or cannot be changed */
        bool vgs_are_locked;       /* by the caller, so that lvm2 must not wait for their locks */
        struct dm_hash_table *vgs; /* by name, those that have been asked for */
        struct dm_list waiting;    /* of removal.list, whose VGs are to be unmonitored next */
        struct dm_list asked;      /* those that wait for `job` */
        struct dm_list released;   /* those that may be removed */
        struct job *job;
        uint64_t deadline_usec; /* of `job` */
        int (*on_released)(void *userdata);
        void *userdata;
};

/* `on_released` is called from the event loop when removals were put on `released`. Returns 0 or -ENOMEM. */
int unmonitor_init(struct unmonitor *unmonitor, sd_event *event, int (*on_released)(void *userdata),
        void *userdata) _nonnull_(1, 2, 3) _must_check_;

/* Whether the removal has to wait; if so, it is taken over, and comes back on `released`. */
bool unmonitor_takes(struct unmonitor *unmonitor, struct removal *removal) _nonnull_(1, 2);

/* Starts lvm2, if there is something to be asked for and no process is running. After one that takes longer than
 * 10 s nothing waits for lvm2 any more. To be called whenever something may have changed. Returns 0 or -ENOMEM. */
int unmonitor_step(struct unmonitor *unmonitor) _nonnull_(1) _must_check_;

/* Whether removals wait. */
bool unmonitor_is_busy(const struct unmonitor *unmonitor) _nonnull_(1);

/* When unmonitor_step() is to be called at the latest. */
uint64_t unmonitor_next_usec(const struct unmonitor *unmonitor) _nonnull_(1);

/* On a machine that goes on running: has lvm2 monitor again what is left of the VGs that have nodes in the tree
 * that are not gone. Waits for the process, for at most 10 s. Returns 0 or a negative errno; -ETIMEDOUT also if
 * the process that was to stop the monitoring still runs. Once, at the end. */
int unmonitor_undo(struct unmonitor *unmonitor, const struct tree *tree) _nonnull_(1, 2) _must_check_;

void unmonitor_done(struct unmonitor *unmonitor) _nonnull_(1);
