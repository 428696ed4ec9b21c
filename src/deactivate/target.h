/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/config.h"
#include "teardown/scope.h"

/* A name on the command line: of a VG, an LV, or any block device. */
struct target {
        const char *name; /* as it was given */
        char *vg;         /* NULL for another device */
        const char *lv;   /* in the same memory; NULL for a whole VG, or another device */
        char *dm_name;    /* of a device that device-mapper has by that path; else NULL */
        dev_t number;     /* of a device that has a path; else 0 */
        bool found;       /* by target_select(): there is a node that can be removed */
};

/* Parses a name: without a "/" it is a VG; with one inside, VG/LV; and else a path. Of /dev/VG/LV and /dev/mapper/NAME,
 * device-mapper knows which device that is, whatever the path leads to. Other links count if udev has them on record for their
 * device. A path that does not exist may be that of an LV that is not active. Returns 0 and `*ret`, to be emptied with
 * target_done(); -EINVAL for a name that neither a VG nor an LV can have; -ENOTBLK; -ESTALE for other links; what stat() says
 * of a path; or -ENOMEM. `name` is kept, not copied. */
int target_parse(const char *name, struct target *ret) _nonnull_all_ _must_check_;
void target_done(struct target *target) _nonnull_all_;
#define _cleanup_target_ _cleanup_(target_done)

/* Why that name could not be parsed. */
void target_log_error(const char *name, int error) _nonnull_all_;

/* The node of an LV, which for a pool that is not active by itself is its layer, or of another device; NULL if
 * there is none. Not of a whole VG. */
struct tree_node *target_find_node(const struct target *target, const struct tree *tree) _nonnull_all_;

/* Selects its nodes. */
void target_select(struct target *target, struct tree *tree) _nonnull_all_;

/* Whether a target that was not found exists, and is not active: a VG or LV that is in lvm2's last backup of the VG's
 * metadata, below `root_fd`, and every device. Returns 1 or 0, or -ENOMEM. */
int target_is_down(
        const struct target *target, int root_fd, const struct config *config) _nonnull_all_ _must_check_;
