/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <limits.h>
#include <linux/dm-ioctl.h>

#include "lvm/command.h"
#include "timeline/timeline.h"
#include "tree/tree.h"

/* All that a teardown knows, for teardown/teardown.h and its parts. */

/* As many as are removed at a time if nothing else is said: 28 times as fast as one after another (500 devices on
 * two CPUs), and not much is gained by more. */
#define TEARDOWN_THREADS_DEFAULT 32

/* With fewer devices than that one after another is as fast. */
#define TEARDOWN_PARALLEL_MIN 4

/* The longest time without anything happening, before it is given up: longer than systemd by default gives an unmount (90 s), and
 * than removals and lvm2 have. The units' TimeoutStopSec= is longer than that. */
#define TEARDOWN_STALL_USEC (120 * USEC_PER_SEC)

/* The removal of one node, which may take several attempts. Times are those of now_usec(). */
struct removal {
        struct dm_list list; /* the pool's while it is at work, else teardown.busy, unmonitor.waiting or */
                             /* storage_tree.removed */
        struct tree_node *node;

        /* What a thread knows of the node, since the tree may be freed while it hangs in the kernel. */
        enum tree_kind kind;
        dev_t number;
        char kernel_name[NAME_MAX + 1];
        char uuid[DM_UUID_LEN]; /* device-mapper's; "" without one, or one that the kernel takes */
        bool at_shutdown;       /* a device that is in use may go when it is closed */

        bool blocked;   /* something below it is in use, so it is not attempted */
        bool at_work;   /* a thread has it, or will have it */
        bool timed_out; /* the attempt took longer than the deadline, and its thread is not waited for */
        uint64_t started_usec,
                finished_usec; /* of this attempt; under the pool's lock while it is at work, as is */
        int result;            /* of it, a negative errno */

        uint64_t ready_usec; /* when nothing held it any more, as far as the tree says; 0 before */
        uint64_t ended_usec; /* when it was removed, or the last attempt had failed */
        uint64_t next_usec;  /* the next attempt */
        unsigned int n_tries;
        unsigned int n_futile; /* since nothing was left that could release it */
        int error;             /* of the last attempt, a negative errno */
};

struct teardown_options {
        size_t n_threads;       /* at most; 1 for one after another */
        uint64_t deadline_usec; /* for one removal, and for a multipath map without paths */
        uint64_t in_use_usec;   /* how long what is in use is tried when nothing is left that could release it */
        bool at_shutdown;       /* systemd stops services and mounts at the same time: what is in use is waited
                                  * for as long as it does */
        int (*remove)(const struct removal *removal); /* NULL for kernel_remove(), which it is but in tests */
        /* kernel_count_opens(), but in tests: nothing goes before all that is below it and is to go is known to be
         * free. NULL if each device that is free is to go, as at shutdown. */
        unsigned int (*count_opens)(const struct tree_node *node);
        struct timeline *timeline; /* what has become of each node is added to it; may be NULL */
};

/* What becomes of one storage tree, a component of the tree. */
struct storage_tree {
        struct dm_list list;       /* teardown.down, or no list */
        const char *name;          /* see tree_order() */
        struct tree_nodes members; /* nodes that are to go */
        struct dm_list removed;    /* removals of members, in the order of their ends */
        size_t n_gone;             /* how many these are */
        size_t n_skipped;          /* how many others could be removed */
        uint64_t first_usec;       /* when the first member was ready */
        uint64_t last_usec;        /* when the last one was removed */
};

/* VGs that lvm2 is to stop monitoring at shutdown, see teardown/unmonitor.h. */
struct unmonitor {
        bool dmeventd_runs;        /* otherwise nothing is monitored, or cannot be changed */
        struct dm_hash_table *vgs; /* by name, those that lvm2 has been told of */
        struct dm_list waiting;    /* removals that wait until it has done so */
        struct job *job;
};

/* What systemd is asked, see teardown/systemd.h. */
struct stop_job_watch {
        struct job *job;     /* systemctl, while it runs */
        bool nothing_stops;  /* systemd stops no unit any more, so what is in use stays in use */
        uint64_t next_usec;  /* when to ask again; 0 if it was never asked */
        uint64_t pause_usec; /* between questions, longer and longer */
};

struct teardown {
        struct tree *tree;
        struct teardown_options options;
        struct storage_tree *trees; /* by tree_node.component */

        sd_event *event;
        int mounts_fd, swaps_fd;
        struct pool *pool;
        struct unmonitor unmonitor;
        struct stop_job_watch stop_jobs;
        size_t n_at_work;    /* removals that a thread has, and that have not timed out */
        struct dm_list busy; /* removals to be attempted again, or for the first time after `unmonitor` */
        struct dm_list down; /* storage trees that are down, and not reported yet */
        bool interrupted;

        uint64_t started_usec;
        uint64_t progress_usec;     /* when something has gone the last time */
        size_t n_gone;              /* nodes that had gone then */
        uint64_t no_releaser_since; /* since when nothing is left that could release a device; 0 if something is */
        uint64_t checked_usec;      /* when deadlines were looked at the last time */
        uint64_t status_usec;       /* when systemd was told how far it is the last time */
        uint64_t multipath_usec;    /* when maps without paths were looked for the last time */
        uint64_t mounts_usec;       /* when to read the mounts that have changed; USEC_INFINITY if none have */
        uint64_t mounts_pause_usec; /* how long to wait for more changes before that */
        bool waiting_reported;      /* since something has gone the last time */
};

/* Whether the node is a mount or a swap that has to go, by others' hands, before what lies below it can. */
static inline bool teardown_awaits(const struct teardown *teardown, const struct tree_node *node)
{
        const struct storage_tree *tree = &teardown->trees[node->component];

        return tree_node_is_mount_or_swap(node) && node->state != TREE_GONE && !node->skip_reason &&
               tree->n_gone < tree->members.n;
}
