/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "shared/util.h"

/* Lines on standard output that change: on a terminal they are written over the ones before, elsewhere a line is
 * printed whenever what it says has changed. */
struct live_lines {
        bool terminal; /* one that can move its cursor */
        size_t n;      /* how many lines are there now */
        char *last;    /* what the last line elsewhere has said */
};

struct live_lines live_lines_new(void);

/* For a terminal. Lines are cut at its right margin, and those left out that would not fit below each other. */
void live_lines_show(struct live_lines *lines, const struct string_vector *text) _nonnull_(1, 2);

/* For all else. The line gets the time in front of it, in seconds since the start of the machine. */
void live_lines_print(struct live_lines *lines, const char *text) _nonnull_(1, 2);

/* Takes away what is on the terminal. */
void live_lines_done(struct live_lines *lines) _nonnull_(1);
#define _cleanup_live_lines_ _cleanup_(live_lines_done)
