/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "shared/macro.h"

/* Who uses a device or a mount, so that one that cannot be removed is reported with what holds it. */

/* A process, and in which way it uses something: both texts are printable, and begin in the middle of a sentence,
 * "has /srv/a/log open". */
struct user {
        pid_t pid;
        char *command;
        char *how;
};

/* Of more users than that the number has to do. */
#define USERS_KEPT_MAX 5

/* Starts empty: all zeros. */
struct users {
        struct user users[USERS_KEPT_MAX]; /* the first of them, in the order of their PIDs */
        size_t n;                          /* of all */
        pid_t last;                        /* the one that was added last */
};

/* Adds a process whose directory in /proc is open: one that was added last is not added again, and one that has
 * gone is not, either. `how` is taken over, and NULL for want of memory. Returns 0 or -ENOMEM. */
int users_add(struct users *users, int process_fd, pid_t pid, char *how) _nonnull_(1) _must_check_;

/* All of them in one line of printable text, "process 123 (cat) has it open, process 456 (bash) has its working
 * directory at /srv/a, and 3 more", to be freed by the caller; "" of none; NULL without memory. */
char *users_describe(const struct users *users) _nonnull_(1) _must_check_;

void users_done(struct users *users) _nonnull_(1);
#define _cleanup_users_ _cleanup_(users_done)
