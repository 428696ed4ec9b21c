/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <sys/types.h>

#include "shared/macro.h"

/* Processes that wait for a lock of lvm2's which a vgchange has. One that udev runs for an LV of that vgchange would wait for ever,
 * if the vgchange waits for udev to be done with the LV. */

/* More are looked at when these have gone. */
#define BLOCKED_MAX 128

struct waiter {
        pid_t pid;
        pid_t holder;       /* the vgchange; there may be others before it, who wait for it themselves */
        unsigned int looks; /* that have found it waiting for that one, in a row */
};

/* Starts empty: all zeros. */
struct blocked {
        struct waiter waiters[BLOCKED_MAX];
        size_t n;
};

/* Looks once more. `locks` is what /proc/locks says, and is taken apart; `jobs` are of struct job. */
void blocked_look(struct blocked *blocked, char *locks, const struct dm_list *jobs) _nonnull_all_;
