/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/policy.h"
#include "shared/problems.h"
#include "shared/setting.h"
#include "shared/util.h"

/* What headgate.conf(5) sets. */
struct settings {
        uint64_t deadline_usec; /* from a VG's first PV on; then it is overdue. 30 s by default, 1 s to a day */
        bool direct_activation; /* whether boot waits for the VGs that the machine is known to have; by default */
        bool parallel_teardown; /* whether devices are taken down many at a time; by default */
        uint64_t teardown_deadline_usec;         /* see headgate.conf(5). 30 s by default, 1 s to a day */
        struct string_vector boot_volume_groups; /* valid names, as they come */
        struct string_vector net_volume_groups;  /* the same */
        struct policies policies;                /* of single VGs */
};

/* Reads etc/headgate/headgate.conf below `root_fd`, in lvm.conf's syntax. What is missing has its default, and
 * so has what is wrong: a key whose value is of another type or out of range, or all of them in a file that
 * cannot be read. Of a list, names that no VG can have are left out, of the section volume_groups what policy.h
 * says. Each of these, and each key that is not known, is added to `problems`. Returns 0 and `*ret`, to be
 * emptied with settings_done(), or -ENOMEM. */
int settings_read(int root_fd, struct settings *ret, struct problems *problems) _nonnull_(2, 3) _must_check_;

/* Whether lvm2 is to be asked for the VG of that name without the PVs that are missing when its deadline is over. By
 * default it is not. */
bool settings_allow_degraded(const struct settings *settings, const char *volume_group_name) _nonnull_(1, 2);

/* The deadline of the VG of that name: its own, or that of all. */
uint64_t settings_get_deadline(const struct settings *settings, const char *volume_group_name) _nonnull_(1, 2);

void settings_done(struct settings *settings) _nonnull_(1);
#define _cleanup_settings_ _cleanup_(settings_done)
