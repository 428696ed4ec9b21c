/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "shared/util.h"

/* The names of the VGs that anything on this machine tells of: what the worker has written down, lvm2's backups of
 * metadata and its own record of what is online, and the LVs in device-mapper. For names that people have typed; it
 * opens no device and starts no process. */

/* Reads them, each once, in no order. What cannot be read tells of none. Returns 0 and `*ret`, to be emptied with
 * string_vector_done(), or -ENOMEM. */
int known_names_read(struct string_vector *ret) _nonnull_(1) _must_check_;

bool known_names_have(const struct string_vector *names, const char *name) _nonnull_(1, 2);

/* One line on standard error: Unknown VG "dta"; did you mean "data"? */
void known_names_log_unknown(const struct string_vector *names, const char *wanted) _nonnull_(1, 2);
