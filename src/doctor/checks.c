/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/checks.h"

const struct check checks[] = {
        {"versions", check_versions},
        {"enabled", check_enabled},
        {"in-charge", check_charge},
        {"units", check_units},
        {"failures", check_failures},
        {"headgate-rule", check_headgate_rule},
        {"lvm2-rule", check_stock_rule},
        {"blk-availability", check_blk_availability},
        {"lvm.conf", check_lvm_configuration},
        {"headgate.conf", check_headgate_configuration},
        {"backups", check_backups},
        {"online", check_online},
        {"others", check_others},
        {"initrd", check_initrd},
        {"requests", check_requests},
        {"links", check_links},
        {"journal", check_journal},
        {},
};

int checks_run(const struct machine *machine, struct findings *findings)
{
        for (const struct check *check = checks; check->name; check++) {
                findings->check = check->name;
                check->run(machine, findings);
        }
        return findings->out_of_memory ? -ENOMEM : 0;
}
