/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "doctor/finding.h"
#include "doctor/machine.h"

/* The checks of "headgate doctor". Each adds at least one finding, and changes nothing on the machine. */
struct check {
        const char *name; /* as in the column CHECK */
        void (*run)(const struct machine *machine, struct findings *findings);
};

/* In the order in which they are printed. Ends with a check without a name. */
extern const struct check checks[];

/* Runs all of them. Returns 0 or -ENOMEM. */
int checks_run(const struct machine *machine, struct findings *findings) _nonnull_(1, 2) _must_check_;

/* charge.c: which udev rule activates VGs, who takes them down, and whether headgate was given up */
void check_charge(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
void check_blk_availability(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
void check_failures(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);

/* rules.c: what the rules are that udev reads */
void check_headgate_rule(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
void check_stock_rule(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);

/* services.c: whether headgate's units are as they should be */
void check_enabled(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
void check_units(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);

/* versions.c */
void check_versions(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);

/* settings.c: lvm.conf and headgate.conf */
void check_lvm_configuration(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
void check_headgate_configuration(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);

/* records.c: what lvm2 has noted of VGs and PVs */
void check_backups(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
void check_online(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);

/* others.c: who else activates VGs */
void check_others(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
void check_initrd(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);

/* leftovers.c: what should have been dealt with */
void check_requests(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
void check_links(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);

/* journal.c */
void check_journal(const struct machine *machine, struct findings *findings) _nonnull_(1, 2);
