/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of checks, in the order in which they are printed. */

#include "boot/switches.h"
#include "doctor/doctor.h"

/* A check is skipped without the first two. Without the VGs, it cannot say that all is well. */
enum { NEEDS_SYSTEMD = 1 << 0, NEEDS_RUN = 1 << 1, NEEDS_VGS = 1 << 2 };

static const struct check {
        const char *name; /* as in the column CHECK */
        check_function *run;
        unsigned int needs;
        const char *otherwise; /* the finding if the check adds none */
} checks[] = {
        {"versions", check_versions},
        {"enabled", check_enabled, NEEDS_SYSTEMD, "headgate is enabled (" TAKEOVER_UNIT ")."},
        {"in-charge", check_in_charge, NEEDS_RUN, "headgate activates VGs, lvm2's udev rule is masked."},
        {"units", check_units, NEEDS_SYSTEMD | NEEDS_RUN, "All units that headgate needs are active."},
        {"failures", check_failures, 0, "The worker has not failed."},
        {"headgate-rule", check_headgate_rule},
        {"lvm2-rule", check_stock_rule},
        {"dm-rules", check_dm_rules},
        {"blk-availability", check_blk_availability, NEEDS_SYSTEMD},
        {"lvm.conf", check_lvm_config, 0, "No setting in it prevents activation."},
        {"headgate.conf", check_headgate_config, 0, "It has no errors."},
        {"online", check_online},
        {"others", check_others, 0, "No other unit or script activates VGs or LVs."},
        {"devices-file", check_unlisted, 0, "No PV of a VG of this machine is missing from lvm2's devices file."},
        {"nested", check_nested, 0, "No LV is a PV of a VG that lvm2 activates."},
        {"system-id", check_system_id, NEEDS_VGS, "No VG has another machine's system ID."},
        {"reservations", check_reservations, 0, "The kernel log shows no disk that another host has reserved."},
        {"command-line", check_command_line, 0, "All VGs named on the kernel command line are known."},
        {"fstab", check_fstab, NEEDS_VGS, "No VG that boot waits for is absent or not to be activated."},
        {"timeouts", check_timeouts, 0, "No device has timed out in udev or systemd in this boot."},
        {"cookies", check_cookies, 0, "No process waits for a cookie that is not completed."},
        {"initrd", check_initrd, NEEDS_RUN | NEEDS_VGS, "No VG was active before headgate saw it."},
        {"requests", check_requests, NEEDS_RUN, "No stale requests."},
        {"links", check_links, NEEDS_VGS, "No stale links in /dev."},
        {"journal", check_journal, 0,
                "The journal is persistent: blame and plot can show earlier boots and shutdowns."},
};

int doctor_run(struct doctor *doctor)
{
        int r = doctor_open(doctor);

        if (r < 0)
                return r;
        FOREACH_ELEMENT(check, checks) {
                size_t before = doctor->n_findings;

                doctor->check = check->name;
                if (check->needs & NEEDS_SYSTEMD && doctor->systemd_error < 0)
                        finding_unknown(
                                doctor, doctor->systemd_error, "Failed to ask systemd about its units: %m.");
                else if (check->needs & NEEDS_RUN && doctor->sources.run_error < 0)
                        finding_unknown(doctor, doctor->sources.run_error, "Failed to read /run/headgate: %m.");
                else {
                        if (check->needs & NEEDS_VGS && doctor->snapshot_error < 0)
                                finding_unknown(doctor, doctor->snapshot_error, "Failed to read VGs: %m.");
                        check->run(doctor);
                }
                if (doctor->n_findings == before && check->otherwise)
                        finding_ok(doctor, "%s", check->otherwise);
        }
        return doctor->out_of_memory ? -ENOMEM : 0;
}
