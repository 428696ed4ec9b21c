/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/sources.h"

/* All VGs at one moment, each judged once: those that the worker has on record, with the LVs that are active now, and those
 * that somebody adds. Needs no running worker. */
struct snapshot {
        struct volume_group **volume_groups; /* by name */
        size_t n;
};

/* Reads records, which are read on, and devices, anew. A record that is damaged is named in a line on standard error and left
 * out. Where the kernel cannot be asked, each VG is as the worker saw it. Returns 0 or a negative errno. */
int snapshot_read(struct sources *sources, struct snapshot *ret) _nonnull_(1, 2) _must_check_;

/* Brings the VG, which was made of a record, up to date: LVs, state and reason. */
void snapshot_judge(const struct sources *sources, struct volume_group *volume_group) _nonnull_(1, 2);

/* Takes over a VG and puts it into its place by name. Returns 0, or -ENOMEM, and then the VG stays the caller's. */
int snapshot_insert(struct snapshot *snapshot, struct volume_group *volume_group) _nonnull_(1, 2) _must_check_;

/* The VG of that name, or NULL. Of several with one name, one with active LVs, or else the first. */
const struct volume_group *snapshot_find(const struct snapshot *snapshot, const char *name) _nonnull_(1, 2);

void snapshot_done(struct snapshot *snapshot);
#define _cleanup_snapshot_ _cleanup_(snapshot_done)
