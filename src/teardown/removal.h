/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/pool.h"
#include "tree/tree.h"

/* The removal of one node, as a job for the pool: it knows all that it needs to know of the node, so that one
 * that hangs in the kernel can be left behind. */
struct removal {
        struct pool_job job;    /* whose result is that of removal_run() */
        struct tree_node *node; /* for whoever takes the job back */
        bool abandoned;         /* and not to be taken back any more; the caller's */
        bool at_shutdown;       /* a device that is in use may go when it is closed; the caller's */
        enum tree_kind kind;
        dev_t number;
        char *kernel_name;
        char *uuid; /* device-mapper's, "" without one; NULL for other devices */
};

/* Makes one for a node of which tree_kind_is_removable(). `*ret` is to be freed with removal_free(). Returns 0 or
 * -ENOMEM. */
int removal_new(struct tree_node *node, struct removal **ret) _nonnull_(1, 2) _must_check_;
struct removal *removal_free(struct removal *removal);
DEFINE_CLEANUP(struct removal *, removal_free)
#define _cleanup_removal_ _cleanup_(removal_freep)

/* Removes the device of a struct removal of the running kernel, and does not come back before it is gone:
 *
 *  - one of device-mapper by DM_DEV_REMOVE (linux/dm-ioctl.h), by its UUID if it has one, else by its number. The
 *    kernel announces it to udev; there is no cookie, since nobody waits for udev
 *  - an md array by writing "clear" to md/array_state (the kernel's Documentation/admin-guide/md.rst), which
 *    unlike the ioctl needs no opened device, and so is not in its own way
 *  - a loop device by LOOP_CLR_FD (linux/loop.h). One that is in use keeps its file, but for at_shutdown
 *
 * Safe in any thread. Returns 0, also if it was gone already; -EBUSY while something has it open; or another
 * negative errno. */
int removal_run(struct pool_job *job) _nonnull_(1);
