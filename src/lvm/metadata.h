/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/macro.h"
#include "shared/names.h"

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

struct metadata_pv {
        char pvid[LVM_ID_SIZE];
        char *device_hint; /* where lvm2 last saw it, "/dev/sda"; NULL if unknown, or no usual name of a device */
        bool missing;      /* carries lvm2's MISSING flag */
};

struct metadata_lv {
        char *name;             /* as logical_volume_name_to_show() writes it */
        char lvid[LVM_ID_SIZE]; /* the LV's own identifier; with the VG's before it, the end of the dm UUID */
        bool autoactivated;   /* neither ACTIVATION_SKIP nor NOAUTOACTIVATE; no VDO pool, which its LVs activate */
        bool activation_skip; /* ACTIVATION_SKIP: "lvchange -ay" leaves it alone, too */
        bool autoactivation_off; /* NOAUTOACTIVATE */
};

struct metadata {
        char *name;
        char vgid[LVM_ID_SIZE];
        uint64_t seqno;
        char *system_id; /* NULL if none */
        char *lock_type; /* NULL if none; "none" is given as NULL */
        bool exported;
        bool clustered;
        bool autoactivation_off; /* the VG's NOAUTOACTIVATE */
        int64_t written;         /* when lvm2 wrote this text, in seconds since 1970; 0 if it does not tell */
        bool slow; /* has LVs that take long to activate: thin, cache, writecache, VDO, RAID, mirror */
        size_t n_pvs;
        struct metadata_pv *pvs;
        size_t n_lvs;
        struct metadata_lv *lvs; /* the visible ones; without old snapshots, which come with their origin */
};

/* Parses `text` (NUL-terminated). Returns 0 and `*ret`, to be freed with metadata_free(), or a negative errno:
 * -EBADMSG with `*reterr_reason`, a static string, for text that is not a VG's metadata or beyond these limits. */
int metadata_parse(const char *text, struct metadata **ret, const char **reterr_reason)
        _nonnull_(1, 2, 3) _must_check_;

struct metadata *metadata_free(struct metadata *metadata);
DEFINE_CLEANUP(struct metadata *, metadata_free)
#define _cleanup_metadata_ _cleanup_(metadata_freep)

/* What of the metadata forbids activation, as the end of a sentence, "the VG is clustered.". lvm2 refuses all
 * of this by itself; it is told apart because it is settled without a process, and because lvm2's event mode is
 * silent about it. Returns 0 and `*ret`, to be freed by the caller, NULL if there is nothing; or -ENOMEM. */
int metadata_describe_skip(const struct metadata *metadata, char **ret) _nonnull_(1, 2) _must_check_;

/* The name with which a damaged `text` begins, if what is there can be the name of a VG: for a message, for
 * nothing else. Returns 0 and `*ret`, to be freed by the caller, or -ENOENT, -ENOMEM. */
int metadata_guess_name(const char *text, char **ret) _nonnull_(1, 2) _must_check_;

/* lvm2's backups of metadata: one file for each VG, called like the VG, which lvm2 replaces at every change. A VG
 * that another machine has changed since, or that is no more, still has its old one. */

/* Reads the backup of the VG `name` in `directory`, which is absolute or below `root_fd`. Returns 0 and `*ret`, to
 * be freed with metadata_free(), or a negative errno: -ENOENT without a backup; -EBADMSG for one that is damaged
 * or of another VG. */
int backup_read(int root_fd, const char *directory, const char *name, struct metadata **ret)
        _nonnull_(2, 3, 4) _must_check_;
