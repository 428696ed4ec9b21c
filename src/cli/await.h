/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/sources.h"

/* Waiting for VGs: watches what the worker writes down. */

/* What is waited for, and when that is over. */
struct await {
        char *const *names; /* none: all VGs of which anything was seen by the end of coldplug */
        size_t n_names;
        const char *request;   /* the kind of request that was made for each VG, see flags.h, or NULL */
        bool until_deadline;   /* a VG that is overdue, or of which nothing was seen, is waited for no longer */
        bool ignore_unwanted;  /* one of which nothing was seen, or that lvm2 is not to activate, does not count */
        uint64_t timeout_usec; /* USEC_INFINITY for ever */
};

/* Makes the request for each of the VGs, and wakes the worker. Returns 0 or a negative errno. */
int await_request(int run_fd, const struct await *await);

/* Waits, and says on standard error which VGs are not up, and why. Returns the exit status: EXIT_ALL_UP,
 * EXIT_NOT_ALL_UP, EXIT_CANNOT_TELL, or EXIT_LVM2_ACTIVATES when headgate hands over meanwhile. */
int await_volume_groups(struct sources *sources, const struct await *await);
