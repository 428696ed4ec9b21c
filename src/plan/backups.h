/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "plan/known.h"

/* Where the VGs are known from: lvm2's backups of metadata, one file for each VG, named after it (lvm2,
 * lib/format_text/archiver.c), and what the initrd has left in run/lvm. */

/* Reads the backups in `configuration->backup_dir`, in the order of their names, and run/lvm, both below `root_fd`. A file that
 * is damaged or cannot be read, and what is beyond 64 MiB in all or KNOWN_VOLUME_GROUPS_MAX, is added to `problems` and left
 * out: its VG is activated when its disks appear. Returns 0 or -ENOMEM. */
int known_volume_groups_read(int root_fd, const struct configuration *configuration,
        struct known_volume_groups *ret, struct problems *problems) _nonnull_(2, 3, 4) _must_check_;

/* The same without the VGs in `left_out`, sorted, which lives longer than `*ret`: no file of theirs is read, and
 * no record in run/lvm at all. */
int known_volume_groups_read_others(int root_fd, const struct configuration *configuration,
        const struct string_vector *left_out, struct known_volume_groups *ret, struct problems *problems)
        _nonnull_(2, 4, 5) _must_check_;
