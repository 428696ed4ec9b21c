/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <systemd/sd-event.h>

#include "fast-rules/semaphores.h"

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

/* Watches them until all have gone, for `timeout_usec` at most. Takes what is left of one that somebody waits for, once
 * nothing more is done to it: after 2 s while udev has nothing to do, or 10 s; of one that was changed last by a process
 * of the caller's control group, or by one that has ended. Returns 0 or a negative errno. */
int suspects_complete(struct suspect *suspects, size_t n, uint64_t timeout_usec) _must_check_;
