/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/names.h"
#include "view/expected.h"
#include "view/names.h"

/* How far the activation of VGs is, for people: what "headgate status --follow" shows. */
struct boot_progress {
        size_t n_in_state[_VOLUME_GROUP_STATE_MAX];
        size_t n;          /* in all, with those that are absent */
        size_t n_settled;  /* nothing more is about to happen to them, as far as anybody knows */
        size_t n_recently; /* settled within the last few seconds */
        size_t n_overdue;

        const struct volume_group **awaited; /* those that are not settled, and those that are overdue */
        size_t n_awaited;
        struct enumeration absent;
};

/* Looks at the VGs with these names in a snapshot, which lives longer than `*ret`, to be emptied with
 * boot_progress_done(). Without names, these are all that are in it, and of those that are expected the ones that boot
 * waits for. `now` is of now_usec(). Returns 0 or -ENOMEM. */
int boot_progress_measure(const struct snapshot *snapshot, const struct string_vector *names,
        const struct plan *expected, uint64_t now, struct boot_progress *ret) _nonnull_(1, 2, 3, 5) _must_check_;

/* Writes all in one line, in which nothing changes with time alone. */
void boot_progress_print_summary(const struct boot_progress *progress, FILE *file) _nonnull_(1, 2);

/* The same as a few lines for a terminal, with a bar, the rate, and how long things have been going on; all of it
 * for `since_usec`. */
void boot_progress_print(const struct boot_progress *progress, uint64_t since_usec, uint64_t now, FILE *file)
        _nonnull_(1, 4);

void boot_progress_done(struct boot_progress *progress) _nonnull_(1);
#define _cleanup_boot_progress_ _cleanup_(boot_progress_done)
