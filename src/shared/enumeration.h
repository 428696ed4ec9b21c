/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/macro.h"

/* Some names in one sentence, as "a, b, c and 4 more". Starts empty: all zeros. Without memory there are fewer. */
struct enumeration {
        char *text; /* printable; NULL while it is empty */
        size_t n;
};

void enumerate(struct enumeration *enumeration, const char *name) _nonnull_(1, 2);

/* To be called before the text is used. */
void enumerate_end(struct enumeration *enumeration) _nonnull_(1);

void enumeration_done(struct enumeration *enumeration) _nonnull_(1);
#define _cleanup_enumeration_ _cleanup_(enumeration_done)
