/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

#define SETTINGS_FILE "etc/headgate/headgate.conf"

/* What headgate.conf(5) says of single VGs, in its section vgs: whether the machine has it, and what becomes of one that is
 * incomplete when its deadline is over. */
struct policy {
        char *pattern;          /* the name of a VG, or a pattern as in fnmatch(3) */
        bool is_name;           /* and no pattern */
        bool expected;          /* it is missed if nothing of it is there; by default */
        bool degraded;          /* at its deadline lvm2 is asked for what can do without the missing PVs */
        bool decides_degraded;  /* and the section says so, or that it is not */
        uint64_t deadline_usec; /* 0 if it has that of all VGs; else 1 s to a day */
};

/* What headgate.conf(5) sets. */
struct settings {
        uint64_t deadline_usec; /* from a VG's first PV on; then it is overdue. 30 s by default, 1 s to a day */
        bool direct_activation; /* whether boot waits for the VGs that the machine is known to have; by default */
        bool parallel_teardown; /* whether devices are taken down many at a time; by default */
        uint64_t teardown_deadline_usec; /* see headgate.conf(5). 30 s by default, 1 s to a day */
        struct strv boot_vgs;            /* valid names, as they come */
        struct strv net_vgs;             /* the same */
        struct policies {
                struct policy *policies; /* in the order of the file */
                size_t n;
        } policies;
};

/* Reads etc/headgate/headgate.conf below `root_fd`, in lvm.conf's syntax. What is missing has its default, and
 * so has what is wrong: a key whose value is of another type or out of range, or all of them in a file that
 * cannot be read. Names that no VG can have are left out of a list, and so are sections that are called like that. Each of
 * these, and each key that is not known, is added to `problems`, in one line with the file. Returns 0 and `*ret`, to be
 * emptied with settings_done(), or -ENOMEM. */
int settings_read(int root_fd, struct settings *ret, struct problems *problems) _nonnull_all_ _must_check_;
void settings_done(struct settings *settings) _nonnull_all_;
#define _cleanup_settings_ _cleanup_(settings_done)

/* Whether that is the name of the section, or fits its pattern. */
bool policy_fits(const struct policy *policy, const char *vg_name) _nonnull_all_;

/* Whether lvm2 is to be asked for the VG of that name without the PVs that are missing when its deadline is over. By
 * default it is not. A VG's own section counts, or else the first whose pattern fits. */
bool settings_allow_degraded(const struct settings *settings, const char *vg_name) _nonnull_all_;

/* Whether the VG of that name is missed if only lvm2's backup tells of it. By default it is. */
bool settings_expect(const struct settings *settings, const char *vg_name) _nonnull_all_;

/* The deadline of the VG of that name: its own, or that of all. */
uint64_t settings_get_deadline(const struct settings *settings, const char *vg_name) _nonnull_all_;

/* How long dracut's initrd waits for missing PVs of the VG of that name before LVs that can do without are activated. 0 if no
 * section says anything: dracut activates them at once. UINT64_MAX if they are not to be activated. */
uint64_t settings_get_initrd_wait(const struct settings *settings, const char *vg_name) _nonnull_all_;
