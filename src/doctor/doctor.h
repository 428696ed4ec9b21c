/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/names.h"
#include "timeline/timeline.h"
#include "tree/tree.h"
#include "view/snapshot.h"
#include "view/systemd.h"

/* "headgate doctor": checks of the setup, with advice. Each check adds at least one finding, and changes nothing on the machine. */

enum finding_result {
        FINDING_OK,
        FINDING_UNKNOWN, /* the check could not be made, for lack of permission for instance */
        FINDING_WARNING,
        FINDING_FAILED,
};

struct finding {
        const char *check; /* the name of the check, a constant */
        enum finding_result result;
        char *detail; /* a sentence, printable */
        char *advice; /* what to do; "" for nothing */
};

/* Facts for the checks, and findings. A source that could not be read has a negative errno. */
struct doctor {
        struct sources sources; /* with the configuration */
        int snapshot_error;     /* of the VGs */
        struct systemd systemd;
        int systemd_error;
        struct tree *tree; /* NULL on error */
        int tree_error;

        struct finding *findings;
        size_t n_findings;
        enum finding_result worst;
        const char *check;  /* the running check */
        bool out_of_memory; /* findings are missing */
};

#define DOCTOR_NONE ((struct doctor){.sources = SOURCES_NONE})

/* Reads the facts. `doctor` starts as DOCTOR_NONE. Returns 0 or a negative errno. */
int doctor_open(struct doctor *doctor) _nonnull_all_ _must_check_;

/* The same, and runs all checks, in the order of printing. */
int doctor_run(struct doctor *doctor) _nonnull_all_ _must_check_;

void doctor_done(struct doctor *doctor) _nonnull_all_;
#define _cleanup_doctor_ _cleanup_(doctor_done)

/* Adds a finding. `advice` is copied; NULL for none. `error` is 0, or the negative errno of an unknown result, for %m. Bytes that
 * are not printable ASCII become \xNN. */
void finding_add(struct doctor *doctor, enum finding_result result, int error, const char *advice,
        const char *format, ...) _nonnull_(1, 5) _printf_(5, 6);
#define finding_ok(doctor, ...) finding_add(doctor, FINDING_OK, 0, NULL, __VA_ARGS__)
#define finding_warning(doctor, advice, ...) finding_add(doctor, FINDING_WARNING, 0, advice, __VA_ARGS__)
#define finding_failed(doctor, advice, ...) finding_add(doctor, FINDING_FAILED, 0, advice, __VA_ARGS__)
#define finding_unknown(doctor, error, ...) finding_add(doctor, FINDING_UNKNOWN, error, NULL, __VA_ARGS__)

/* Whether the path exists, also as a dangling link. */
bool doctor_has(const struct doctor *doctor, const char *path) _nonnull_all_;

/* A check adds its findings. It may add none if the table in checks.c has a default finding. */
typedef void check_function(struct doctor *doctor);

/* takeover.c: whether headgate or lvm2 activates and deactivates VGs; headgate's rules and units */
check_function check_enabled, check_in_charge, check_units, check_failures, check_headgate_rule, check_stock_rule,
        check_dm_rules, check_blk_availability;

/* settings.c: versions and configuration files */
check_function check_versions, check_lvm_config, check_headgate_config, check_others, check_journal;

/* field.c: problems of other machines' disks, of many disks, and of missing VGs and devices */
check_function check_unlisted, check_nested, check_system_id, check_reservations, check_command_line, check_fstab,
        check_timeouts, check_cookies;

/* Lists the units that the mounts and swaps of this boot are ordered after. Of these, adds the devices that systemd would not have
 * waited for in the boot of the timeline. */
void timeouts_list_units(struct doctor *doctor, struct strv *ret) _nonnull_all_;
void timeouts_forecast(struct doctor *doctor, const struct strv *units, const struct timeline *earlier,
        struct enumeration *ret) _nonnull_all_;

/* records.c: records of lvm2, the worker and udev about VGs, PVs and LVs */
check_function check_online, check_requests, check_links;

/* initrd.c: whether the initrd of this boot activated only the VGs that it needs */
check_function check_initrd;
