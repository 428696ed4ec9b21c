/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "doctor/unit.h"
#include "tree/tree.h"
#include "view/snapshot.h"

/* What the checks are about, as far as more than one of them looks at it. What could not be read has a negative
 * errno in its place, and each check that needs it says so. */
struct machine {
        struct sources sources; /* with the configuration */
        int taken_over;         /* whether headgate is in charge: 0, 1 or a negative errno */
        struct snapshot snapshot;
        int snapshot_error;
        struct units units;
        int units_error;
        struct tree *tree; /* NULL on error */
        int tree_error;
};

/* Returns 0 or a negative errno; in either case the machine is to be emptied with machine_done(). */
int machine_read(struct machine *machine) _nonnull_(1) _must_check_;
void machine_done(struct machine *machine) _nonnull_(1);
#define _cleanup_machine_ _cleanup_(machine_done)

/* Whether something is at that path, a link to nowhere included. */
bool machine_has(const struct machine *machine, const char *path) _nonnull_(1, 2);

/* Whether the path is masked: a link to /dev/null. */
bool machine_has_mask(const struct machine *machine, const char *path) _nonnull_(1, 2);

/* The names in a directory without those that begin with a full stop, in the order of the alphabet. One that
 * cannot be opened has none. Returns 0 or a negative errno. */
int machine_list(int dir_fd, const char *path, struct string_vector *ret) _nonnull_(2, 3) _must_check_;

/* Whether any LV of the VG of that name is active. False where that is not known. */
bool machine_has_active(const struct machine *machine, const char *vg) _nonnull_(1, 2);
