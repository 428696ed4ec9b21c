/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/vg.h"

/* The metadata text of a volume group (VG), as far as activation needs it. Parsed with libdevmapper's dm_config_*,
 * which is lvm2's own parser. Source of the keys: lvm2, lib/format_text/export.c and flags.c. */

/* Limits of memory and time for text from a disk, above those of any VG in practice. lvm2 has no limits, and takes
 * minutes for as many. */
#define METADATA_PVS_MAX 16384
#define METADATA_LVS_MAX 65536
/* The names of all LVs together. Within these limits the record of a VG is smaller than 16 MiB. */
#define METADATA_NAMES_SIZE_MAX 3145728
/* "/dev/mapper/" and the longest name that device-mapper allows (DM_NAME_LEN). */
#define METADATA_DEVICE_HINT_MAX 139

/* Parses `text` (NUL-terminated). Returns 0 and `*ret`, to be freed with vg_free(), or a negative errno. -EBADMSG:
 * the text is not a VG's metadata, or beyond these limits; `*reterr_reason` is a static string. */
int metadata_parse(const char *text, struct vg **ret, const char **reterr_reason) _nonnull_all_ _must_check_;

/* Returns the name at the start of a damaged `text`, if it is a valid VG name, for a message only. Returns 0 and
 * `*ret`, to be freed by the caller, or -ENOENT, -ENOMEM. */
int metadata_guess_name(const char *text, char **ret) _nonnull_all_ _must_check_;

/* lvm2's metadata backups: one file for each VG, with the VG's name, which lvm2 replaces at every change. A VG that
 * was changed by another machine since, or no longer exists, still has its old backup. */

/* Reads the backup of the VG `name` in `directory`, an absolute path or one below `root_fd`. Returns 0 and `*ret`,
 * to be freed with vg_free(), or a negative errno: -ENOENT without a backup; -EBADMSG for a damaged one; -ESTALE for
 * one of another VG. For a damaged one `*reterr_reason` is that of metadata_parse(). `*ret_size` is the size of a
 * file that was read. Both may be NULL. */
int backup_read(int root_fd, const char *directory, const char *name, struct vg **ret, size_t *ret_size,
        const char **reterr_reason) _nonnull_(2, 3, 4) _must_check_;

/* Whether vgremove was run on the VG: its backup, if any, has no LVs, and the newest archive was written before a
 * vgremove (lvm2, lib/format_text/archive.c). Returns 1, 0 or -ENOMEM. */
int backup_tells_removal(const char *backup_directory, const char *archive_directory,
        const struct vg *vg) _nonnull_all_ _must_check_;
