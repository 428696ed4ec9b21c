/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdbool.h>

#include "lvm/configuration.h"
#include "shared/names.h"
#include "shared/util.h"

/* The VGs that the machine is known to have before any disk has come. lvm2 writes a backup of a VG's metadata
 * at every change, and the initrd records the PVs that it has found. There is no list of headgate's own that
 * could be out of date. */

struct known_volume_group {
        size_t index; /* its place among all of them */
        char *name;
        char vgid[LVM_ID_SIZE]; /* empty where only the name is known */
        char *skip_reason;      /* what forbids activation, the end of a sentence; NULL if nothing is known to */
};

struct known_volume_group *known_volume_group_free(struct known_volume_group *volume_group);
DEFINE_CLEANUP(struct known_volume_group *, known_volume_group_free)
#define _cleanup_known_volume_group_ _cleanup_(known_volume_group_freep)

struct known_volume_groups {
        struct known_volume_group **volume_groups;
        size_t n;
        struct dm_hash_table *by_name;
        struct dm_hash_table *by_id;
        const struct string_vector *left_out; /* sorted names of VGs that are of no interest; NULL for none */
};

/* As many VGs as a drop-in of systemd's can name: their names make one line, which may have 1 MiB. */
#define KNOWN_VOLUME_GROUPS_MAX 4096

/* Returns 0 or -ENOMEM, and then, too, it is to be emptied with known_volume_groups_done(). */
int known_volume_groups_init(struct known_volume_groups *known) _nonnull_(1) _must_check_;

/* Whether it is one of `left_out`. */
bool known_volume_groups_leave_out(const struct known_volume_groups *known, const char *name) _nonnull_(1, 2);

/* Adds a VG of which only the name is known, unless it is there or left out. Returns 0, -E2BIG or -ENOMEM. */
int known_volume_groups_add(struct known_volume_groups *known, const char *name) _nonnull_(1, 2) _must_check_;

/* Takes over a VG that is not there yet. Of two with one identifier, a VG and its clone, the first counts as its
 * owner. Returns 0, -E2BIG or -ENOMEM, and then the VG stays the caller's. */
int known_volume_groups_take(struct known_volume_groups *known, struct known_volume_group *volume_group)
        _nonnull_(1, 2) _must_check_;

/* NULL if there is none. */
struct known_volume_group *known_volume_groups_find(const struct known_volume_groups *known, const char *name)
        _nonnull_(1, 2);
struct known_volume_group *known_volume_groups_find_id(const struct known_volume_groups *known, const char *vgid)
        _nonnull_(1, 2);

void known_volume_groups_done(struct known_volume_groups *known) _nonnull_(1);
#define _cleanup_known_volume_groups_ _cleanup_(known_volume_groups_done)
