/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-id128.h>

#include "timeline/timeline.h"

/* Timelines in the journal, for "headgate blame --boot=-1". The worker and headgate-teardown know when links were made and how
 * long each phase took only until the machine is switched off, so they log it: lines with MESSAGE_TIMELINE, each with some of the
 * bars in the field HEADGATE_BARS, in the form that headgate-differences(7) describes. */

/* Logs all bars, in as few lines as their size allows. Without memory for a line there is no line. */
void timeline_log(const struct timeline *timeline) _nonnull_all_;

/* Adds the bars that were logged of that boot, or of the shutdown that ended it, by the timeline's kind. A later bar of the same
 * VG or device replaces an earlier one. A shutdown begins when it was requested, if systemd-logind has logged that. Only lines of
 * root count. Bars that cannot be read are counted in `n_skipped`.
 *
 * Returns 0; -ENOENT if the journal has none that may be read; -ENODATA if it is, besides, volatile, so that no earlier boot can
 * be in it; or another negative errno. */
int timeline_read_journal(struct timeline *timeline, sd_id128_t boot) _nonnull_all_ _must_check_;

/* Finds the boot that is named as for journalctl(1) --boot=, by asking journalctl. Returns 0; -ENOENT if the journal has no such
 * boot that may be read; -ENODATA if it is, besides, volatile; -ENOPKG without journalctl; or another negative errno. */
int timeline_find_boot(const char *name, sd_id128_t *ret) _nonnull_all_ _must_check_;
