/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/config.h"
#include "lvm/metadata.h"

/* How many copies of their metadata VGs have, and the recommended number. Each PV has up to two areas for a copy, and lvm2 can
 * be told to ignore an area. */

/* So many copies survive the loss of any four disks. */
#define COPIES_ENOUGH 5U

struct copies {
        size_t n_used, n_ignored;
};

struct surveyed_vg {
        const char *name;     /* of the metadata */
        struct vg *metadata;  /* the newest that was found */
        uint64_t text_size;   /* of that, in bytes */
        size_t n_seen;        /* PVs found, of metadata->n_pvs */
        struct copies copies; /* on all of these */
};

/* Starts empty: all zeros. */
struct survey {
        struct copies *pvs;
        size_t n_pvs;
        struct dm_hash_table *pvs_by_id;
        struct surveyed_vg *vgs; /* by name */
        size_t n_vgs;
};

/* Appends the names in /dev of the devices that are PVs by udev, and that lvm2 uses: no paths of multipath devices, and LVs
 * only with devices/scan_lvs. Returns 0 or a negative errno. */
int copies_find_devices(struct strv *names) _nonnull_all_ _must_check_;

/* Reads all devices or images of a list. Ignores a device that is no PV, or has the identifier of an earlier one, or cannot be
 * read; the last is logged. Returns 0 or a negative errno: -ETIMEDOUT if one is unresponsive, which was logged;
 * -ENODATA if none of them is a PV. */
int survey_make(struct survey *survey, char *const paths[], size_t n) _nonnull_(1) _must_check_;
void survey_done(struct survey *survey) _nonnull_all_;
#define _cleanup_survey_ _cleanup_(survey_done)

/* The recommended number of copies, 0 if nothing needs to be changed, and why, as the end of a sentence. Returns 0; 1 if headgate
 * does not change the VG, for that reason; or -ENOMEM. `*ret_reason` is to be freed by the caller. */
int copies_recommend(const struct surveyed_vg *vg, const struct system_id *host, size_t *ret_copies,
        char **ret_reason) _nonnull_all_ _must_check_;
