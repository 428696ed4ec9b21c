/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cli/target.h"
#include "lvm/online.h"
#include "view/sources.h"

/* What "headgate deactivate" is about to do: what it was asked for, what of the storage tree that is, and the
 * locks of the VGs that are concerned. Functions return 0 or a negative errno, and say on standard error what is
 * wrong with single names and devices, which does not concern the others. */
struct deactivation {
        struct sources sources; /* with the configuration */
        struct target *targets; /* NULL for all that is not in use */
        size_t n_targets;
        struct volume_group_locks locks;
        struct tree *tree;
        struct selection selection;
        bool something_left; /* of what was asked for, or not known; so far as is known */
};

/* `names` are kept, not copied; none for all that is not in use. */
int deactivation_init(struct deactivation *deactivation, char *names[], size_t n) _nonnull_(1, 2) _must_check_;

/* Finds out what of the machine it is, with the locks of lvm2 that it takes a few seconds to get. */
int deactivation_lock_and_find(struct deactivation *deactivation) _nonnull_(1) _must_check_;
/* The same only to look at it, without locks, and with all that is in use left alone. */
int deactivation_find(struct deactivation *deactivation) _nonnull_(1) _must_check_;

/* Leaves alone what is not to go, says so of what was asked for, and orders the tree. */
int deactivation_decide(struct deactivation *deactivation) _nonnull_(1) _must_check_;

void deactivation_done(struct deactivation *deactivation) _nonnull_(1);
#define _cleanup_deactivation_ _cleanup_(deactivation_done)
