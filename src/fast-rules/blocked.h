/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <sys/types.h>

#include "shared/macro.h"

/* Processes that wait for an lvm2 lock of a vgchange. A program that udev runs for an LV of that vgchange waits for ever if the
 * vgchange waits for udev to finish with the LV. */

/* Further processes are ignored until some of these have ended. */
#define BLOCKED_MAX 128

struct waiter {
        pid_t pid;
        pid_t holder;       /* the vgchange; processes between the two wait for it, too */
        unsigned int looks; /* how many in a row have found it waiting for that vgchange */
};

/* Starts empty: all zeros. */
struct blocked {
        struct waiter waiters[BLOCKED_MAX];
        size_t n;
};

/* Updates `blocked` from the text of /proc/locks, which is modified; `jobs` are of struct job. */
void blocked_look(struct blocked *blocked, char *locks, const struct dm_list *jobs) _nonnull_all_;
