/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "shared/util.h"
#include "tree/tree.h"

/* Users of a device or a mount, for messages about nodes that cannot be removed. */

/* Of further users, only the number is kept. */
#define USERS_KEPT_MAX 5U

/* A device, a mount or both, whose users are searched, and the result. */
struct usage_query {
        dev_t number;            /* of a block device; 0 for none */
        const char *mount_point; /* in our mount namespace; NULL for none */
        bool commands;           /* adds the command that ends each use, " (systemctl stop cat.service)" */

        struct strv users; /* the first by PID, printable: "process 123 (cat) has /srv/a open" */
        size_t n_users;    /* number of all users */
        pid_t last;        /* the one that was added last */
};

/* Searches all processes in /proc (proc(5)) once for users of these, and adds to the users of each:
 *
 *  - processes that have the device open.
 *  - of each other mount namespace in which it is mounted, the process with the lowest PID. Mounts that end with ours by
 *    propagation do not count.
 *  - processes with an open file on or below the mount point, or with their working directory, program or root there. Paths are
 *    the kernel's, since a hanging file system would block other calls.
 *
 * Kernel threads and the calling process do not count. Processes that start or end meanwhile may be missing. These are not
 * found: files that are only mapped, since their list cannot be read of a hanging process; files of single threads; and
 * namespaces without a process.
 *
 * Never blocks on a device or a file system. Returns 0 or a negative errno; some users may be there even then. */
int users_find(struct usage_query *queries, size_t n) _nonnull_all_ _must_check_;

/* All users in one line of printable text: "process 123 (cat) has it open, process 456 (bash) has its working directory at
 * /srv/a, and 3 more". Returns a string to be freed by the caller; "" for none; NULL without memory. */
char *users_describe(const struct usage_query *query) _nonnull_all_ _must_check_;

/* "vg0-lv (dm-3)", printable, to be freed by the caller; NULL without memory. */
char *node_describe(const struct tree_node *node) _nonnull_all_ _must_check_;

/* Describes users of a node, for messages: "process 123 (cat) has it open; mounted at /srv/a; used by vg0-b (dm-4)". These are
 * the users that were found, if any, and nodes on it, or an unmount that has not finished. With `commands`, also devices on
 * files of its mounts, and in parentheses the command that ends each use, in the order in which to run them. Returns a string
 * as above; "" if no user is known. */
char *node_describe_holders(
        const struct tree_node *node, const struct usage_query *query) _nonnull_all_ _must_check_;

/* Calls `report` for each node: a device, a mount or a swap. `holders` describes the users of the node and its mount as above,
 * NULL without memory; `n_processes` is the number of processes. /proc is searched once. Skipped nodes, which nearly all
 * processes use, and nodes of a captured tree have no processes. Logs errors of the search. Returns 0 or -ENOMEM. */
int nodes_report_users(const struct tree_nodes *nodes, bool commands,
        void (*report)(void *userdata, struct tree_node *node, const char *holders, size_t n_processes),
        void *userdata) _nonnull_(1, 3);
