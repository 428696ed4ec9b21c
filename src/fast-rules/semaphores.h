/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/macro.h"

/* The semaphores by which lvm2 waits for udev (dm_udev_wait() and dm_udev_complete() of libdevmapper.h). The cookie in each
 * event of device-mapper identifies one, which is decremented when the event has been handled. It is a System V set of one, with a
 * key of DM_COOKIE_MAGIC and the lower half of the cookie. Its value is the number of events that are not handled yet, and one
 * more until its owner waits for them (libdm-common.c: _udev_notify_sem_create(), dm_udev_wait()). */

#define COOKIE_BASE_MASK ((1u << DM_UDEV_FLAGS_SHIFT) - 1)

/* Decrements the semaphore of `cookie`, as dmsetup udevcomplete does; does nothing for a cookie without a base. Returns 0 or a
 * negative errno: -ENOENT if there is no semaphore, -EAGAIN if all events were completed before. */
int cookie_complete(uint32_t cookie) _must_check_;

struct cookie_state {
        unsigned int left;    /* the value */
        unsigned int waiting; /* how many processes wait for it to be 0 */
        pid_t last;           /* the last process to change it */
};

/* Gets the present state; `id` is the system's identifier. Returns 0, -ENOENT if it was removed, or another negative errno. */
int cookie_get_state(int id, struct cookie_state *ret) _nonnull_all_ _must_check_;

/* Completes `n` of the events that are left; waiting processes go on after the last one. Returns 0 or a negative errno: -ENOENT if
 * it was removed, -EAGAIN if fewer are left now. */
int semaphore_subtract(int id, unsigned int n) _must_check_;

/* A semaphore that may be stuck. */
struct suspect {
        int id;
        uint32_t key; /* the lower half is that of its cookie */
        struct cookie_state state;
        int64_t changed_sec; /* when it changed last, since 1970 */
        uint64_t since_usec; /* when it was last seen to change */
};

/* Lists all present semaphores that may be read. Returns 0 or a negative errno; `*ret` is to be freed in any case. */
int suspects_find(struct suspect **ret, size_t *ret_n) _nonnull_all_ _must_check_;
