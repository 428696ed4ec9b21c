/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/sources.h"

/* One VG, from the worker's record, or else lvm2's backup, or else a disk, or else device-mapper. It comes with the newest metadata
 * on its disks, which are read by another process; from device-mapper without PVs and metadata. */

struct vg_view {
        struct vg *vg;                  /* with its current LVs and state */
        struct vg *metadata;            /* with all metadata, may be the same; NULL if not read */
        bool recorded;                  /* by the worker, which is in charge and has seen a PV of it */
        const struct vg_pv *unseen;     /* without record and backup, the PV that was found; or NULL */
        const struct vg_pv *unreadable; /* a PV that cannot be read; or NULL */
        int read_error;                 /* why */
        size_t n_same_name;             /* other VGs of this name that the worker knows */
};

/* Finds the VG by its name and, since several may have the name, its UUID; "" for any. The sources have to be read. If they do
 * not have it, reads all PVs in udev's database that have no record of the worker, such as disks of virtual machines. If none has
 * it, makes it from its active LVs. The caller empties `*ret` with vg_view_done(), also if it fails. Returns 1 if it was
 * found, 0 if not, or a negative errno. */
int vg_view_find(const struct sources *sources, const char *name, const char *vgid,
        struct vg_view *ret) _nonnull_all_ _must_check_;

void vg_view_done(struct vg_view *view) _nonnull_all_;
#define _cleanup_vg_view_ _cleanup_(vg_view_done)
