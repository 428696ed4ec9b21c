/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/metadata.h"

/* lvm2's backups of metadata: one file for each VG, called like the VG, which lvm2 replaces at every change. A VG
 * that another machine has changed since, or that is no more, still has its old one. */

/* Reads the backup of the VG `name` in `directory`, which is absolute or below `root_fd`. Returns 0 and `*ret`, to
 * be freed with metadata_free(), or a negative errno: -ENOENT without a backup; -EBADMSG for one that is damaged
 * or of another VG. */
int backup_read(int root_fd, const char *directory, const char *name, struct metadata **ret)
        _nonnull_(2, 3, 4) _must_check_;
