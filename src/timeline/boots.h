/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/journal.h"

/* The boots that something is known of, by the journal or by archived timelines, and how people name one of them. */

struct known_boot {
        sd_id128_t id;
        uint64_t realtime_usec;    /* some moment of it, since 1970 */
        bool boot_is_archived;     /* there is a file with the timeline of the boot, readable or not */
        bool shutdown_is_archived; /* likewise, with one of the shutdown that ended it */
};

/* Starts empty: all zeros. */
struct boots {
        struct known_boot *boots;
        size_t n;
};

/* The entry of a boot, which is added if there is none. It stays where it is until the next call. Of several
 * moments the earliest counts. NULL without memory. */
struct known_boot *boots_note(struct boots *boots, sd_id128_t id, uint64_t realtime_usec)
        _nonnull_(1) _must_check_;

/* Adds all boots that the journal has lines of, with the time of their first ones. Returns 0 or a negative errno. */
int boots_note_journal(struct boots *boots, sd_journal *journal) _nonnull_(1, 2) _must_check_;

void boots_done(struct boots *boots) _nonnull_(1);
#define _cleanup_boots_ _cleanup_(boots_done)

/* The oldest first; `last` comes last, whatever the clock has said. */
void boots_sort(struct boots *boots, sd_id128_t last) _nonnull_(1);

/* Finds the one that is named as journalctl(1) has it for --boot=: by its ID, an offset, or both: 0 is the last
 * one, -1 the one before, 1 the first; with an ID it counts from there. Returns 0; -EINVAL if that is no name
 * of a boot; or -ENOENT if it is none of these. */
int boots_find(const struct boots *boots, const char *name, sd_id128_t *ret) _nonnull_(1, 2, 3) _must_check_;

/* Reads an ID at the beginning of a text. Returns what follows it, or NULL if there is none. */
const char *boot_id_parse(const char *text, sd_id128_t *ret) _nonnull_(1, 2);
