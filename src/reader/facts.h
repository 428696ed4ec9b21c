/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/metadata.h"

/* Metadata on its way from the process that has parsed it to the one that believes nothing of it: the fields one after
 * another, numbers as they are in memory and strings with their NUL. */

/* Writes the fields, of which it changes none. Returns 0, with `*ret` to be freed by the caller, or -ENOMEM. */
int facts_write(struct volume_group *metadata, char **ret, size_t *ret_size) _nonnull_all_ _must_check_;

/* Reads them. Whatever they say, what comes of it is within the limits of metadata.h, and all identifiers and the VG's name
 * are valid. Returns 0 and `*ret`, to be freed with volume_group_free(); -EBADMSG; or -ENOMEM. */
int facts_read(const char *data, size_t size, struct volume_group **ret) _nonnull_all_ _must_check_;

/* More is not taken from another process. */
#define FACTS_SIZE_MAX (32U * 1024 * 1024)
