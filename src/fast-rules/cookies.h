/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <systemd/sd-event.h>

#include "shared/macro.h"

/* ------ semaphores ------ */

/* lvm2 waits for udev by a semaphore, of which each event of device-mapper tells by its cookie, and which is
 * decremented when the event has been handled (dm_udev_wait() and dm_udev_complete() of libdevmapper.h). It is System
 * V's, one of a set, with a key that is made of DM_COOKIE_MAGIC and the lower half of the cookie. Its value is the number
 * of events that are not handled yet, and one more until its owner waits for them all (libdm-common.c:
 * _udev_notify_sem_create(), dm_udev_wait()). */

/* Decrements the semaphore of `cookie`, as dmsetup udevcomplete does. A cookie that has flags only is success. Returns 0
 * or a negative errno: -ENOENT if nobody waits, -EAGAIN if all had been handled before. */
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

/* ------ the worker's part ------ */

/* For each event of an LV udev has to start a program that decrements the semaphore. Of the LVs that lvm2 activates for
 * the worker it may do without, since the worker can hear of the event from udev, and decrement the semaphore itself.
 *
 * It is asked to by the rules of headgate-fast-dm-rules.service, and by nothing else: they mark each event of such an
 * LV, for the worker only while it promises, by FLAGS_COMPLETING, to be there. It promises once it has seen a mark of
 * an event that the program has completed: then these rules are in force, and what udev sends has their marks, which
 * its manual does not say. The promise holds while a vgchange runs.
 *
 * It does not promise where rules of others have udev run programs after those of lvm2: see fast-rules/late.h. Should there be one
 * all the same that waits for a vgchange, it completes what that waits for, and promises nothing until the next boot. */

struct cookies;

/* A vgchange is about to be started: it may be promised, unless a program may run late. If there are such rules, has the copies
 * follow their originals, and begins to listen to udev, by `*cookies`, which is NULL at first; where that fails, which is logged,
 * udev's programs do it. The event loop ends with -ENOBUFS where events were lost: who stops the worker then takes care of their
 * semaphores. `jobs` are all vgchanges, of struct job; they and `run_fd`, the run directory, stay the caller's. */
void cookies_expect(struct cookies **cookies, sd_event *event, int run_fd, const struct dm_list *jobs);
struct cookies *cookies_free(struct cookies *cookies);

/* No vgchange runs any more, so nothing is promised until the next. What udev has on its way to us is still heard. NULL is
 * nothing to be withdrawn. Returns 0 or a negative errno. */
int cookies_withdraw(struct cookies *cookies) _must_check_;

/* Completes all that has arrived so far, at once; NULL is nothing. Returns 0 or a negative errno. */
int cookies_drain(struct cookies *cookies) _must_check_;

/* ------ after a worker that was killed ------ */

/* For a worker that has ended while it promised to complete cookies: what udev has told it and it has not done would be
 * waited for without an end. Withdraws the promise, and has a process of its own look after the semaphores that there are
 * now, since lvm2 may be at work for long before it waits, and the next worker is not to wait for that. Returns 0 or a
 * negative errno. */
int cookies_adopt(int run_fd) _must_check_;

/* A semaphore that may be concerned. */
struct suspect {
        int id;
        unsigned int base; /* of its cookie */
        struct cookie_state state;
        uint64_t since_usec; /* that it has not changed */
};

/* All that there are now. Returns 0 or a negative errno; `*ret` is to be freed in any case. */
int suspects_find(struct suspect **ret, size_t *ret_n) _nonnull_all_ _must_check_;

/* Watches them until all have gone, for `timeout_usec` at most. Takes what is left of one that somebody waits for, once
 * nothing more is done to it: after 2 s while udev has nothing to do, or 10 s; of one that was changed last by a process
 * of the caller's control group, or by one that has ended. Returns 0 or a negative errno. */
int suspects_complete(struct suspect *suspects, size_t n, uint64_t timeout_usec) _must_check_;
