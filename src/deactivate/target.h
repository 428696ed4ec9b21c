/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/config.h"
#include "teardown/scope.h"

/* A name on the command line: of a VG, an LV, or any block device. */
struct target {
        const char *name; /* as given */
        char *vg;         /* NULL for another device */
        const char *lv;   /* in the memory of `vg`; NULL for a whole VG, or another device */
        char *dm_name;    /* name of the device-mapper device with that path; else NULL */
        dev_t number;     /* of a device that has a path; else 0 */
        bool found;       /* set by target_select(): it has a removable node */
};

/* Parses a name: a VG without "/", VG/LV, or a path. /dev/VG/LV and /dev/mapper/NAME mean the device-mapper device of that name,
 * whatever they link to. Other links must be listed by udev for their device. A path that does not exist may be that of an
 * inactive LV. `name` is kept, not copied.
 *
 * Returns 0 and `*ret`, to be emptied with target_done(). Returns -EINVAL for an invalid name of a VG or LV, -ENOTBLK, -ESTALE
 * for a link that udev does not list, the error of stat(), or -ENOMEM. */
int target_parse(const char *name, struct target *ret) _nonnull_all_ _must_check_;
void target_done(struct target *target) _nonnull_all_;
#define _cleanup_target_ _cleanup_(target_done)

/* Logs why the name could not be parsed. */
void target_log_error(const char *name, int error) _nonnull_all_;

/* Finds the node of an LV or another device; NULL if there is none. A pool that is not active itself has only the node of its
 * layer. NULL for a whole VG, too. */
struct tree_node *target_find_node(const struct target *target, const struct tree *tree) _nonnull_all_;

/* Selects the nodes of the target. An LV that others of its VG use, a hidden LV or a pool by its layer, is not found. */
void target_select(struct target *target, struct tree *tree) _nonnull_all_;

/* Whether a VG or LV without nodes exists, and is inactive: lvm2's metadata backup below `root_fd` has it. Returns 1, 0 or
 * -ENOMEM. */
int target_is_down(
        const struct target *target, int root_fd, const struct config *config) _nonnull_all_ _must_check_;
