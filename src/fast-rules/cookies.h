/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <systemd/sd-event.h>

#include "fast-rules/semaphores.h"

/* ------ the worker's part ------ */

/* For each event of an LV, udev starts a program that decrements a semaphore. For LVs that lvm2 activates on behalf of the
 * worker that is not needed: the worker receives the event from udev, and decrements the semaphore itself.
 *
 * Only the rules of headgate-fast-dm-rules.service ask it to. They mark each event of such an LV, and mark it for the worker
 * only while FLAGS_COMPLETING promises that the worker is there. The worker sets that flag once it has seen the mark of an event
 * that the program completes. The mark shows that these rules are in force, and that udev sends marks, which its manual does
 * not promise. The flag stays while a vgchange runs.
 *
 * The worker promises nothing where other rules run programs after those of lvm2, see fast-rules/late.h. If such a program
 * waits for a vgchange nevertheless, the worker completes that vgchange's semaphores, and promises nothing until the next
 * boot. */

struct cookies;

/* To be called before a vgchange starts. If optimized rules are installed, brings the copies up to date with their originals, and
 * listens to udev by `*cookies`, which is NULL at first. The worker may promise from then on, unless a program may run late. A failure
 * is logged, and leaves cookies to udev's program. If events are lost, the event loop ends with -ENOBUFS, and headgate-takeover
 * completes their semaphores. `jobs` are all vgchanges, of struct job; they and `run_fd`, the run directory, stay the caller's. */
void cookies_expect(struct cookies **cookies, sd_event *event, int run_fd, const struct dm_list *jobs);
struct cookies *cookies_free(struct cookies *cookies);

/* Withdraws the promise when no vgchange runs; NULL is nothing. Marked events that are still under way are completed. Returns 0 or
 * a negative errno. */
int cookies_withdraw(struct cookies *cookies) _must_check_;

/* Completes all events received so far; NULL is nothing. Returns 0 or a negative errno. */
int cookies_drain(struct cookies *cookies) _must_check_;

/* ------ after a worker that was killed ------ */

/* After a worker that ended while it promised to complete cookies: lvm2 would wait for ever for the events that it received and
 * did not complete. Withdraws the promise, and starts a process that watches the present semaphores. lvm2 may run for long
 * before it waits, and the next worker must not wait for that. Returns 0 or a negative errno. */
int cookies_adopt(int run_fd) _must_check_;

/* Watches semaphores until all are removed, for `timeout_usec` at most. Completes one that a process waits for, once it has not
 * changed for 2 s with udev idle, or for 10 s. The last process to change it must be of the caller's control group, or
 * have ended. Returns 0 or a negative errno. */
int suspects_complete(struct suspect *suspects, size_t n, uint64_t timeout_usec) _must_check_;
