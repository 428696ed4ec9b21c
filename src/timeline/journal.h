/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-id128.h>

#include "timeline/timeline.h"

/* Timelines in the journal, for "headgate blame --boot=-1". Only the worker and headgate-teardown know the time of
 * each phase, and only until the machine is switched off. So they log lines with MESSAGE_TIMELINE, each with some
 * bars in the field HEADGATE_BARS, in the form described in headgate-differences(7). */

/* Logs all bars, in as few lines as possible. Without memory for a line, it is dropped. */
void timeline_log(const struct timeline *timeline) _nonnull_all_;

/* Adds the logged bars of that boot, or of the shutdown that ended it, depending on the kind of the timeline. A later
 * bar of a VG or device replaces an earlier one. A shutdown begins with the request, if systemd-logind has logged it.
 * Only lines of root count. Invalid bars are counted in `n_skipped`.
 *
 * Returns 0; -ENOENT if the journal has no readable bars; -ENODATA if it is also volatile, so that it has no
 * earlier boots; or another negative errno. */
int timeline_read_journal(struct timeline *timeline, sd_id128_t boot) _nonnull_all_ _must_check_;

/* Finds the boot with that name, as in journalctl(1) --boot=, by running journalctl. Returns 0; -ENOENT if the
 * journal has no such readable boot; -ENODATA if it is also volatile; -ENOPKG without journalctl; or another
 * negative errno. */
int timeline_find_boot(const char *name, sd_id128_t *ret) _nonnull_all_ _must_check_;

/* Both, of the boot so many boots ago. With a root that was chosen only tests' own journal is read. */
int timeline_read_earlier(struct timeline *timeline, unsigned int n_boots) _nonnull_all_ _must_check_;
