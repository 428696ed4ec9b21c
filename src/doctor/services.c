/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/checks.h"

#define TAKEOVER_UNIT "headgate-takeover.service"

void check_enabled(const struct machine *machine, struct findings *findings)
{
        const struct unit *unit = units_find(&machine->units, TAKEOVER_UNIT);

        if (machine->units_error < 0)
                findings_add_unknown(findings, machine->units_error, "systemd does not tell of its units: %m.");
        else if (!unit_is_there(unit))
                findings_add(findings, FINDING_FAILED, "Install headgate again, or: systemctl daemon-reload",
                        "systemd does not know " TAKEOVER_UNIT ".");
        else if (unit_is_masked(unit))
                findings_add(findings, FINDING_WARNING, "Run: systemctl unmask " TAKEOVER_UNIT,
                        TAKEOVER_UNIT " is masked: headgate does nothing at boot.");
        else if (unit_is_enabled(unit))
                findings_add(findings, FINDING_OK, NULL, "headgate is enabled (" TAKEOVER_UNIT ").");
        else
                findings_add(findings, FINDING_WARNING, "Run: headgate enable",
                        "headgate is not enabled (" TAKEOVER_UNIT " is %s).", unit->file_state ?: "unknown");
}

/* What is active as long as headgate is in charge, and what it is like if it is not. */
static const struct {
        const char *name;
        const char *otherwise;
} expected[] = {
        {TAKEOVER_UNIT, "lvm2's rule is not given back when it is stopped"},
        {"headgate.socket", "a worker that has left is not woken"},
        {"headgate-coldplug.service", "the worker does not learn when all disks of the boot have come"},
        {"headgate-teardown.service", "headgate takes nothing down at shutdown"},
        {"headgate-teardown-net.service", "headgate takes nothing down that is on network disks"},
};

/* Returns whether it is. */
static bool check_unit(
        const struct machine *machine, struct findings *findings, const char *name, const char *otherwise)
{
        const struct unit *unit = units_find(&machine->units, name);
        _cleanup_free_ char *advice =
                string_format(unit_is_masked(unit) ? "Run: systemctl unmask %s" : "Run: systemctl start %s", name);

        if (!unit_is_there(unit))
                findings_add(findings, FINDING_FAILED, "Install headgate again, or: systemctl daemon-reload",
                        "systemd does not know %s.", name);
        else if (!unit_is_active(unit))
                findings_add(findings, FINDING_FAILED, advice, "%s is %s: %s.", name,
                        unit_is_masked(unit) ? "masked" : unit->active_state ?: "unknown", otherwise);
        else
                return true;
        return false;
}

void check_units(const struct machine *machine, struct findings *findings)
{
        const struct unit *worker = units_find(&machine->units, "headgate.service");
        bool fine = true;

        if (machine->units_error < 0) {
                findings_add_unknown(findings, machine->units_error, "systemd does not tell of its units: %m.");
                return;
        }
        if (machine->taken_over < 0) {
                findings_add_unknown(findings, machine->taken_over, "/run/headgate cannot be looked into: %m.");
                return;
        }
        if (machine->taken_over == 0) {
                findings_add(findings, FINDING_OK, NULL, "headgate is not in charge, its units need not run.");
                return;
        }
        for (size_t i = 0; i < ELEMENTSOF(expected); i++)
                fine &= check_unit(machine, findings, expected[i].name, expected[i].otherwise);
        if (unit_has_failed(worker) || unit_is_masked(worker)) {
                findings_add(findings, FINDING_FAILED, "See: systemctl status headgate.service",
                        "headgate.service, the worker, %s.", unit_is_masked(worker) ? "is masked" : "has failed");
                fine = false;
        }
        if (fine)
                findings_add(findings, FINDING_OK, NULL, "All of headgate's units are as they should be.");
}
