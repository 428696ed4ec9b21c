/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/names.h"
#include "shared/util.h"
#include "view/expected.h"
#include "view/snapshot.h"

/* How far the activation of VGs is, for people: what "headgate status --follow" shows. */
struct boot_progress {
        size_t n_in_state[_VOLUME_GROUP_STATE_MAX];
        size_t n;          /* in all, with those that are absent */
        size_t n_settled;  /* nothing more is about to happen to them, as far as anybody knows */
        size_t n_recently; /* settled within the last BOOT_PROGRESS_RATE_USEC */
        size_t n_overdue;

        const struct volume_group **awaited; /* those that are not settled, and those that are overdue */
        size_t n_awaited;
        struct enumeration absent;
};

#define BOOT_PROGRESS_RATE_USEC (5 * USEC_PER_SEC)

/* What is looked at. */
struct boot_progress_scope {
        const struct plan *expected; /* what is known without `names` */
        char *const *names;          /* none: all VGs */
        size_t n_names;
};

/* Looks at a snapshot, which lives longer than `*ret`, to be emptied with boot_progress_done(). `now` is of
 * now_usec(). Returns 0 or -ENOMEM. */
int boot_progress_measure(const struct snapshot *snapshot, const struct boot_progress_scope *scope, uint64_t now,
        struct boot_progress *ret) _nonnull_(1, 2, 4) _must_check_;

/* All in one line, in which nothing changes with time alone. Returns a string to be freed by the caller, or NULL
 * without memory. */
char *boot_progress_summarize(const struct boot_progress *progress) _nonnull_(1) _must_check_;

/* The same as a few lines for a terminal, with a bar, the rate, and how long things have been going on; all of it
 * for `since_usec`. Returns 0 or -ENOMEM. */
int boot_progress_describe(const struct boot_progress *progress, uint64_t since_usec, uint64_t now,
        struct string_vector *lines) _nonnull_(1, 4) _must_check_;

void boot_progress_done(struct boot_progress *progress) _nonnull_(1);
#define _cleanup_boot_progress_ _cleanup_(boot_progress_done)
