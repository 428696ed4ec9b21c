/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-id128.h>

#include "timeline/timeline.h"

/* The timeline of the shutdown that ended a boot, made of the lines of headgate-teardown in the journal; see
 * src/teardown/report.h for their fields. */

/* Reads it. Only what root has written counts. Times are on the clock of that boot; in lines without
 * HEADGATE_STARTED_USEC they count from the start of headgate-teardown instead.
 *
 * Returns 0; -ENOENT if that boot has no line of headgate-teardown about a device that may be read; or another
 * negative errno. */
int timeline_read_shutdown(struct timeline *timeline, sd_id128_t boot) _nonnull_(1) _must_check_;
