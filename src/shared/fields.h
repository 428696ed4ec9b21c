/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/uio.h>

#include "shared/macro.h"

/* The journal takes 1024 fields in one entry, and drops one that has more (ENTRY_FIELD_COUNT_MAX in
 * src/shared/journal-importer.h of systemd). log_event() and the journal add some. */
#define FIELDS_MAX 1000

/* The fields of one line of the journal, while it is put together for log_event(). Starts empty: all zeros. */
struct fields {
        struct iovec *vector;
        size_t n, n_allocated;
};

/* Takes over `field`, "HEADGATE_VG=vg0". One that is NULL, one for which there is no memory, and one that is too
 * many, is left out: the line is said all the same. */
void fields_add(struct fields *fields, char *field) _nonnull_(1);

void fields_done(struct fields *fields) _nonnull_(1);
#define _cleanup_fields_ _cleanup_(fields_done)
