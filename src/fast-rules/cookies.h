/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-event.h>

#include "shared/macro.h"

/* lvm2 waits for udev by a semaphore, of which each event of device-mapper tells by its cookie, and which is
 * decremented when the event has been handled (dm_udev_wait() and dm_udev_complete() of libdevmapper.h). udev has to
 * start a program for that, of which there is one for each LV. Of the LVs that lvm2 activates for the worker it may do
 * without, since the worker can hear of the event from udev, and decrement the semaphore itself.
 *
 * It is asked to by the rules of headgate-fast-dm-rules.service, and by nothing else: they mark each event of such an
 * LV, for the worker only while it promises, by FLAGS_COMPLETING, to be there. It promises once it has seen a mark of
 * an event that the program has completed: then these rules are in force, and what udev sends has their marks, which
 * its manual does not say. The promise holds while a vgchange runs. Should the worker be killed meanwhile, some
 * semaphores may be left, see fast-rules/cookies-left.h. */

struct cookies;

/* Begins to listen to udev, promising nothing. The event loop ends with -ENOBUFS where events were lost: who
 * stops the worker then takes care of their semaphores. Returns 0 or a negative errno. `run_fd`, the run directory,
 * stays the caller's. */
int cookies_new(sd_event *event, int run_fd, struct cookies **ret) _must_check_;
struct cookies *cookies_free(struct cookies *cookies);

/* A vgchange is about to be started: it may be promised. If there are such rules and `*cookies` is NULL, begins to listen
 * first; where that fails, which is logged, udev's programs do it. */
void cookies_expect(struct cookies **cookies, sd_event *event, int run_fd);

/* No vgchange runs any more, so nothing is promised until the next. What udev has on its way to us is still heard. NULL is
 * nothing to be withdrawn. Returns 0 or a negative errno. */
int cookies_withdraw(struct cookies *cookies) _must_check_;

/* Completes all that has come so far, at once; NULL is nothing. Returns 0 or a negative errno. */
int cookies_drain(struct cookies *cookies) _must_check_;
