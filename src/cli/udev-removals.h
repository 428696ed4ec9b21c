/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/macro.h"

/* Tells when udev is done with block devices that were removed, so that their links in /dev are gone: by udev's
 * own announcements, which come after all that its rules do. */
struct udev_removals;

/* Listens from now on. Returns 0 and `*ret`, NULL if no udevd is there; or a negative errno. */
int udev_removals_new(struct udev_removals **ret) _nonnull_(1) _must_check_;
struct udev_removals *udev_removals_free(struct udev_removals *removals);
DEFINE_CLEANUP(struct udev_removals *, udev_removals_free)
#define _cleanup_udev_removals_ _cleanup_(udev_removals_freep)

/* Waits for a device that has been removed since then. */
int udev_removals_expect(struct udev_removals *removals, dev_t number) _nonnull_(1) _must_check_;

/* Comes back when udev is done with all of these. Returns 0; -ETIMEDOUT after `timeout_usec`; or another negative
 * errno. */
int udev_removals_wait(struct udev_removals *removals, uint64_t timeout_usec) _nonnull_(1) _must_check_;
