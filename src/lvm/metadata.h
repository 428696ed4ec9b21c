/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/vg.h"

/* The metadata text of a volume group (VG), as far as activation needs it. Parsed with libdevmapper's dm_config_*,
 * lvm2's own parser; source of the keys: lvm2, lib/format_text/export.c and flags.c. */

/* More than any VG has in practice; lvm2 itself has no limit, and takes minutes for as many. What a disk says is bounded
 * in memory and time by these. */
#define METADATA_PVS_MAX 16384
#define METADATA_LVS_MAX 65536
/* Of the names of all LVs together. With these limits the record of a VG stays below 16 MiB. */
#define METADATA_NAMES_SIZE_MAX 3145728
/* "/dev/mapper/" and the longest name that device-mapper allows (DM_NAME_LEN). */
#define METADATA_DEVICE_HINT_MAX 139

/* Parses `text` (NUL-terminated). Returns 0 and `*ret`, to be freed with vg_free(), or a negative errno:
 * -EBADMSG with `*reterr_reason`, a static string, for text that is not a VG's metadata or beyond these limits. */
int metadata_parse(const char *text, struct vg **ret, const char **reterr_reason) _nonnull_all_ _must_check_;

/* The name with which a damaged `text` begins, if what is there can be the name of a VG: for a message, for
 * nothing else. Returns 0 and `*ret`, to be freed by the caller, or -ENOENT, -ENOMEM. */
int metadata_guess_name(const char *text, char **ret) _nonnull_all_ _must_check_;

/* lvm2's backups of metadata: one file for each VG, called like the VG, which lvm2 replaces at every change. A VG
 * that another machine has changed since, or that is no more, still has its old one. */

/* Reads the backup of the VG `name` in `directory`, which is absolute or below `root_fd`. Returns 0 and `*ret`, to
 * be freed with vg_free(), or a negative errno: -ENOENT without a backup; -EBADMSG for one that is damaged
 * or of another VG. */
int backup_read(int root_fd, const char *directory, const char *name, struct vg **ret) _nonnull_all_ _must_check_;

/* Whether lvm2 has removed the VG: in its backup, if there is one, no LV is left, and the newest of its archived metadata was written
 * before a vgremove (lvm2, lib/format_text/archive.c). Returns 1, 0 or -ENOMEM. */
int backup_tells_removal(const char *backup_directory, const char *archive_directory,
        const struct vg *vg) _nonnull_all_ _must_check_;
