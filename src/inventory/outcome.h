/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/vg-state.h"
#include "lvm/config.h"
#include "lvm/vg.h"

/* The outcome of vgchange and pvscan, from their exit status and output. Active LVs decide the result for a VG; the
 * output explains it. Call dm_devices_mark_active() first. Messages are those of lvm2 2.03.16 to 2.03.31. */

/* The end of a vgchange. */
struct vgchange_end {
        size_t n_vgs;    /* in its arguments */
        int exit_status; /* as in command.h */
        const char *output;
        const struct config *config; /* lvm2's, whose lists may exclude LVs */
};

/* Returns the event of a normal activation, VG_ENDED_*, or -ENOMEM. VG_ENDED_OK: all LVs are active except excluded
 * ones. VG_ENDED_FAILED: `*ret_words`, NULL before and to be freed by the caller, is lvm2's message about the VG or one
 * of its LVs, or the exit status. VG_ENDED_UNCLEAR: some are not active, and it is unknown which of several VGs
 * failed. */
int outcome_read(const struct vg *vg, const struct vgchange_end *end, char **ret_words) _nonnull_all_ _must_check_;

/* Likewise of a degraded activation: `*ret_words` has the inactive LVs, or stays NULL if all are active. */
int outcome_read_degraded(
        const struct vg *vg, int exit_status, const char *output, char **ret_words) _nonnull_all_ _must_check_;

/* Returns why pvscan has not recorded the device, as a sentence to be freed by the caller; NULL without memory.
 * `*ret_failed`: pvscan failed for another reason, such as its configuration, and did not refuse the device. */
char *outcome_explain_refusal(
        const char *device_name, int exit_status, const char *output, bool *ret_failed) _nonnull_all_ _must_check_;

/* If lvm2 fails for many VGs in the same way, for example because of a broken library or configuration, it is not
 * run for all the others. */
#define ALIKE_MAX 8

struct alike {
        char *words;   /* of the last failure, or NULL */
        size_t n;      /* how many in a row had the same words, except for numbers */
        uint64_t usec; /* time of the last one */
};

/* Notes a failure with these words, or a success if NULL. Returns 0 or -ENOMEM. */
int alike_note(struct alike *alike, const char *words, uint64_t now) _nonnull_(1) _must_check_;

/* Whether lvm2 would fail for another VG with the same words. */
bool alike_applies_to_others(const struct alike *alike, uint64_t now) _nonnull_(1);
