/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/plan.h"
#include "view/snapshot.h"

/* VGs that the machine is known to have and of which headgate has seen no PV: the plan of boot, less those in a snapshot. */

/* Makes it of the files of which headgate-generator makes its plan; those of VGs in the snapshot are not read. "headgate plan
 * activate" reports what is wrong with any of them. Returns 0 and `*ret`, to be emptied with plan_done(), or a negative
 * errno. */
int expected_find(struct sources *sources, const struct snapshot *seen, struct plan *ret)
        _nonnull_(1, 2, 3) _must_check_;

/* Adds those that boot waits for. Returns 0 or a negative errno. */
int expected_add(struct sources *sources, const struct plan *plan, struct snapshot *snapshot)
        _nonnull_(1, 2, 3) _must_check_;

/* Adds the others: whether they exist is not known, since backups may be of VGs that were removed. */
int expected_add_others(struct sources *sources, const struct plan *plan, struct snapshot *snapshot)
        _nonnull_(1, 2, 3) _must_check_;

/* Whether boot waits for it, with or without the network. */
bool expected_by_boot(const struct planned_volume_group *planned) _nonnull_(1);
