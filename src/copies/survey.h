/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/label.h"
#include "lvm/metadata.h"
#include "lvm/metadata_area.h"
#include "shared/macro.h"

/* Where VGs have copies of their metadata: each PV has none to two areas for one, and lvm2 may have been told
 * to ignore an area. Found by reading the PVs as the worker does: the label and the header of each area, and
 * each text only once. */

struct surveyed_area {
        struct metadata_area area;
        struct metadata_location location; /* if `state` is METADATA_AREA_FOUND */
        int state;                         /* METADATA_AREA_*, or a negative errno if it cannot be read */
};

struct surveyed_pv {
        char *path;
        char pvid[LVM_ID_SIZE];
        size_t n_areas;
        struct surveyed_area areas[LABEL_METADATA_AREAS_MAX];
};

struct surveyed_vg {
        struct metadata *metadata;      /* the newest that was found */
        uint64_t text_size;             /* of that, in bytes */
        const struct surveyed_pv **pvs; /* those that are there; n_seen of metadata->n_pvs */
        size_t n_seen;
        size_t n_used, n_ignored; /* copies */
        size_t n_damaged;         /* areas that cannot be read */
};

/* Starts empty: all zeros. */
struct survey {
        struct surveyed_pv *pvs;
        size_t n_pvs;
        struct surveyed_vg *vgs; /* by name */
        size_t n_vgs;
        int error; /* of a device that could not be read, or 0 */
};

/* Reads all devices or images of a list. What is no PV is passed over, and so is a second device with the same
 * PV. Returns 0 or -ENOMEM. */
int survey_make(struct survey *survey, char *const paths[], size_t n) _nonnull_(1) _must_check_;
void survey_done(struct survey *survey) _nonnull_(1);
#define _cleanup_survey_ _cleanup_(survey_done)

/* The VG of that name, or NULL. Of several with the same name, one. */
const struct surveyed_vg *survey_find(const struct survey *survey, const char *name) _nonnull_(1, 2);

/* How long it takes to read a VG's PVs, from the disks, if that many of its copies are in use: the labels and
 * headers of all PVs, and the text of the first `n_copies` copies, checked. What the kernel has in its cache of
 * these is dropped before. Returns 0 and `*ret_usec`, or a negative errno. */
int survey_measure(const struct surveyed_vg *vg, size_t n_copies, uint64_t *ret_usec) _nonnull_(1, 3) _must_check_;
