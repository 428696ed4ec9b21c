/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/macro.h"

/* "Did you mean": of the names that there are, the one that is most like a name that there is not. */
struct suggestion {
        const char *wanted;
        char *nearest; /* NULL if none is like it */
        size_t distance;
};

/* How many letters have to be put in, left out, exchanged for another or for their neighbour to make one of the
 * other. Returns SIZE_MAX without memory. */
size_t suggestion_distance(const char *a, const char *b) _nonnull_(1, 2);

/* Keeps a copy of `candidate` if it is more like what was wanted than all before it, and like it at all: a third
 * of the letters may differ, the case does not count. */
void suggestion_consider(struct suggestion *suggestion, const char *candidate) _nonnull_(1, 2);

/* One line on standard error: Unknown WHAT "dta"; did you mean "data"? Without a suggestion, `otherwise` says what
 * to do instead. */
void suggestion_log_unknown(const struct suggestion *suggestion, const char *what, const char *otherwise)
        _nonnull_(1, 2, 3);

void suggestion_done(struct suggestion *suggestion) _nonnull_(1);
#define _cleanup_suggestion_ _cleanup_(suggestion_done)
