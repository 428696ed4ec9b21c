/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cli/snapshot.h"
#include "shared/util.h"

/* VGs that headgate has not dealt with, as far as anything tells of them. Their state is ACTIVE if all LVs are
 * active that lvm2 would activate by itself, and otherwise UNKNOWN: somebody may want it like that. */

/* Adds the VGs among `names` of which an LV is active, or a PV on lvm2's record of what is online. Returns 0 or a
 * negative errno. */
int unmanaged_add_present(const struct string_vector *names, struct snapshot *snapshot)
        _nonnull_(1, 2) _must_check_;

/* Adds all of them that are not there yet. */
int unmanaged_add_all(const struct string_vector *names, struct snapshot *snapshot) _nonnull_(1, 2) _must_check_;

/* Adds one, unless it is there already. */
int unmanaged_add_named(const char *name, struct snapshot *snapshot) _nonnull_(1, 2) _must_check_;
