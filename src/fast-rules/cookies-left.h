/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "shared/macro.h"

/* For a worker that has ended while it promised to complete the cookies of what a vgchange of its own does
 * (fast-rules/cookies.h): what udev has told it and it has not done would be waited for without an end. */

/* The semaphores that may be concerned. */
struct cookies_left;

/* Finds those that there are now; to be called when the promise has been taken back. Returns how many, and them in
 * `*ret`, to be given back with cookies_left_free(); 0 and NULL if there are none; or a negative errno. */
int cookies_left_find(struct cookies_left **ret) _nonnull_(1) _must_check_;
struct cookies_left *cookies_left_free(struct cookies_left *left);
DEFINE_CLEANUP(struct cookies_left *, cookies_left_free)
#define _cleanup_cookies_left_ _cleanup_(cookies_left_freep)

/* Watches them until all have gone, for `patience_usec` at most. Takes what is left of one that somebody waits for, once
 * nothing more is done to it: after 2 s while udev has nothing to do, or 10 s; of one that was changed last by a process
 * of the caller's control group, or by one that has ended. Returns 0 or a negative errno. */
int cookies_left_complete(struct cookies_left *left, uint64_t patience_usec) _nonnull_(1) _must_check_;
