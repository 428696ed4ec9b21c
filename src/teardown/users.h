/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "tree/tree.h"

/* Who uses a device or a mount, so that one that cannot be removed is reported with what holds it. */

/* Of more users than that the number has to do. */
#define USERS_KEPT_MAX 5U

/* Starts empty: all zeros. */
struct users {
        char *texts[USERS_KEPT_MAX];    /* the first by PID, printable: "process 123 (cat) has /srv/a open" */
        char *commands[USERS_KEPT_MAX]; /* that end each, " (systemctl stop cat.service)"; "" for none */
        size_t n;                       /* of all */
        pid_t last;                     /* the one that was added last */
};

/* A device or a mount that somebody uses, or both at once. */
struct usage_query {
        dev_t number;            /* of a block device; 0 for none */
        const char *mount_point; /* in our mount namespace; NULL for none */
        struct users users;      /* what users_find() has found */
};

/* Looks once through all processes in /proc (proc(5)) for whoever uses any of these, and adds to the users of
 * each:
 *
 *  - who has the device open
 *  - of each other mount namespace in which it is mounted, the process with the lowest PID. What systemd has
 *    copied there only to follow our mounts is left out: it goes with ours
 *  - who has a file on or below the mount point open, works there, runs a program from there, or has its root
 *    there: by the names that the kernel gives, as to ask a file system that hangs is to hang
 *
 * Neither kernel threads nor the calling process count. Processes that come or go meanwhile are there or not.
 * What is not seen: files that are only mapped, since the list of them cannot be read of a process that hangs;
 * what single threads have of their own; and namespaces without a process.
 *
 * Never waits for a device or a file system. Returns 0 or a negative errno, -ENOMEM for instance, and then there
 * may be users already. */
int users_find(struct usage_query *queries, size_t n) _nonnull_all_ _must_check_;

/* All of them in one line of printable text, "process 123 (cat) has it open, process 456 (bash) has its working
 * directory at /srv/a, and 3 more", with `commands` each with its own, to be freed by the caller; "" of none; NULL
 * without memory. */
char *users_describe(const struct users *users, bool commands) _nonnull_all_ _must_check_;

void users_done(struct users *users) _nonnull_all_;

/* users_find(). Who it is cannot always be told, and what else there is to say is said all the same. */
void nodes_find_users(struct usage_query *queries, size_t n) _nonnull_all_;

/* What holds a node, for people. All texts are printable, to be freed by the caller, and NULL without memory. */

/* "vg0-lv (dm-3)" */
char *node_describe(const struct tree_node *node) _nonnull_all_ _must_check_;

/* "process 123 (cat) has it open; mounted at /srv/a; used by vg0-b (dm-4)": `users`, and what lies on it now; or that
 * its unmounting has not come to its end; "" if nothing is known to hold it. With `commands` also what lies in files of
 * its mounts, and in parentheses the command that ends each, in the order in which to run them. */
char *node_describe_holders(
        const struct tree_node *node, const struct users *users, bool commands) _nonnull_all_ _must_check_;

/* The first mount of the device that is still there, or NULL. */
const char *node_find_mount_point(const struct tree_node *node) _nonnull_all_;

/* Calls `report` for each node, a device, a mount or a swap, after one look through all processes for its users and
 * those of its mount. Without memory for that nothing is reported. */
void nodes_report_users(const struct tree_nodes *nodes,
        void (*report)(void *userdata, struct tree_node *node, const struct users *users), void *userdata)
        _nonnull_(1, 2);

/* Whether a kernel thread's name has the device's in it, as a word. */
bool thread_is_of_device(const char *thread, const char *kernel_name) _nonnull_all_;
