/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <regex.h>

#include "shared/util.h"

/* Leaves out of texts what is not for others: keys, passwords, and names if that is wanted. A name has the same replacement in all
 * texts. */

#define SCRUB_PATTERNS_N 7

/* What is written in the place of a secret. */
#define SCRUB_SECRET "<secret>"

struct scrubber {
        regex_t patterns[SCRUB_PATTERNS_N];
        size_t n_patterns;           /* that were compiled */
        struct dm_hash_table *names; /* the replacement of each; NULL if names stay */
        struct strv replacements;
};

/* Starts with no name, and finds labels and disks by itself; without `anonymize` all names stay. `*ret` is to be emptied with
 * scrubber_done(), also if it fails. Returns 0 or -ENOMEM. */
int scrubber_open(struct scrubber *ret, bool anonymize) _nonnull_all_ _must_check_;

/* Has a name replaced wherever it stands, also as a part of the names of devices and units, by `kind` and a number. Numbers, and words that many machines
 * have, such as "root" and "home", stay. Returns 0 or -ENOMEM. */
int scrubber_add(struct scrubber *scrubber, const char *kind, const char *name) _nonnull_all_ _must_check_;

/* The same of all parts of a path, which may have a host before it: "host:/srv/data". */
int scrubber_add_path(struct scrubber *scrubber, const char *kind, const char *path) _nonnull_all_ _must_check_;

/* A copy of the text without all that, to be freed by the caller; NULL without memory. */
char *scrub(struct scrubber *scrubber, const char *text) _nonnull_all_ _must_check_;

void scrubber_done(struct scrubber *scrubber) _nonnull_all_;
#define _cleanup_scrubber_ _cleanup_(scrubber_done)
