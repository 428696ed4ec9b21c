/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/macro.h"

/* lvm2 waits for udev by a semaphore, of which each event of device-mapper tells by its cookie, and which is
 * decremented when the event has been handled (dm_udev_wait() and dm_udev_complete() of libdevmapper.h). It is System
 * V's, one of a set, with a key that is made of DM_COOKIE_MAGIC and the lower half of the cookie. Its value is the number
 * of events that are not handled yet, and one more until its owner waits for them all (libdm-common.c:
 * _udev_notify_sem_create(), dm_udev_wait()). */

#define COOKIE_BASE_MASK ((1u << DM_UDEV_FLAGS_SHIFT) - 1)

/* Decrements the semaphore of `cookie`, as dmsetup udevcomplete does. A cookie that has flags only is success. Returns 0
 * or a negative errno: -ENOENT if no process waits, -EAGAIN if all had been handled before. */
int cookie_complete(uint32_t cookie) _must_check_;

struct cookie_state {
        unsigned int left;    /* the value */
        unsigned int waiting; /* how many processes wait for it to be 0 */
        pid_t last;           /* the process that has changed it last */
};

/* What it is now, by the system's identifier. Returns 0, -ENOENT if it was removed, or another negative errno. */
int cookie_get_state(int id, struct cookie_state *ret) _nonnull_all_ _must_check_;

/* Takes what is left of it, whoever waits may go on. Returns 0 or a negative errno; -EAGAIN if it has become less
 * meanwhile. */
int cookie_complete_all(int id, const struct cookie_state *state) _nonnull_all_ _must_check_;

/* A semaphore that may be concerned. */
struct suspect {
        int id;
        unsigned int base; /* of its cookie */
        struct cookie_state state;
        int64_t changed_sec; /* when it changed last, since 1970 */
        uint64_t since_usec; /* that it has not changed */
};

/* All that there are now. Returns 0 or a negative errno; `*ret` is to be freed in any case. */
int suspects_find(struct suspect **ret, size_t *ret_n) _nonnull_all_ _must_check_;
