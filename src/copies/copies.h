/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/config.h"
#include "lvm/metadata.h"

/* The number of metadata copies of VGs, and the recommended number. Each PV has up to two areas for a copy; lvm2
 * can be told to ignore an area. */

/* This many copies survive the loss of any four disks. */
#define COPIES_ENOUGH 5U

struct copies {
        size_t n_used, n_ignored;
};

struct surveyed_vg {
        const char *name;     /* of the metadata */
        struct vg *metadata;  /* the newest copy */
        uint64_t text_size;   /* of the metadata, in bytes */
        size_t n_seen;        /* PVs found, of metadata->n_pvs */
        struct copies copies; /* on all of these PVs */
};

/* Initialize with zeros. */
struct survey {
        struct copies *pvs;
        size_t n_pvs;
        struct dm_hash_table *pvs_by_id;
        struct surveyed_vg *vgs; /* by name */
        size_t n_vgs;
};

/* Appends the names of devices that are PVs in udev's database and that lvm2 uses: no paths of multipath devices,
 * and LVs only with devices/scan_lvs. Returns 0 or a negative errno. */
int copies_find_devices(struct strv *names) _nonnull_all_ _must_check_;

/* Reads all devices or images of a list. Ignores a device that is not a PV, is a duplicate, or is unreadable; the
 * last is logged. Returns 0 or a negative errno: -ETIMEDOUT if one is unresponsive, after logging it; -ENODATA if
 * none is a PV. */
int survey_make(struct survey *survey, char *const paths[], size_t n) _nonnull_(1) _must_check_;
void survey_done(struct survey *survey) _nonnull_all_;
#define _cleanup_survey_ _cleanup_(survey_done)

/* Returns the recommended number of copies, 0 for no change, and why, as the end of a sentence. Returns 0; 1 if
 * headgate refuses to change the VG, for that reason; or -ENOMEM. The caller frees `*ret_reason`. */
int copies_recommend(const struct surveyed_vg *vg, const struct system_id *host, size_t *ret_copies,
        char **ret_reason) _nonnull_all_ _must_check_;
