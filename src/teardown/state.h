/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <limits.h>
#include <linux/dm-ioctl.h>

#include "lvm/command.h"
#include "timeline/timeline.h"
#include "tree/tree.h"

/* The state of a teardown, shared by teardown/teardown.h and its parts. */

/* Default number of removals at a time: 28 times as fast as one after another (500 devices on two CPUs). More are hardly faster. */
#define TEARDOWN_THREADS_DEFAULT 32

/* Teardown ends after this time without progress. It is longer than systemd's default timeout of an unmount (90 s), and than the
 * timeouts of removals and lvm2. The units' TimeoutStopSec= is longer. */
#define TEARDOWN_STALL_USEC (120 * USEC_PER_SEC)

/* The removal of one node, which may take several attempts. Times are those of now_usec(). */
struct removal {
        struct dm_list list; /* in the pool while at work, else teardown.busy or unmonitor.waiting */
        struct tree_node *node;

        /* Copies for the thread, since the tree may be freed while it hangs in the kernel. */
        enum tree_kind kind;
        dev_t number;
        char kernel_name[NAME_MAX + 1];
        char uuid[DM_UUID_LEN]; /* device-mapper's; "" for none, or one that the kernel does not accept */
        bool at_shutdown;       /* an open device may be removed when it is closed */

        bool blocked;   /* a node below it is in use, so it is not attempted */
        bool at_work;   /* queued for a thread, or in one */
        bool timed_out; /* the attempt exceeded the deadline; nothing waits for its thread */
        uint64_t started_usec,
                finished_usec; /* of this attempt; under the pool's lock while it is at work, as is */
        int result;            /* of it, a negative errno */

        uint64_t ready_usec; /* when the tree had no users of it any more; 0 before */
        uint64_t ended_usec; /* when it was removed, or the last attempt had failed */
        uint64_t next_usec;  /* the next attempt */
        unsigned int n_tries;
        unsigned int n_futile; /* attempts since no process could release it */
        int error;             /* of the last attempt, a negative errno */
};

struct teardown_options {
        size_t n_threads;       /* at most; 1 for one after another */
        uint64_t deadline_usec; /* for one removal, and for a multipath map without paths */
        uint64_t in_use_usec;   /* how long to retry a node in use when no process can release it */
        bool at_shutdown; /* systemd stops services and mounts at the same time, so nodes in use are retried as long as it does */
        int (*remove)(const struct removal *removal); /* for tests; NULL for kernel_remove() */
        /* kernel_count_opens(), or another one in tests: a node is removed only if all nodes below it that are to be removed have
         * no other users. NULL to remove each unused node, as at shutdown. */
        unsigned int (*count_opens)(const struct tree_node *node);
        struct timeline *timeline; /* gets a bar for each node; may be NULL */
};

/* Progress of one storage tree, a component of the tree. */
struct storage_tree {
        struct dm_list list;       /* in teardown.down, or in none */
        const char *name;          /* see tree_order() */
        struct tree_nodes members; /* nodes to remove */
        size_t n_gone;             /* number of removed members */
        size_t n_skipped;          /* number of skipped nodes */
        uint64_t first_usec;       /* when the first member was ready */
        uint64_t last_usec;        /* when the last one was removed */
};

/* Requests to dmeventd, see teardown/unmonitor.h. */
struct unmonitor {
        int fd;                 /* a socket to the child, or -EBADF */
        bool asks;              /* otherwise no LV is monitored, or dmeventd does not respond */
        struct dm_list waiting; /* removals that wait for dmeventd */
        uint64_t deadline_usec; /* of the answer for the first of them; USEC_INFINITY if it was not asked */
};

/* Queries of systemd's jobs, see teardown/systemd.h. */
struct stop_job_watch {
        struct job *job;     /* systemctl, while it runs */
        bool ask_order;      /* by its last answer stop jobs only wait; the next tells for what */
        uint64_t next_usec;  /* when to ask again, or while it is asked, since when; 0 if it was never asked */
        uint64_t idle_since; /* since when no process is about to release a device; 0 if one may be */
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
        size_t n_at_work;    /* removals in threads that have not timed out */
        struct dm_list busy; /* removals to attempt again, or first after `unmonitor` */
        struct dm_list down; /* removed storage trees that are not reported yet */
        bool interrupted;

        uint64_t started_usec;
        uint64_t progress_usec;     /* time of the last removal */
        size_t n_gone;              /* number of removed nodes then */
        uint64_t checked_usec;      /* when deadlines were checked last */
        uint64_t status_usec;       /* when the status was sent last */
        uint64_t multipath_usec;    /* when maps without paths were searched last */
        uint64_t mounts_usec;       /* when to read changed mounts; USEC_INFINITY for no change */
        uint64_t mounts_pause_usec; /* how long to wait for more changes before that */
        bool waiting_reported;      /* since the last removal */
};

/* Whether the node is a mount or a swap that systemd has to end before nodes below it can be removed. */
static inline bool teardown_awaits(const struct teardown *teardown, const struct tree_node *node)
{
        const struct storage_tree *tree = &teardown->trees[node->component];

        return tree_node_is_mount_or_swap(node) && node->state != TREE_GONE && !node->skip_reason &&
               tree->n_gone < tree->members.n;
}
