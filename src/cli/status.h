/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "lvm/vg.h"
#include "shared/util.h"

/* A line of headgate status: a VG at one moment. Unknown values are COLUMN_UNKNOWN or "". */
struct line {
        const char *color;
        uint64_t time_usec; /* when it is printed */
        const char *event;  /* why it is printed: "status", "change" or "removed"; NULL if it is not */
        char *name;
        const char *state;
        char uuid[LVM_ID_FORMATTED_SIZE];
        char pvs[48], lvs[48]; /* "3/4" */
        uint64_t pvs_seen, pvs_needed, lvs_active, lvs_needed;
        uint64_t since, since_usec, first, first_usec, took_usec;
        bool overdue, in_charge;
        struct strv missing_pvs; /* UUIDs as lvm2 prints them */
        char *reason;
};

struct lines {
        struct line *lines;
        size_t n;
        size_t n_in_state[_VG_STATUS_MAX]; /* VGs, whether or not they have a line */
};

void lines_done(struct lines *lines) _nonnull_all_;

/* Sorts the lines of two looks by name, and sets their events: "change" for a VG that is new or differs, NULL for others. A VG
 * that no longer exists gets "removed" in `before`. */
void lines_compare(struct lines *before, struct lines *after) _nonnull_all_;

/* "298 of 300 VGs active; 1 waiting, 1 absent: headgate why". Returns a string to be freed by the caller, or NULL without memory. */
char *lines_summarize(const struct lines *lines) _nonnull_all_ _must_check_;
