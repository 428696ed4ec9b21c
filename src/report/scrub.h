/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <regex.h>

#include "shared/util.h"

/* Replaces keys and passwords in texts, and optionally names. A name has the same replacement in all texts. */

#define SCRUB_PATTERNS_N 7

/* Replacement of a secret. */
#define SCRUB_SECRET "<secret>"

struct scrubber {
        regex_t patterns[SCRUB_PATTERNS_N];
        size_t n_patterns;           /* number of compiled patterns */
        struct dm_hash_table *names; /* replacements by name; NULL to keep names */
        struct strv replacements;
};

/* Starts without names; labels and disks are recognized without adding them. Without `anonymize`, all names stay. The caller
 * empties `*ret` with scrubber_done(), also if it fails. Returns 0 or -ENOMEM. */
int scrubber_open(struct scrubber *ret, bool anonymize) _nonnull_all_ _must_check_;

/* Adds a name, to be replaced by `kind` and a number, also as part of names of devices and units. Numbers, and names that many
 * machines have, such as "root" and "home", stay. Returns 0 or -ENOMEM. */
int scrubber_add(struct scrubber *scrubber, const char *kind, const char *name) _nonnull_all_ _must_check_;

/* The same for all parts of a path, which may begin with a host: "host:/srv/data". */
int scrubber_add_path(struct scrubber *scrubber, const char *kind, const char *path) _nonnull_all_ _must_check_;

/* Returns a copy of the text with replacements, to be freed by the caller; NULL without memory. */
char *scrub(struct scrubber *scrubber, const char *text) _nonnull_all_ _must_check_;

void scrubber_done(struct scrubber *scrubber) _nonnull_all_;
#define _cleanup_scrubber_ _cleanup_(scrubber_done)
