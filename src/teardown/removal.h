/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/pool.h"
#include "tree/tree.h"

/* One try to remove a node, as a job for the pool: it knows all that it needs to know of the node, so that one
 * that hangs in the kernel can be left behind. */
struct removal_job {
        struct pool_job pool_job; /* whose result is that of removal_job_run() */
        struct tree_node *node;   /* for whoever takes the job back */
        bool abandoned;           /* and not to be taken back any more; the caller's */
        bool at_shutdown;         /* a device that is in use may go when it is closed; the caller's */
        enum tree_kind kind;
        dev_t number;
        char *kernel_name;
        char *uuid; /* device-mapper's, "" without one; NULL for other devices */
};

/* Makes one for a node of which tree_kind_is_removable(). `*ret` is to be freed with removal_job_free(). Returns 0 or
 * -ENOMEM. */
int removal_job_new(struct tree_node *node, struct removal_job **ret) _nonnull_(1, 2) _must_check_;
struct removal_job *removal_job_free(struct removal_job *job);
DEFINE_CLEANUP(struct removal_job *, removal_job_free)
#define _cleanup_removal_job_ _cleanup_(removal_job_freep)

/* Removes the device of a struct removal_job of the running kernel, and does not come back before it is gone:
 *
 *  - one of device-mapper by DM_DEV_REMOVE (linux/dm-ioctl.h), by its UUID if it has one, else by its number. The
 *    kernel announces it to udev; there is no cookie, since nobody waits for udev
 *  - an md array by writing "clear" to md/array_state (the kernel's Documentation/admin-guide/md.rst), which
 *    unlike the ioctl needs no opened device, and so is not in its own way
 *  - a loop device by LOOP_CLR_FD (linux/loop.h). One that is in use keeps its file, but for at_shutdown
 *
 * Safe in any thread. Returns 0, also if it was gone already; -EBUSY while something has it open; or another
 * negative errno. */
int removal_job_run(struct pool_job *pool_job) _nonnull_(1);

/* The removal of a node, which may take several tries, and when it is its turn again. Times are those of now_usec(). */
struct removal {
        struct dm_list list; /* one of the teardown's; or none, before the first try and when it is over */
        struct tree_node *node;
        struct removal_job *job; /* while it is the pool's */
        uint64_t ready_usec;     /* when nothing held it any more, as far as the tree says; 0 before */
        uint64_t ended_usec;     /* when it was gone, or the last try had failed */
        uint64_t next_usec;      /* the next try */
        unsigned int n_tries;
        unsigned int n_in_vain; /* since nobody was left who could let go of it */
        int error;              /* of the last try, a negative errno */
};

/* From one time to another; 0 if the first is not known. */
static inline uint64_t usec_between(uint64_t from, uint64_t to)
{
        return from > 0 && to > from ? to - from : 0;
}

/* Whether there is any sense in the next try: a mount that has come meanwhile has to go first. Among nodes that
 * hold each other in a circle that cannot be told. */
bool removal_is_possible(const struct removal *removal) _nonnull_(1);
