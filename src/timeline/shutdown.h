/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/timeline.h"

/* The timeline of the shutdown that ended the boot before this one, made of the lines of headgate-teardown in the
 * journal; see src/teardown/report.h for their fields. */

/* Reads it, from $HEADGATE_JOURNAL, a file or a directory, which tests set, or the system's own journal. Only what
 * root has written counts. Times are on the clock of that boot; in lines without HEADGATE_STARTED_USEC they count
 * from the start of headgate-teardown instead.
 *
 * Returns 0; -ENODATA if the journal has nothing of an earlier boot that may be read; -ENOENT if that boot has no
 * line of headgate-teardown about a device; or another negative errno. */
int timeline_read_shutdown(struct timeline *timeline) _nonnull_(1) _must_check_;
