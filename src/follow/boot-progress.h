/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/names.h"
#include "view/snapshot.h"

/* Progress of the activation of VGs, as "headgate status --follow" shows it. */
struct boot_progress {
        size_t n_in_state[_VOLUME_GROUP_STATE_MAX];
        size_t n;          /* in all, with those that are absent */
        size_t n_settled;  /* with nothing left to do, as far as is known */
        size_t n_recently; /* settled within the last few seconds */
        size_t n_overdue;

        const struct volume_group **awaited; /* those that are not settled, and those that are overdue */
        size_t n_awaited;
        struct enumeration absent;
};

/* Counts the VGs with these names in a snapshot, which lives longer than `*ret`, to be emptied with boot_progress_done().
 * Without names all VGs in the snapshot count, and the expected ones that boot waits for. `now` is of now_usec(). Returns 0
 * or -ENOMEM. */
int boot_progress_measure(const struct snapshot *snapshot, const struct string_vector *names,
        const struct plan *expected, uint64_t now, struct boot_progress *ret) _nonnull_(1, 2, 3, 5) _must_check_;

/* Writes one line without any time, so that it is the same until the state of a VG changes. */
void boot_progress_print_summary(const struct boot_progress *progress, FILE *file) _nonnull_(1, 2);

/* Writes a few lines for a terminal: a bar with the rate and the time since `since_usec`, counts, and a line for each of the
 * VGs that have not been settled for longest. */
void boot_progress_print(const struct boot_progress *progress, uint64_t since_usec, uint64_t now, FILE *file)
        _nonnull_(1, 4);

void boot_progress_done(struct boot_progress *progress) _nonnull_(1);
#define _cleanup_boot_progress_ _cleanup_(boot_progress_done)
