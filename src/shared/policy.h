/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>

#include "shared/problems.h"
#include "shared/util.h"

/* What headgate.conf(5) says of single VGs, in its section volume_groups: what becomes of one that is incomplete when
 * its deadline is over. */

struct policy {
        char *pattern;          /* the name of a VG, or a pattern as in fnmatch(3) */
        bool is_name;           /* and no pattern */
        bool degraded;          /* at its deadline lvm2 is asked for what can do without the missing PVs */
        uint64_t deadline_usec; /* 0 if it has that of all VGs; else as in settings.h */
};

/* Starts empty: all zeros. */
struct policies {
        struct policy *policies; /* in the order of the file */
        size_t n;
};

/* Takes the section over from `node`. A VG's section that is called what no VG can be called is left out, and so is
 * each key that is not known or has a wrong value; each is added to `problems`, in one line with the file, the
 * section's name and the key. Returns 0 or -ENOMEM. */
int policies_read(const struct dm_config_node *node, struct policies *policies, struct problems *problems)
        _nonnull_(1, 2, 3) _must_check_;

/* Whether that is the name of the section, or fits its pattern. */
bool policy_fits(const struct policy *policy, const char *volume_group_name) _nonnull_(1, 2);

/* The section that counts for the VG of that name: its own, or else the first whose pattern fits; NULL if there is
 * none. */
const struct policy *policies_find(const struct policies *policies, const char *volume_group_name) _nonnull_(1, 2);

void policies_done(struct policies *policies) _nonnull_(1);
