/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* What went wrong with single entries while the rest went on: files that others wrote, and that hold more than one
 * thing. The code under src/lvm, src/shared and src/plan collects, a program logs. Starts empty: all zeros. */
struct problems {
        struct string_vector lines; /* one problem each, printable, without newline */
        int error;                  /* the first one's negative errno; 0 as long as there is none */
};

/* Adds a line, "/etc/lvm/backup/vg7: the metadata text is malformed". `error` is a negative errno, for %m in
 * `format`, too. Names may come from anywhere: what is not printable ASCII is written as \xNN. Without memory only
 * the error is kept. */
void problems_add(struct problems *problems, int error, const char *format, ...) _nonnull_(1, 3) _printf_(3, 4);

void problems_done(struct problems *problems) _nonnull_(1);
#define _cleanup_problems_ _cleanup_(problems_done)
