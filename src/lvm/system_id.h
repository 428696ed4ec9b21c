/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "shared/macro.h"
#include "shared/util.h"

/* The host's own system ID: a VG that has another one belongs to another host, and lvm2 does not touch it. See
 * lvmsystemid(7). */
struct system_id {
        bool known;                 /* whether it could be told from files; if not, leave the VG to lvm2 */
        char *id;                   /* NULL if the host has none */
        struct string_vector extra; /* other hosts' IDs that are as good */
};

/* The keys of lvm.conf that tell where it comes from, or NULL where a key is not set. */
struct system_id_source {
        const char *source; /* global/system_id_source */
        const char *local;  /* local/system_id */
        const char *file;   /* global/system_id_file */
        const char *etc;    /* global/etc */
};

/* Finds it out as lvm2 does (lib/commands/toolcontext.c), from files below `root_fd`. It is not known where
 * lvm2 would ask for more than a file, and where the file is not there. Sets `known` and `id` only. Returns 0
 * or -ENOMEM. */
int system_id_find(int root_fd, const struct system_id_source *source, struct system_id *ret)
        _nonnull_(2, 3) _must_check_;

/* What lvm2 makes of a text that is to be a system ID: letters, digits and "._-+" of it, beginning with a
 * letter or digit, 128 at most. Empty if nothing is left, or if it begins with "localhost". Returns a string to
 * be freed by the caller, or NULL without memory. */
char *system_id_from_text(const char *text) _nonnull_(1) _must_check_;

/* Whether lvm2 would keep its hands off a VG with that system ID, which may be NULL. */
bool system_id_is_foreign(const struct system_id *host, const char *id) _nonnull_(1);

void system_id_done(struct system_id *system_id) _nonnull_(1);
