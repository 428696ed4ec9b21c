/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

#define SETTINGS_FILE "etc/headgate/headgate.conf"

/* A section of volume_groups in headgate.conf(5): whether a VG is expected, and what happens to an incomplete one
 * at its deadline. */
struct policy {
        char *pattern; /* the name of a VG, or a pattern as in fnmatch(3) */
        bool is_name;  /* not a pattern */
        bool expected; /* it is reported if it is absent; default */
        bool degraded; /* degraded activation at its deadline */
        bool decides_degraded; /* the section has the key "degraded"; without it, dracut's initrd activates degraded at once */
        uint64_t deadline_usec; /* 0 for that of all VGs; else 1 s to a day */
};

/* The settings of headgate.conf(5). */
struct settings {
        uint64_t deadline_usec;          /* from a VG's first PV until it is overdue. 1 s to a day, default 30 s */
        bool direct_activation;          /* boot waits for known VGs; default */
        bool parallel_teardown;          /* shutdown removes devices in parallel; default */
        uint64_t teardown_deadline_usec; /* see headgate.conf(5). 1 s to a day, default 30 s */
        struct strv boot_vgs;            /* valid names, in the order of the file */
        struct strv net_vgs;             /* the same */
        struct policies {
                struct policy *policies; /* in the order of the file */
                size_t n;
        } policies;
};

/* Reads etc/headgate/headgate.conf below `root_fd`, in lvm.conf's syntax. Missing keys have their defaults, and so
 * have keys of a wrong type or out of range, or all keys if the file is unreadable. Invalid VG names in lists and
 * sections are skipped. Each error and each unknown key is added to `problems`, in one line with the file. Returns
 * 0 and `*ret`, to be freed with settings_done(), or -ENOMEM. */
int settings_read(int root_fd, struct settings *ret, struct problems *problems) _nonnull_all_ _must_check_;
void settings_done(struct settings *settings) _nonnull_all_;
#define _cleanup_settings_ _cleanup_(settings_done)

/* Whether the VG name matches the name or pattern of the section. */
bool policy_fits(const struct policy *policy, const char *vg_name) _nonnull_all_;

/* Returns what counts for the VG: its own section, else the first whose pattern matches, else the defaults, with a NULL pattern.
 * The deadline is never 0. The pattern belongs to the settings. */
struct policy settings_get_policy(const struct settings *settings, const char *vg_name) _nonnull_all_;
