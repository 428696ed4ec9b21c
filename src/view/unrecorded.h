/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/plan.h"
#include "view/snapshot.h"

/* VGs that the worker has no record of, as far as anything else tells of them: lvm2's backup of the metadata, its record of
 * the PVs that are online, the LVs in device-mapper. What cannot be read, by somebody who is not root for instance, tells of
 * nothing. `planned` is the VG in the plan of boot; NULL if it is not in there, or headgate is not in charge. */

/* Adds the VG of that name, unless it is there: ACTIVE if all LVs are that autoactivation would activate; ABSENT if it is
 * planned, and none of its PVs and LVs is there; else UNKNOWN, as somebody may want it as it is. Without a backup it has no
 * PVs, and those LVs that are active. Returns 0 or -ENOMEM. */
int unrecorded_add(struct sources *sources, const char *name, const struct planned_volume_group *planned,
        struct snapshot *snapshot) _nonnull_(1, 2, 4) _must_check_;

/* Adds those of `names` of which an LV is active, or a PV on lvm2's record of what is online. Returns likewise. */
int unrecorded_add_present(struct sources *sources, const struct string_vector *names, struct snapshot *snapshot)
        _nonnull_(1, 2, 3) _must_check_;

/* Makes a VG of its metadata, with the PVs that are there, as lvm2 has them on record and the kernel has the device, and the LVs
 * that are active, in the state that follows. Returns 0 or -ENOMEM. */
int unrecorded_new(const struct sources *sources, const struct metadata *metadata, struct volume_group **ret)
        _nonnull_(1, 2, 3) _must_check_;
