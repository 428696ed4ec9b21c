/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/configuration.h"
#include "teardown/selection.h"

/* What "headgate deactivate" was asked for by one name: a VG, an LV, or any block device. */
struct target {
        const char *name; /* as it was given */
        char *vg;         /* NULL for another device */
        char *lv;         /* NULL for a whole VG, or another device */
        dev_t number;     /* of a device that has a path; else 0 */
        bool found;       /* by target_select() */
};

/* Finds out what the name stands for: without a "/" in it a VG; with one inside, VG/LV; and else a path, which,
 * if it does not exist, may also be that of an LV that is not active. Returns 0; -EINVAL for a name that neither a
 * VG nor an LV can have; -ENOTBLK; what stat() says of a path; or -ENOMEM. `name` is kept, not copied. */
int target_parse(const char *name, struct target *ret) _nonnull_(1, 2) _must_check_;

/* Adds what it is in a tree. Returns 0 or -ENOMEM. */
int target_select(struct target *target, struct selection *selection) _nonnull_(1, 2) _must_check_;

/* Of a target that was not found: whether there is such a VG or LV, or was when lvm2 made its last backup, so that
 * it is not active. Returns 1 or 0, or -ENOMEM. */
int target_is_known(const struct target *target, const struct configuration *configuration)
        _nonnull_(1, 2) _must_check_;

void target_done(struct target *target) _nonnull_(1);
