/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cli/snapshot.h"
#include "plan/plan.h"
#include "teardown/enumeration.h"

/* VGs that the machine is known to have and of which headgate has seen no PV. */
struct unseen {
        struct plan plan;
};

/* Finds them by the files of which headgate-generator makes its plan; those of VGs in the snapshot are not read.
 * What is wrong with any of them is said by "headgate plan activate". Returns 0 and `*ret`, to be emptied with
 * unseen_done(), or a negative errno. */
int unseen_find(const struct snapshot *seen, struct unseen *ret) _nonnull_(1, 2) _must_check_;

/* Adds those that boot waits for, with or without the network. Returns 0 or a negative errno. */
int unseen_add_expected(const struct unseen *unseen, struct snapshot *snapshot) _nonnull_(1, 2) _must_check_;

/* Adds those of which nobody knows whether they are there at all: backups may be of VGs that are no more. */
int unseen_add_others(const struct unseen *unseen, struct snapshot *snapshot) _nonnull_(1, 2) _must_check_;

/* Adds the one of that name, unless it is there already or not among them. */
int unseen_add_named(const struct unseen *unseen, const char *name, struct snapshot *snapshot)
        _nonnull_(1, 2, 3) _must_check_;

/* Names those that boot waits for and that are not in a snapshot that was read later. */
void unseen_enumerate_expected(const struct unseen *unseen, const struct snapshot *snapshot,
        struct enumeration *names) _nonnull_(1, 2, 3);

void unseen_done(struct unseen *unseen) _nonnull_(1);
#define _cleanup_unseen_ _cleanup_(unseen_done)
