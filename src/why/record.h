/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cli/suggestion.h"
#include "lvm/volume_group.h"
#include "why/sources.h"

/* What is known of a VG: what the worker has written down, or else what lvm2 has in its backup, and in either case
 * the newest metadata that can be read. A PV that does not answer is waited for then. */

enum record_source {
        RECORD_OF_WORKER,
        RECORD_OF_BACKUP, /* headgate has seen none of its PVs, or is not in charge */
        RECORD_OF_DISK,   /* likewise, and lvm2 has no backup of it */
};

struct record {
        enum record_source source;
        struct volume_group *volume_group; /* with the LVs that are active now, and in the state that follows */
        bool claimed;                      /* lvm2 takes it for autoactivated */
        struct metadata *metadata;         /* NULL if none can be read, or if all LVs are active */
        const char *metadata_device;       /* the PV that it comes from; NULL for the backup */
        dev_t metadata_number;             /* of the disk, for RECORD_OF_DISK */
        size_t n_namesakes; /* other VGs of this name that the worker knows; 0 if all LVs are active */
        char *device_name;  /* owns metadata_device */
};

enum {
        RECORD_NONE = 0,
        RECORD_FOUND = 1,
};

/* Finds the VG by its name. Returns one of the above, or a negative errno. */
int record_find(const struct sources *sources, const char *name, struct record *ret)
        _nonnull_(1, 2, 3) _must_check_;

/* Looks for the VG on PVs that udev knows and headgate has not been told of: disks of virtual machines, for one
 * thing. Reads all of these. Returns as above. */
int record_search(const struct sources *sources, const char *name, struct record *ret)
        _nonnull_(1, 2, 3) _must_check_;

/* Considers the names of all VGs that are known. */
void record_suggest(const struct sources *sources, struct suggestion *suggestion) _nonnull_(1, 2);

/* The LV of that name in the metadata, or NULL. */
const struct metadata_lv *record_find_metadata_lv(const struct record *record, const char *name) _nonnull_(1, 2);
const struct volume_group_lv *record_find_lv(const struct record *record, const char *name) _nonnull_(1, 2);

void record_done(struct record *record) _nonnull_(1);
#define _cleanup_record_ _cleanup_(record_done)
