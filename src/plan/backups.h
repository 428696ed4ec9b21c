/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "plan/known.h"

/* lvm2's backups of metadata, one file for each VG, named after it (lvm2, lib/format_text/archiver.c). Adds the
 * VGs of `configuration->backup_dir` below `root_fd` to `known`, in the order of their names. A file that is
 * damaged or cannot be read is added to `problems`, and so is what is beyond 64 MiB in all or
 * KNOWN_VOLUME_GROUPS_MAX; the rest counts. Returns 0 or -ENOMEM. */
int backups_read(int root_fd, const struct configuration *configuration, struct known_volume_groups *known,
        struct problems *problems) _nonnull_(2, 3, 4) _must_check_;
