/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/follow.h"
#include "teardown/removal.h"
#include "teardown/systemd.h"
#include "teardown/unmonitor.h"
#include "timeline/timeline.h"

/* All that a teardown knows, for teardown/teardown.h and its parts. */

/* As many as are removed at a time if nothing else is said: 28 times as fast as one after another (500 devices on
 * two CPUs), and not much is gained by more. */
#define TEARDOWN_THREADS_DEFAULT 32

/* With fewer devices than that one after another is as fast. */
#define TEARDOWN_PARALLEL_MIN 4

struct teardown_options {
        size_t n_threads;       /* at most; 1 for one after another */
        uint64_t deadline_usec; /* for one removal, and for a multipath map without paths */
        uint64_t stall_usec;    /* the longest time in which nothing happens, before it is given up */
        bool at_shutdown;       /* systemd stops services and mounts at the same time: what is in use is waited
                                  * for as long as it does */
        bool vgs_are_locked;    /* the caller has lvm2's locks of all VGs that are to go */
        int (*remove)(struct pool_job *job); /* removal_job_run() */
        struct timeline *account;            /* what has become of each node is added to it; may be NULL */
};

/* What becomes of one storage tree, a component of the tree. */
struct storage_tree {
        struct dm_list list;       /* teardown.down */
        const char *name;          /* see tree_order() */
        struct tree_nodes members; /* nodes that are to go */
        size_t n_skipped;          /* how many others could be removed */
        size_t n_gone;             /* of them */
        uint64_t first_usec;       /* when the first of them was ready */
        uint64_t last_usec;        /* when the last one was gone */
};

struct teardown {
        struct tree *tree;
        int root_fd;
        struct teardown_options options;
        struct storage_tree *trees; /* by tree_node.component */
        struct removal *removals;   /* by tree_node.index, of the nodes that there were at the beginning */
        size_t n_removals;

        sd_event *event;
        sd_event_source *timer_source, *done_source, *step_source;
        struct follow *follow;
        struct pool *pool;
        struct unmonitor unmonitor;
        struct stop_job_watch stop_jobs;
        struct unmount_retry unmount_retry;
        struct dm_list working; /* removals whose job is the pool's */
        struct dm_list busy;    /* removals that are to be repeated */
        struct dm_list down;    /* storage trees of which that is to be said */

        uint64_t started_usec;
        uint64_t progress_usec;  /* when something has gone the last time */
        uint64_t nobody_usec;    /* since when nobody is left who could let go of something */
        uint64_t checked_usec;   /* when deadlines were looked at the last time */
        uint64_t status_usec;    /* when systemd was told how far it is the last time */
        uint64_t multipath_usec; /* when maps without paths were looked for the last time */
        bool waiting_reported;   /* since something has gone the last time */
};

/* Whether the node is a mount or a swap that has to go, by others' hands, before what lies below it can. */
bool teardown_awaits(const struct teardown *teardown, const struct tree_node *node) _nonnull_(1, 2);

/* Something has gone. */
void teardown_note_progress(struct teardown *teardown) _nonnull_(1);
