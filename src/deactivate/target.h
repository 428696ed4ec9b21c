/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/configuration.h"
#include "teardown/selection.h"

/* What a name on the command line stands for: a VG, an LV, or any block device. */
struct target {
        const char *name; /* as it was given */
        char *vg;         /* NULL for another device */
        const char *lv;   /* in the same memory; NULL for a whole VG, or another device */
        dev_t number;     /* of a device that has a path; else 0 */
        bool found;       /* by target_select(), something that could be taken down */
};

/* Finds out what the name stands for: without a "/" in it a VG; with one inside, VG/LV; and else a path, which,
 * if it does not exist, may also be that of an LV that is not active. Returns 0 and `*ret`, to be emptied with
 * target_done(); -EINVAL for a name that neither a VG nor an LV can have; -ENOTBLK; what stat() says of a path; or
 * -ENOMEM. `name` is kept, not copied. */
int target_parse(const char *name, struct target *ret) _nonnull_(1, 2) _must_check_;
void target_done(struct target *target) _nonnull_(1);
#define _cleanup_target_ _cleanup_(target_done)

/* The node of an LV, which for a pool that is not active by itself is its layer, or of another device; NULL if
 * there is none. Not of a whole VG. Returns 0 or -ENOMEM. */
int target_find_node(const struct target *target, const struct tree *tree, struct tree_node **ret)
        _nonnull_(1, 2, 3) _must_check_;

/* Adds what it is in a tree. Returns 0 or -ENOMEM. */
int target_select(struct target *target, struct selection *selection) _nonnull_(1, 2) _must_check_;

/* Of a target that was not found: whether it is down already. A device is, with nothing on it to be taken down,
 * and so is a VG or LV that is in lvm2's last backup of the VG's metadata, below `root_fd`. Returns 1 or 0, or
 * -ENOMEM. */
int target_is_down(const struct target *target, int root_fd, const struct configuration *configuration)
        _nonnull_(1, 3) _must_check_;
