/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>

#include "shared/util.h"

#define SETTINGS_FILE "etc/headgate/headgate.conf"

/* Values of single keys of headgate.conf(5). `name` is what the key is called in a message. A value of another type
 * or out of range is added to `problems`, in one line with the file and `name`, and leaves the target as it is. */

/* From 1 second to a day. */
void setting_take_seconds(const struct dm_config_node *node, const char *name, uint64_t *usec,
        struct problems *problems) _nonnull_(1, 2, 3, 4);

/* 0 or 1. */
void setting_take_switch(const struct dm_config_node *node, const char *name, bool *is_on,
        struct problems *problems) _nonnull_(1, 2, 3, 4);

/* "no" or "yes", or 0 or 1. */
void setting_take_choice(const struct dm_config_node *node, const char *name, bool *is_chosen,
        struct problems *problems) _nonnull_(1, 2, 3, 4);

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
