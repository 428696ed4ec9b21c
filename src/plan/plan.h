/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "lvm/configuration.h"
#include "shared/settings.h"
#include "shared/util.h"

/* Which of the VGs that the machine is known to have are to be activated at boot, and who waits for them. Made
 * of files alone: nothing is asked, no device is opened. The same files make the same plan. */

enum plan_group {
        PLAN_BOOT, /* a local entry of fstab, crypttab or the command line names it, or boot_volume_groups does */
        PLAN_REST, /* no entry names it */
        PLAN_NET,  /* only entries with _netdev, or net_volume_groups, name it */
        _PLAN_GROUP_MAX,
        PLAN_NONE = _PLAN_GROUP_MAX, /* it is not to be activated */
};

struct planned_volume_group {
        char *name;
        enum plan_group group;
        char *reason;       /* a sentence: why it is in its group, or why it is not activated */
        const char *source; /* the file that names it, a constant; NULL if none does */
        char *unit; /* headgate-vg@NAME.service; NULL in no group, or if the name is too long for a unit's */
};

struct plan {
        struct planned_volume_group *volume_groups; /* by name */
        size_t n;
        /* An entry may wait for any VG, since its device cannot be told from its name: then "rest" is as urgent as
         * "boot", and this says why, in a sentence; else NULL. */
        char *rest_urgent;
};

/* Reads etc/fstab, etc/crypttab, proc/cmdline, the backups and what the initrd has left, below `root_fd`. What
 * is wrong with any of these is added to `problems`, and the rest counts; with a table that cannot be read
 * nobody knows what boot waits for, so "rest" is urgent. Returns 0 and `*ret`, to be emptied with plan_done(),
 * or -ENOMEM. */
int plan_make(int root_fd, const struct settings *settings, const struct configuration *configuration,
        struct plan *ret, struct problems *problems) _nonnull_(2, 3, 4, 5) _must_check_;

/* The same of the VGs that are not in `seen`, which is sorted: what of the plan has not come. */
int plan_make_of_others(int root_fd, const struct settings *settings, const struct configuration *configuration,
        const struct string_vector *seen, struct plan *ret, struct problems *problems)
        _nonnull_(2, 3, 4, 5, 6) _must_check_;

/* The VG of that name, or NULL. */
const struct planned_volume_group *plan_find(const struct plan *plan, const char *name) _nonnull_(1, 2);

void plan_done(struct plan *plan) _nonnull_(1);
#define _cleanup_plan_ _cleanup_(plan_done)

/* "boot", "rest", "net", or "-" for PLAN_NONE. */
const char *plan_group_to_string(enum plan_group group);
