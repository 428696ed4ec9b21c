/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "boot/switches.h"
#include "doctor/checks.h"
#include "shared/flags.h"
#include "shared/udev.h"

#define TAKEOVER_UNIT "headgate-takeover.service"
#define FALLBACK_UNIT "headgate-fallback.service"
#define ADVICE_RESTART "Run: systemctl restart headgate-takeover.service"

/* The file by which lvm2's rule acts, to be freed; NULL if it is masked, or not there at all. */
static char *find_acting_rule(const struct machine *machine)
{
        for (size_t i = 0; i < STOCK_RULES_N; i++) {
                _cleanup_free_ char *path = NULL;

                if (rule_file_find(machine->sources.root_fd, stock_rules[i], &path) >= 0 &&
                        !machine_has_mask(machine, path))
                        return TAKE_PTR(path);
        }
        return NULL;
}

static bool is_masked_for_this_boot(const struct machine *machine)
{
        return machine_has_mask(machine, "run/udev/rules.d/69-lvm.rules") ||
               machine_has_mask(machine, "run/udev/rules.d/69-dm-lvm.rules");
}

static void check_in_charge(const struct machine *machine, struct findings *findings)
{
        _cleanup_free_ char *rule = find_acting_rule(machine);

        if (!rule)
                findings_add(findings, FINDING_OK, NULL, "headgate activates VGs, lvm2's udev rule is masked.");
        else if (skip_prefix(rule, "etc/"))
                findings_add(findings, FINDING_FAILED, "Remove that file, or disable headgate (headgate disable).",
                        "Both headgate and lvm2's udev rule act: /%s counts more than the mask in /run.", rule);
        else
                findings_add(findings, FINDING_FAILED, ADVICE_RESTART,
                        "Both headgate and lvm2's udev rule act: /%s is not masked.", rule);
}

static void check_not_in_charge(const struct machine *machine, struct findings *findings)
{
        const char *off = NULL;

        if (switches_describe_headgate_off(machine->sources.root_fd, &off) < 0)
                findings->out_of_memory = true;
        if (is_masked_for_this_boot(machine))
                findings_add(findings, FINDING_FAILED, ADVICE_RESTART,
                        "Nobody activates VGs: lvm2's udev rule is masked, and headgate is not in charge.");
        else if (off)
                findings_add(findings, FINDING_WARNING, NULL, "lvm2's udev rule activates VGs: %s", off);
        else if (unit_is_enabled(units_find(&machine->units, TAKEOVER_UNIT)))
                findings_add(findings, FINDING_WARNING,
                        "For the reason: journalctl -b -u 'headgate*'. To take over now: headgate enable --now",
                        "lvm2's udev rule activates VGs, though headgate is enabled.");
        else
                findings_add(findings, FINDING_WARNING, "Run: headgate enable",
                        "lvm2's udev rule activates VGs: headgate is not in charge.");
}

void check_charge(const struct machine *machine, struct findings *findings)
{
        if (machine->taken_over < 0)
                findings_add_unknown(findings, machine->taken_over, "/run/headgate cannot be looked into: %m.");
        else if (machine->taken_over > 0)
                check_in_charge(machine, findings);
        else
                check_not_in_charge(machine, findings);
}

/* What headgate-generator(8) masks is masked in this directory. */
#define GENERATED_MASK "run/systemd/generator.early/blk-availability.service"

void check_blk_availability(const struct machine *machine, struct findings *findings)
{
        const struct unit *unit = units_find(&machine->units, "blk-availability.service");
        bool takes_down = unit_is_active(units_find(&machine->units, "headgate-teardown.service"));

        if (machine->units_error < 0)
                findings_add_unknown(findings, machine->units_error, "systemd does not tell of its units: %m.");
        else if (takes_down && unit_is_active(unit))
                findings_add(findings, FINDING_WARNING,
                        "It is masked from the next boot on if headgate is enabled; if not: systemctl mask "
                        "blk-availability.service",
                        "At shutdown lvm2's blk-availability.service, too, takes devices down, one after "
                        "another.");
        else if (takes_down)
                findings_add(findings, FINDING_OK, NULL,
                        "headgate takes devices down at shutdown, lvm2's blk-availability.service %s.",
                        unit_is_masked(unit)  ? "is masked"
                        : unit_is_there(unit) ? "is not active"
                                              : "is not installed");
        else if (unit_is_active(unit))
                findings_add(findings, FINDING_OK, NULL,
                        "lvm2's blk-availability.service takes devices down at shutdown, headgate does not.");
        else if (machine_has_mask(machine, GENERATED_MASK))
                findings_add(findings, FINDING_FAILED, "Run: systemctl start headgate-teardown.service",
                        "Nobody takes devices down at shutdown: blk-availability.service is masked for "
                        "headgate-teardown.service, which is not active.");
        else
                findings_add(findings, FINDING_WARNING, NULL,
                        "Neither headgate-teardown.service nor lvm2's blk-availability.service takes devices "
                        "down at shutdown.");
}

static uint32_t read_failures(const struct machine *machine)
{
        _cleanup_free_ char *text = NULL;
        uint32_t n = 0;

        if (machine->sources.run_fd < 0 ||
                read_file_at(machine->sources.run_fd, FLAGS_FAILURES, &text, NULL) < 0 || parse_u32(text, &n) < 0)
                return 0;
        return n;
}

void check_failures(const struct machine *machine, struct findings *findings)
{
        const struct unit *fallback = units_find(&machine->units, FALLBACK_UNIT);
        uint32_t n = read_failures(machine);

        if (machine_has(machine, "run/headgate/" FLAGS_GIVEN_UP))
                findings_add(findings, FINDING_FAILED,
                        "For the reason: journalctl -b -u headgate.service. To take over again: headgate enable --now",
                        "The worker failed, and headgate handed over to lvm2 until the next boot.");
        else if (unit_has_failed(fallback))
                findings_add(findings, FINDING_FAILED, "See: journalctl -b -u " FALLBACK_UNIT,
                        FALLBACK_UNIT ", which hands over to lvm2, has failed.");
        else if (n > 0)
                findings_add(findings, FINDING_WARNING, "See: journalctl -b -u headgate.service",
                        "The worker has failed %u time%s without having got anything done.", n, plural(n));
        else if (machine->taken_over < 0)
                findings_add_unknown(findings, machine->taken_over, "/run/headgate cannot be looked into: %m.");
        else
                findings_add(findings, FINDING_OK, NULL, "The worker has not failed.");
}
