/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/configuration.h"
#include "lvm/metadata.h"
#include "lvm/pv.h"

/* Where VGs have copies of their metadata, what these cost, and the recommended number: each PV has none to two areas for a copy,
 * and lvm2 may have been told to ignore an area. Found by the reader that the worker has, too, which reads each text only
 * once. */

/* So many copies outlive the loss of any four disks, and take no time that would matter. */
#define COPIES_ENOUGH 5U

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
        struct volume_group *metadata; /* the newest that was found */
        uint64_t text_size;            /* of that, in bytes */
        struct surveyed_pv **pvs;      /* those that are there; n_seen of metadata->n_pvs */
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

/* The devices that udev takes for PVs, and that lvm2 would use, as far as udev knows: no paths of multipath
 * devices, and LVs only if lvm2 is to look for PVs on LVs. Appends their names in /dev. Returns 0 or a negative
 * errno. */
int copies_find_devices(struct string_vector *names) _nonnull_(1) _must_check_;

/* Reads all devices or images of a list. A device that is no PV, and a second one with the same PV, is ignored. So is one that
 * cannot be read, which is logged. Returns 0, -ETIMEDOUT if one is unresponsive, which was logged, or another negative errno. */
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

/* What it costs to read the copies of a VG. */
struct copies_cost {
        uint64_t read_usec;  /* with all that are in use */
        size_t fewer;        /* another number of copies, 0 if there is none that would be fewer */
        uint64_t fewer_usec; /* with that */
};

/* With what number of copies a VG is compared: COPIES_ENOUGH, or 1 where it has no more than that. */
size_t copies_fewer(const struct surveyed_vg *vg) _nonnull_(1);

/* Why headgate leaves the VG alone, as the end of a sentence: "it is shared (lock_type sanlock)". Returns 0 and
 * `*ret`, to be freed by the caller, NULL if nothing forbids a change; or -ENOMEM. */
int copies_describe_refusal(const struct surveyed_vg *vg, const struct system_id *host, char **ret)
        _nonnull_(1, 2, 3) _must_check_;

/* The recommended number of copies, 0 where nothing is to be changed, and why, in a sentence. Returns 0 and
 * `*ret_reason`, to be freed by the caller, or -ENOMEM. */
int copies_advise(const struct surveyed_vg *vg, const struct system_id *host, const struct copies_cost *cost,
        size_t *ret_copies, char **ret_reason) _nonnull_(1, 2, 3, 4, 5) _must_check_;
