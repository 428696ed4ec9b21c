/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of checks, in the order in which they are printed. */

#include "boot/switches.h"
#include "doctor/doctor.h"

/* Without these there is nothing that a check could look at. */
enum { NEEDS_SYSTEMD = 1 << 0, NEEDS_RUN = 1 << 1 };

static const struct check {
        const char *name; /* as in the column CHECK */
        check_function *run;
        unsigned int needs;
        const char *otherwise; /* what has been found if the check adds nothing */
} checks[] = {
        {"versions", check_versions},
        {"enabled", check_enabled, NEEDS_SYSTEMD, "headgate is enabled (" TAKEOVER_UNIT ")."},
        {"in-charge", check_in_charge, NEEDS_RUN, "headgate activates VGs, lvm2's udev rule is masked."},
        {"units", check_units, NEEDS_SYSTEMD | NEEDS_RUN, "All of headgate's units are as they should be."},
        {"failures", check_failures, 0, "The worker has not failed."},
        {"headgate-rule", check_headgate_rule},
        {"lvm2-rule", check_stock_rule},
        {"dm-rules", check_dm_rules},
        {"blk-availability", check_blk_availability, NEEDS_SYSTEMD},
        {"lvm.conf", check_lvm_config, 0, "Nothing in it keeps VGs from being activated."},
        {"headgate.conf", check_headgate_config, 0, "There is nothing wrong in it."},
        {"online", check_online},
        {"others", check_others, 0, "No unit of this machine's own activates VGs or LVs."},
        {"devices-file", check_unlisted, 0, "No PV of a VG of this machine is missing from lvm2's devices file."},
        {"nested", check_nested, 0, "No VG is activated whose PVs are LVs."},
        {"system-id", check_system_id, 0, "No VG has another machine's system ID."},
        {"command-line", check_command_line, 0, "All VGs that the kernel command line names are known."},
        {"fstab", check_fstab, 0, "No VG is absent that boot waits for."},
        {"timeouts", check_timeouts, 0, "Neither udev nor systemd has given a device up in this boot."},
        {"cookies", check_cookies, 0, "No process waits for udev in vain."},
        {"initrd", check_initrd, NEEDS_RUN, "No VG was active before headgate saw it."},
        {"requests", check_requests, NEEDS_RUN, "No request is left."},
        {"links", check_links, 0, "No link in /dev leads to an LV that is not there."},
        {"journal", check_journal, 0, "The journal is kept, so that one can look back at boots and shutdowns."},
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
                        finding_unknown(doctor, doctor->systemd_error, "systemd does not tell of its units: %m.");
                else if (check->needs & NEEDS_RUN && doctor->run_error < 0)
                        finding_unknown(doctor, doctor->run_error, "/run/headgate cannot be looked into: %m.");
                else
                        check->run(doctor);
                if (doctor->n_findings == before && check->otherwise)
                        finding_ok(doctor, "%s", check->otherwise);
        }
        return doctor->out_of_memory ? -ENOMEM : 0;
}
