/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/vg-state.h"
#include "lvm/volume_group.h"

/* What a vgchange has printed, and how it has ended: facts about one of the VGs that it was asked for. The active LVs of
 * the VG must be marked. The messages are those of lvm2 2.03.16 to 2.03.31. */

struct outcome {
        enum vg_event event; /* one of VG_ENDED_* */
        char *words; /* what lvm2 has said of the VG or of an LV of it, or how vgchange ended; to be freed */
};

void outcome_done(struct outcome *outcome) _nonnull_(1);
#define _cleanup_outcome_ _cleanup_(outcome_done)

/* Of a normal activation of `n_vgs` VGs, this one among them. `exit_status` is as in command.h. If all LVs are active, that is
 * VG_ENDED_CONTENT, without words. Returns 0 or -ENOMEM. */
int outcome_read(const struct volume_group *vg, size_t n_vgs, int exit_status, const char *output,
        struct outcome *ret) _nonnull_(1, 4, 5) _must_check_;

/* Of a degraded activation: `words` names the LVs that are not active, and is NULL if all are. Returns likewise. */
int outcome_read_degraded(const struct volume_group *vg, int exit_status, const char *output, struct outcome *ret)
        _nonnull_(1, 3, 4) _must_check_;
