/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/vg-state.h"
#include "lvm/config.h"
#include "lvm/vg.h"

/* What a vgchange has printed, and how it has ended: facts about one of the VGs that it was asked for. What is active decides,
 * and the text explains. The active LVs of the VG must be marked. The messages are those of lvm2 2.03.16 to 2.03.31. */

/* How one has ended. */
struct vgchange_end {
        size_t n_vgs;    /* that it was asked for */
        int exit_status; /* as in command.h */
        const char *output;
        const struct config *config; /* lvm2's, whose lists may leave LVs out */
};

struct outcome {
        enum vg_event event; /* one of VG_ENDED_* */
        char *words; /* what lvm2 has said of the VG or of an LV of it, or how vgchange ended; to be freed */
};

void outcome_done(struct outcome *outcome) _nonnull_(1);
#define _cleanup_outcome_ _cleanup_(outcome_done)

/* Of a normal activation. VG_ENDED_CONTENT, without words: all LVs are active but for those that the configuration leaves out.
 * VG_ENDED_UNCLEAR, likewise: some are not, and of several VGs it is not known whose failure it was. Returns 0 or -ENOMEM. */
int outcome_read(const struct vg *vg, const struct vgchange_end *end, struct outcome *ret)
        _nonnull_(1, 2, 3) _must_check_;

/* Of a degraded activation: `words` names the LVs that are not active, and is NULL if all are. Returns likewise. */
int outcome_read_degraded(const struct vg *vg, int exit_status, const char *output, struct outcome *ret)
        _nonnull_(1, 3, 4) _must_check_;

/* Why pvscan has not recorded the device, as a sentence to be freed by the caller; NULL without memory. `*ret_failed` tells whether
 * that is no verdict on the device: pvscan has failed without a word about it, because of its configuration, say. */
char *outcome_explain_refusal(
        const char *device_name, int exit_status, const char *output, bool *ret_failed) _nonnull_all_ _must_check_;

/* Where lvm2 fails for many VGs and says the same of each, as it does if a library or the configuration is broken, it is not asked
 * for all of them. */
#define ALIKE_MAX 8

struct alike {
        char *words;   /* of the last, or NULL */
        size_t n;      /* how many in a row had the same, but for numbers */
        uint64_t usec; /* when the last was */
};

/* Notes words, or with NULL that lvm2 has not failed. Returns 0 or -ENOMEM. */
int alike_note(struct alike *alike, const char *words, uint64_t now) _nonnull_(1) _must_check_;

/* Whether lvm2 need not be asked to know what it says of another VG. */
bool alike_speak_for_others(const struct alike *alike, uint64_t now) _nonnull_(1);
