/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/users.h"

/* A device or a mount that somebody uses, or both at once. */
struct sought {
        dev_t number;            /* of a block device; 0 for none */
        const char *mount_point; /* in our mount namespace; NULL for none */
        struct users users;      /* what sought_find_users() has found */
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
int sought_find_users(struct sought *sought, size_t n) _nonnull_(1) _must_check_;
