/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* From complete VGs to active LVs. Those that return a number return 0 or a negative errno if the worker cannot
 * go on. */

/* Activates the VGs that are complete and recorded: as many vgchanges at a time as there are processors, each with
 * its share of them, and those that boot waits for before the others. VGs that may take long get a process each,
 * and hold up nobody; nor does a process for long that takes long nevertheless. Sets `*until` to when to look
 * again, USEC_INFINITY if only the end of a process matters. */
int activation_start(struct worker *worker, uint64_t *until);

/* For degraded.h: starts lvm with these words, the last of which ends its options, and the names of these VGs, which
 * are ACTIVATING until activation_on_ended(). Sets `*ret`, which is not the caller's. */
int activation_start_job(struct worker *worker, enum job_kind kind, const char *const *words, size_t n_words,
        struct managed_group *const *groups, size_t n, struct job **ret);

/* What forbids to ask lvm2 for the VG, as the end of a sentence that the VG or the worker owns; or NULL. */
const char *activation_find_skip_reason(const struct worker *worker, const struct managed_group *group);

/* Whether the job is not at work for so long that others need not wait for it. */
bool activation_is_patient(const struct job *job, uint64_t now);

/* A vgchange has ended, as job_exit_function: settles its VGs by what is active. */
int activation_on_ended(struct job *job, int exit_status, void *userdata);
