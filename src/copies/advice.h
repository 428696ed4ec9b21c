/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "copies/survey.h"
#include "lvm/configuration.h"

/* So many copies outlive the loss of any four disks, and take no time that would matter. */
#define COPIES_ENOUGH 5U

/* VGs of up to so many PVs are well as they are: with a copy on each. */
#define COPIES_PVS_FEW 20U

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

/* How many copies the VG had better have, 0 where nothing is to be changed, and why, in a sentence. Returns 0 and
 * `*ret_reason`, to be freed by the caller, or -ENOMEM. */
int copies_advise(const struct surveyed_vg *vg, const struct system_id *host, const struct copies_cost *cost,
        size_t *ret_copies, char **ret_reason) _nonnull_(1, 2, 3, 4, 5) _must_check_;
