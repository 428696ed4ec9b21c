/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/timeline.h"

/* What "headgate blame" and "headgate plot" have in common: which timeline is asked for, and what to say if
 * there is none. */

struct chronicle {
        enum timeline_kind kind;
        const char *
                boot; /* which one, or the one that a shutdown has ended, as boots_find() has it; NULL for this boot,
                           * and for the shutdown before it */
};

enum {
        CHRONICLE_UNKNOWN_NAME = 1,
};

/* Reads it, and keeps of it what has one of `names`, or all if `n` is 0. Returns 0, CHRONICLE_UNKNOWN_NAME or a negative
 * errno, having logged what is wrong. */
int chronicle_read(struct timeline *timeline, const struct chronicle *chronicle, char *const names[], size_t n)
        _nonnull_(1, 2) _must_check_;
