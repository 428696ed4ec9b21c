/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "deactivate/target.h"
#include "lvm/online.h"
#include "view/sources.h"

/* What "headgate deactivate" is about to do: what it was asked for, what of the storage tree that is, and the
 * locks of the VGs that are concerned. Functions return 0 or a negative errno unless they say otherwise. What is wrong with
 * single names and devices they say on standard error, as it does not concern the others. */
struct deactivation {
        struct sources sources; /* with the configuration */
        struct target *targets; /* NULL for all that is not in use */
        size_t n_targets;
        bool serial;       /* one device after another; the caller's, as the next one */
        bool no_udev_sync; /* do not wait until udev has removed its links */
        struct volume_group_locks locks;
        struct tree *tree;
        struct selection selection;
        bool something_left; /* of what was asked for, or not known; so far as is known */
};

/* `names` are kept, not copied; none for all that is not in use. */
int deactivation_init(struct deactivation *deactivation, char *names[], size_t n) _nonnull_(1, 2) _must_check_;
void deactivation_done(struct deactivation *deactivation) _nonnull_(1);
#define _cleanup_deactivation_ _cleanup_(deactivation_done)

/* Finds out what would go, without locks, and with all that is in use left alone. Returns 1 with an ordered tree, in which
 * that is what tree_node_is_ours(); or 0 if nothing would. */
int deactivation_preview(struct deactivation *deactivation) _nonnull_(1) _must_check_;

/* Deactivates it, with the locks of lvm2 that it takes a few seconds to get, and waits until udev is done with it. */
int deactivation_run(struct deactivation *deactivation) _nonnull_(1) _must_check_;
