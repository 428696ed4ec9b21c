/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/metadata.h"
#include "lvm/pv.h"
#include "shared/macro.h"

/* Where VGs have copies of their metadata: each PV has none to two areas for one, and lvm2 may have been told
 * to ignore an area. Found by the reader that the worker has, too, which reads each text only once. */

struct surveyed_pv {
        char *path;
        size_t n_used, n_ignored; /* copies */
        size_t n_damaged;         /* areas that cannot be read */

        bool measured; /* it was read to measure it, and what follows is set unless another PV is there by now */
        uint64_t read_usec;
        size_t n_read; /* copies */
        uint64_t copy_read_usec[LABEL_METADATA_AREAS_MAX];
};

struct surveyed_vg {
        struct metadata *metadata; /* the newest that was found */
        uint64_t text_size;        /* of that, in bytes */
        struct surveyed_pv **pvs;  /* those that are there; n_seen of metadata->n_pvs */
        size_t n_seen;
        size_t n_used, n_ignored, n_damaged; /* on all of these */
};

/* Starts empty: all zeros. */
struct survey {
        struct surveyed_pv *pvs;
        size_t n_pvs;
        struct dm_hash_table *pvs_by_id;
        struct surveyed_vg *vgs; /* by name */
        size_t n_vgs;
        int error; /* of a device that could not be read, or 0 */
};

/* Reads all devices or images of a list. What is no PV is passed over, and so is a second device with the same
 * PV. A device that cannot be read is logged and passed over, too. Returns 0, -ETIMEDOUT if one is unresponsive, which
 * was logged, or another negative errno. */
int survey_make(struct survey *survey, char *const paths[], size_t n) _nonnull_(1) _must_check_;
void survey_done(struct survey *survey) _nonnull_(1);
#define _cleanup_survey_ _cleanup_(survey_done)

/* The VG of that name, or NULL. Of several with the same name, one. */
const struct surveyed_vg *survey_find(const struct survey *survey, const char *name) _nonnull_(1, 2);

/* Measures how long it takes to read the PVs of these VGs from the disks. What the kernel has in its cache of these is
 * dropped before. Returns 0, or the negative errno of a device, which was logged, or another one. */
int survey_measure(struct survey *survey, const struct surveyed_vg *const *vgs, size_t n)
        _nonnull_(1) _must_check_;

/* How long it took with that many copies in use: the labels and headers of all PVs, and the text of the first `n_copies`
 * copies, checked. In microseconds. */
uint64_t survey_read_usec(const struct surveyed_vg *vg, size_t n_copies) _nonnull_(1);
