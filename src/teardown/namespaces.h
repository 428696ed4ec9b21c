/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>

#include "teardown/sought.h"
#include "tree/table.h"

/* The mount namespaces of the processes that are looked through. */
struct namespaces {
        struct libmnt_table *own;    /* the mounts in ours */
        struct dm_hash_table *known; /* by what /proc/PID/ns/mnt says: ours, and those that were looked at */
};

int namespaces_init(struct namespaces *namespaces) _nonnull_(1) _must_check_;

/* If a process is the first one of its namespace, adds it as a user of all devices that are mounted there.
 * Returns 0 or -ENOMEM. */
int namespaces_look(struct namespaces *namespaces, int process_fd, pid_t pid, struct sought *sought, size_t n)
        _nonnull_(1, 4) _must_check_;

void namespaces_done(struct namespaces *namespaces) _nonnull_(1);
#define _cleanup_namespaces_ _cleanup_(namespaces_done)
