/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/names.h"
#include "timeline/timeline.h"
#include "tree/tree.h"
#include "view/snapshot.h"
#include "view/systemd.h"

/* "headgate doctor": whether the machine is set up as headgate needs it, and what to do where it is not. Each check adds at
 * least one finding, and changes nothing on the machine. */

enum finding_result {
        FINDING_OK,
        FINDING_UNKNOWN, /* it cannot be told, for want of permission for one thing */
        FINDING_WARNING,
        FINDING_FAILED,
};

struct finding {
        const char *check; /* the name of the check, a constant */
        enum finding_result result;
        char *detail; /* a sentence, printable */
        char *advice; /* what to do; "" where there is nothing to be done */
};

/* What the checks look at, and what they have found. What could not be read has a negative errno in its place. */
struct doctor {
        struct sources sources; /* with the configuration */
        int run_error;          /* /run/headgate is there, and cannot be looked into */
        int snapshot_error;     /* of the VGs */
        struct systemd systemd;
        int systemd_error;
        struct tree *tree; /* NULL on error */
        int tree_error;

        struct finding *findings;
        size_t n_findings;
        enum finding_result worst;
        const char *check;  /* the one that runs */
        bool out_of_memory; /* and so something is missing */
};

#define DOCTOR_NONE ((struct doctor){.sources = SOURCES_NONE})

/* Reads what the checks look at. `doctor` starts as DOCTOR_NONE. Returns 0 or a negative errno. */
int doctor_open(struct doctor *doctor) _nonnull_all_ _must_check_;

/* Likewise, and runs all checks, in the order in which they are printed. */
int doctor_run(struct doctor *doctor) _nonnull_all_ _must_check_;

void doctor_done(struct doctor *doctor) _nonnull_all_;
#define _cleanup_doctor_ _cleanup_(doctor_done)

/* Adds a finding. `advice` is copied; NULL for none. `error`, a negative errno or 0, is why something cannot be told; %m
 * stands for it. What is not printable ASCII is written as \xNN. */
void finding_add(struct doctor *doctor, enum finding_result result, int error, const char *advice,
        const char *format, ...) _nonnull_(1, 5) _printf_(5, 6);
#define finding_ok(doctor, ...) finding_add(doctor, FINDING_OK, 0, NULL, __VA_ARGS__)
#define finding_warning(doctor, advice, ...) finding_add(doctor, FINDING_WARNING, 0, advice, __VA_ARGS__)
#define finding_failed(doctor, advice, ...) finding_add(doctor, FINDING_FAILED, 0, advice, __VA_ARGS__)
#define finding_unknown(doctor, error, ...) finding_add(doctor, FINDING_UNKNOWN, error, NULL, __VA_ARGS__)

/* Whether something is at that path, a link to nowhere included. */
bool doctor_has(const struct doctor *doctor, const char *path) _nonnull_all_;

/* A check adds what it has found; it may add nothing if the table in checks.c says what that means. */
typedef void check_function(struct doctor *doctor);

/* takeover.c: who activates and deactivates VGs, and whether headgate's rules and units are as they should be */
check_function check_enabled, check_in_charge, check_units, check_failures, check_headgate_rule, check_stock_rule,
        check_dm_rules, check_blk_availability;

/* settings.c: versions and what files set */
check_function check_versions, check_lvm_config, check_headgate_config, check_others, check_journal;

/* field.c: what other machines' disks and a great many disks bring about, and what is named and is not there */
check_function check_unlisted, check_nested, check_system_id, check_command_line, check_fstab, check_timeouts,
        check_cookies;

/* Adds the devices of mounts and swaps of this boot that systemd would not have waited for in the boot of the timeline. */
void timeouts_forecast(
        struct doctor *doctor, const struct timeline *earlier, struct enumeration *ret) _nonnull_all_;

/* records.c: what lvm2, the worker and udev have noted of VGs, PVs and LVs */
check_function check_online, check_requests, check_links;

/* initrd.c: whether this boot's initrd activated what it needed, and nothing else; and the next one */
check_function check_initrd;
