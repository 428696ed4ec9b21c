/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "kernel-log/comparison.h"

/* What a shutdown's log tells, in sentences: the total, what went in parallel, where that time was given back,
 * and how far apart devices of the same driver were begun with. Names are of the logs. Return 0 or -ENOMEM. */
int shutdown_log_tell(const struct kernel_shutdown *shutdown, const char *name) _nonnull_(1, 2) _must_check_;
int shutdown_log_tell_comparison(const struct kernel_comparison *comparison, const char *const names[_SIDE_MAX])
        _nonnull_(1, 2) _must_check_;
