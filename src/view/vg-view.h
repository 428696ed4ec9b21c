/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/sources.h"

/* All that is known of one VG: the worker's record, or else lvm2's backup, or else what a disk says; and in each case the
 * newest metadata that can be read. Its disks are read for that, in another process. */

enum vg_view_source {
        VG_VIEW_OF_WORKER,
        VG_VIEW_OF_BACKUP, /* headgate has seen none of its PVs, or is not in charge */
        VG_VIEW_OF_DISK,   /* likewise, and lvm2 has no backup of it */
};

struct vg_view {
        enum vg_view_source source;
        struct vg *vg;         /* with the LVs that are active now, and judged by that */
        struct vg *metadata;   /* with all that the metadata says, the same or another; NULL if not read */
        char *metadata_device; /* the PV that it comes from; NULL for the backup */
        dev_t metadata_number; /* of the disk, for VG_VIEW_OF_DISK */
        const struct vg_pv *unreadable; /* one of its PVs, which cannot be read; or NULL */
        int read_error;                 /* why */
        size_t n_same_name;             /* other VGs of this name that the worker knows */
};

enum {
        VG_VIEW_NONE = 0,
        VG_VIEW_FOUND = 1,
};

/* Finds the VG by its name and, as several may have that, its identifier, "" for any. The sources have to be read. `*ret`, which
 * starts empty, is to be emptied with vg_view_done(), also if it fails. Returns one of the above, or a negative errno. */
int vg_view_find(const struct sources *sources, const char *name, const char *vgid,
        struct vg_view *ret) _nonnull_all_ _must_check_;

/* The same; a VG that is not found it looks for on PVs that udev knows and the worker was not told of, disks of virtual machines
 * for instance. Reads all of these. Returns likewise. */
int vg_view_search(const struct sources *sources, const char *name, const char *vgid,
        struct vg_view *ret) _nonnull_all_ _must_check_;

void vg_view_done(struct vg_view *view) _nonnull_all_;
#define _cleanup_vg_view_ _cleanup_(vg_view_done)
