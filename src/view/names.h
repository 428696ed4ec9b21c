/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/names.h"
#include "shared/util.h"
#include "view/sources.h"

/* The names of all VGs that anything on this machine mentions: the worker's records, lvm2's backups of metadata and its own
 * records of what is online, and the LVs in device-mapper. For names that people have typed. */

/* Reads them, each once, in no order; a source that cannot be read has none. Returns 0 and `*ret`, to be emptied with
 * string_vector_done(), or -ENOMEM. */
int names_read(struct sources *sources, struct string_vector *ret) _nonnull_(1, 2) _must_check_;

bool names_have(const struct string_vector *names, const char *name) _nonnull_(1, 2);

/* One line on standard error: Unknown VG "dta"; did you mean "data"? */
void names_log_unknown(const struct string_vector *names, const char *wanted) _nonnull_(1, 2);
