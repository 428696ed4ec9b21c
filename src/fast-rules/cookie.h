/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "shared/macro.h"

/* The semaphores by which device-mapper's programs wait for udev: System V's, one of a set, with a key that is made of
 * DM_COOKIE_MAGIC (libdevmapper.h) and the lower half of the cookie. Its value is the number of events that are not
 * handled yet, and one more until its owner waits for them all (libdm-common.c: _udev_notify_sem_create(),
 * dm_udev_wait()). */

/* Decrements the semaphore of `cookie`, as dmsetup udevcomplete does. A cookie that has flags only is success. Returns 0
 * or a negative errno: -ENOENT if nobody waits, -EAGAIN if all had been handled before. */
int cookie_complete(uint32_t cookie) _must_check_;

struct cookie_state {
        unsigned int left;    /* the value */
        unsigned int waiting; /* how many processes wait for it to be 0 */
        pid_t last;           /* the process that has changed it last */
};

/* Called for each semaphore of device-mapper's there is; `id` is the system's. A negative return value ends the walk and
 * is passed on. */
typedef int (*cookie_function)(int id, const struct cookie_state *state, void *userdata);

/* Returns 0 or a negative errno. */
int cookie_for_each(cookie_function function, void *userdata) _nonnull_(1) _must_check_;

/* What it is now. Returns 0, -ENOENT if it has gone, or another negative errno. */
int cookie_get_state(int id, struct cookie_state *ret) _nonnull_(2) _must_check_;

/* Takes what is left of it, whoever waits may go on. Returns 0 or a negative errno; -EAGAIN if it has become less
 * meanwhile. */
int cookie_complete_all(int id, const struct cookie_state *state) _nonnull_(2) _must_check_;
