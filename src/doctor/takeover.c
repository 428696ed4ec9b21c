/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether headgate or lvm2 activates VGs at boot and deactivates them at shutdown, by units and udev rules. */

#include "boot/switches.h"
#include "doctor/doctor.h"
#include "fast-rules/rules.h"
#include "headgate-rule.h"
#include "shared/flags.h"
#include "shared/udev.h"

#define FALLBACK_UNIT "headgate-fallback.service"
#define WORKER_UNIT "headgate.service"
#define TEARDOWN_UNIT "headgate-teardown.service"

#define ADVICE_INSTALL "Install headgate again, or: systemctl daemon-reload"
#define ADVICE_RESTART "Run: systemctl restart " TAKEOVER_UNIT

/* ------ units ------ */

void check_enabled(struct doctor *doctor)
{
        _cleanup_free_ char *state = systemd_get_property(&doctor->systemd, TAKEOVER_UNIT, "UnitFileState");

        if (!unit_is_there(&doctor->systemd, TAKEOVER_UNIT))
                finding_failed(doctor, ADVICE_INSTALL, "systemd does not know " TAKEOVER_UNIT ".");
        else if (unit_is_masked(&doctor->systemd, TAKEOVER_UNIT))
                finding_warning(doctor, "Run: systemctl unmask " TAKEOVER_UNIT,
                        TAKEOVER_UNIT " is masked: headgate does nothing at boot.");
        else if (!unit_is_enabled(&doctor->systemd, TAKEOVER_UNIT))
                finding_warning(doctor, "Run: headgate enable",
                        "headgate is not enabled (" TAKEOVER_UNIT " is %s).", state ?: "unknown");
}

static void check_unit(struct doctor *doctor, const char *name, const char *otherwise)
{
        _cleanup_free_ char *state = systemd_get_property(&doctor->systemd, name, "ActiveState");
        bool masked = unit_is_masked(&doctor->systemd, name);
        _cleanup_free_ char *advice = string_format("Run: systemctl %s %s", masked ? "unmask" : "start", name);

        if (!unit_is_there(&doctor->systemd, name))
                finding_failed(doctor, ADVICE_INSTALL, "systemd does not know %s.", name);
        else if (!state || !streq(state, "active"))
                finding_failed(doctor, advice, "%s is %s: %s.", name, masked ? "masked" : state ?: "unknown", otherwise);
}

/* As with network-online.target, After= alone waits for nothing, unless another unit starts these units. */
static int check_waits(struct doctor *doctor)
{
        static const char *const patterns[] = {
                "headgate.target", "headgate-vg@*.service", "headgate-activate@*.service"};
        static const char *const starters[] = {"WantedBy", "RequiredBy", "BoundBy", "UpheldBy"};
        _cleanup_strv_ struct strv units = {};
        int r = 0;

        FOREACH_ELEMENT(pattern, patterns)
                r = r ?: systemd_find_units(&doctor->systemd, *pattern, &units);
        for (size_t i = 0; i < units.n && r >= 0; i++) {
                _cleanup_strv_ struct strv later = {}, starting = {};
                const char *unit = units.strings[i];

                r = systemd_get_list(&doctor->systemd, unit, "Before", &later);
                FOREACH_ELEMENT(starter, starters)
                        r = r ?: systemd_get_list(&doctor->systemd, unit, *starter, &starting);
                for (size_t j = 0; j < later.n && r >= 0; j++) {
                        const char *name = later.strings[j];
                        bool asks;

                        if (skip_prefix(name, "headgate") || streq(name, "shutdown.target") ||
                                strv_has(&starting, name))
                                continue;
                        asks = skip_prefix(unit, "headgate-activate@");
                        finding_warning(doctor,
                                asks ? "Replace it by Wants= and After=headgate.target."
                                     : "Add Wants= or Requires= beside After=.",
                                "%s is ordered after %s%s.", name, unit,
                                asks ? ", which waits for no VG" : " but does not start it, so it may not wait");
                }
        }
        return r;
}

void check_units(struct doctor *doctor)
{
        bool masked = unit_is_masked(&doctor->systemd, WORKER_UNIT);

        if (!doctor->sources.in_charge) {
                finding_ok(doctor, "headgate is not in charge, its units need not run.");
                return;
        }
        /* Units that are active while headgate is in charge, and the effect if one is not. */
        check_unit(doctor, TAKEOVER_UNIT, "lvm2's rule is not restored when it is stopped");
        check_unit(doctor, "headgate.socket", "an exited worker is not started again");
        check_unit(doctor, TEARDOWN_UNIT, "headgate removes no devices at shutdown");
        check_unit(doctor, "headgate-teardown-net.service",
                "headgate removes no devices on network disks at shutdown");
        if (masked || unit_has_failed(&doctor->systemd, WORKER_UNIT))
                finding_failed(doctor, "See: systemctl status " WORKER_UNIT, WORKER_UNIT ", the worker, %s.",
                        masked ? "is masked" : "has failed");
        doctor->out_of_memory |= check_waits(doctor) < 0;
}

void check_failures(struct doctor *doctor)
{
        _cleanup_free_ char *text = NULL;
        uint32_t n = 0;

        if (doctor_has(doctor, "run/headgate/" FLAGS_GIVEN_UP))
                finding_failed(doctor,
                        "For the reason: journalctl -b -u headgate.service. To take over again: headgate enable --now",
                        "The worker failed, and headgate handed over to lvm2 until the next boot.");
        else if (unit_has_failed(&doctor->systemd, FALLBACK_UNIT))
                finding_failed(doctor, "See: journalctl -b -u " FALLBACK_UNIT,
                        FALLBACK_UNIT ", which hands over to lvm2, has failed.");
        else if (doctor->sources.run_error < 0)
                finding_unknown(doctor, doctor->sources.run_error, "Failed to read /run/headgate: %m.");
        else if (doctor->sources.run_fd >= 0 &&
                 read_file_at(doctor->sources.run_fd, FLAGS_FAILURES, &text, NULL) >= 0 &&
                 parse_u32(text, &n) >= 0 && n > 0)
                finding_warning(doctor, "See: journalctl -b -u headgate.service",
                        "The worker has failed %u time%s since it last settled a VG.", n, plural(n));
}

void check_blk_availability(struct doctor *doctor)
{
        bool masked = unit_is_masked(&doctor->systemd, BLK_AVAILABILITY_UNIT);
        bool theirs = unit_is_active(&doctor->systemd, BLK_AVAILABILITY_UNIT) && !masked;
        bool ours =
                unit_is_active(&doctor->systemd, TEARDOWN_UNIT) && !takeover_is_withdrawn(doctor->sources.root_fd);

        if (ours && theirs)
                finding_warning(doctor,
                        "It is masked from the next boot on if headgate is enabled; if not: systemctl mask " BLK_AVAILABILITY_UNIT,
                        "lvm2's " BLK_AVAILABILITY_UNIT " also removes devices at shutdown, one after another.");
        else if (ours)
                finding_ok(doctor, "headgate removes devices at shutdown, lvm2's " BLK_AVAILABILITY_UNIT " %s.",
                        masked                                                   ? "is masked"
                        : unit_is_there(&doctor->systemd, BLK_AVAILABILITY_UNIT) ? "is not active"
                                                                                 : "is not installed");
        else if (theirs)
                finding_ok(doctor,
                        "lvm2's " BLK_AVAILABILITY_UNIT " removes devices at shutdown, headgate does not.");
        /* Masked by headgate-generator(8). */
        else if (is_masked_at(doctor->sources.root_fd, "run/systemd/generator.early/" BLK_AVAILABILITY_UNIT))
                finding_failed(doctor, "Run: systemctl start " TEARDOWN_UNIT,
                        "No unit removes devices at shutdown: " BLK_AVAILABILITY_UNIT
                        " is masked for " TEARDOWN_UNIT ", which is not active.");
        else
                finding_warning(doctor, NULL,
                        "Neither " TEARDOWN_UNIT " nor lvm2's " BLK_AVAILABILITY_UNIT
                        " removes devices at shutdown.");
}

/* ------ rules ------ */

/* The file of lvm2's rule that udev reads; NULL if it is masked or missing. To be freed by the caller. */
static char *find_acting_rule(const struct doctor *doctor)
{
        char *path = NULL;

        for (size_t i = 0; i < STOCK_RULES_N && !path; i++)
                if (rule_file_find(doctor->sources.root_fd, stock_rules[i], &path) >= 0 &&
                        is_masked_at(doctor->sources.root_fd, path))
                        free(TAKE_PTR(path));
        return path;
}

static void check_masked_rules(struct doctor *doctor, const char *path)
{
        if (path && skip_prefix(path, "etc/"))
                finding_failed(doctor, "Remove that file, or disable headgate (headgate disable).",
                        "Both headgate and lvm2's udev rule activate VGs: /%s overrides the mask in /run.", path);
        else if (path)
                finding_failed(doctor, ADVICE_RESTART,
                        "Both headgate and lvm2's udev rule activate VGs: /%s is not masked.", path);
}

void check_in_charge(struct doctor *doctor)
{
        _cleanup_free_ char *path = find_acting_rule(doctor);
        const char *off;
        int r;

        if (doctor->sources.in_charge) {
                check_masked_rules(doctor, path);
                return;
        }
        r = switches_describe_headgate_off(doctor->sources.root_fd, &off);
        if (r < 0)
                finding_unknown(doctor, r, "Failed to read the kernel command line: %m.");
        else if (!path)
                finding_failed(doctor, "Run: headgate enable --now, or restore lvm2's rule.",
                        "Nothing activates VGs: lvm2's udev rule is masked or missing, and headgate is not in charge.");
        else if (off)
                finding_warning(doctor, NULL, "lvm2's udev rule activates VGs: %s", off);
        else if (takeover_is_at_next_boot(doctor->sources.root_fd) &&
                 !unit_has_failed(&doctor->systemd, TAKEOVER_UNIT))
                finding_ok(doctor, TAKEOVER_AT_NEXT_BOOT);
        else if (unit_is_enabled(&doctor->systemd, TAKEOVER_UNIT))
                finding_warning(doctor,
                        "For the reason: journalctl -b -u 'headgate*'. To take over now: headgate enable --now",
                        "lvm2's udev rule activates VGs, although headgate is enabled.");
        else
                finding_warning(doctor, "Run: headgate enable",
                        "lvm2's udev rule activates VGs: headgate is not in charge.");
}

#define HEADGATE_RULE "68-headgate.rules"

/* HEADGATE_RULE_TEXT is the rule that was built with this program. */
void check_headgate_rule(struct doctor *doctor)
{
        _cleanup_free_ char *path = NULL, *installed = NULL, *text = NULL;
        int r = rule_file_find(doctor->sources.root_fd, HEADGATE_RULE, &path)
                        ?: read_file_at(doctor->sources.root_fd, path, &text, NULL);

        if (r >= 0 && streq(text, HEADGATE_RULE_TEXT))
                finding_ok(doctor, "/%s is the rule of headgate " HEADGATE_VERSION ".", path);
        else if (path && is_masked_at(doctor->sources.root_fd, path))
                finding_failed(doctor, "Remove that file.",
                        "/%s masks headgate's rule: udev announces no disks to headgate.", path);
        else if (!path && r == -ENOENT)
                finding_failed(doctor, "Install headgate again.",
                        HEADGATE_RULE " does not exist: udev announces no disks to headgate.");
        else if (r < 0)
                finding_unknown(doctor, r, "/%s cannot be read: %m.", path ?: HEADGATE_RULE);
        else if (rule_file_find_installed(doctor->sources.root_fd, HEADGATE_RULE, &installed) < 0 ||
                 !streq(installed, path))
                finding_warning(doctor, "Remove that file, or compare it with the installed one.",
                        "/%s overrides headgate's rule, and is not the rule of headgate %s.", path,
                        HEADGATE_VERSION);
        else
                finding_warning(doctor, "Install headgate again.",
                        "/%s is not the rule of headgate " HEADGATE_VERSION ": changed, or of another version.",
                        path);
}

void check_stock_rule(struct doctor *doctor)
{
        _cleanup_free_ char *path = NULL, *text = NULL;
        int r = -ENOENT;

        for (size_t i = 0; i < STOCK_RULES_N && r == -ENOENT; i++)
                r = rule_file_find_installed(doctor->sources.root_fd, stock_rules[i], &path);
        if (r >= 0)
                r = read_file_at(doctor->sources.root_fd, path, &text, NULL);
        if (!path && r == -ENOENT)
                finding_warning(doctor, "Install lvm2's udev rule.",
                        "lvm2's udev rule is not installed, so headgate cannot hand over to it.");
        else if (r < 0)
                finding_unknown(
                        doctor, r, "%s%s cannot be read: %m.", path ? "/" : "", path ?: "lvm2's udev rule");
        /* Since 2.03.14, the rule gets complete VGs from pvscan. Before that, it started a service for each PV, or pvscan in the
         * background. */
        else if (strstr(text, "LVM_VG_NAME_COMPLETE"))
                finding_ok(doctor, "/%s is supported; headgate can hand over to it.", path);
        else
                finding_warning(doctor,
                        "Compare it with 68-headgate.rules; headgate supports lvm2 2.03.16 and later.",
                        "/%s is not supported.", path);
}

void check_dm_rules(struct doctor *doctor)
{
        _cleanup_rules_ struct rules rules = {};
        int r;

        if (!HAVE_FAST_DM_RULES ||
                !doctor_has(doctor, "etc/systemd/system/" TAKEOVER_UNIT ".wants/headgate-fast-dm-rules.service")) {
                finding_ok(doctor, "device-mapper's udev rules are the distribution's own.");
                return;
        }
        r = rules_read(&rules, doctor->sources.root_fd);
        if (r < 0)
                finding_unknown(doctor, r, "Failed to read device-mapper's udev rules: %m.");
        else if (rules.obstacles.n == 0)
                finding_ok(doctor, "device-mapper's udev rules are optimized at each boot.");
        STRV_FOREACH(obstacle, &rules.obstacles)
                finding_ok(doctor, "%s", *obstacle);
        FOREACH_ELEMENT(override, rules.overrides)
                if (override->stale && doctor_has(doctor, "run/headgate/" FLAGS_DM_NAMES))
                        finding_warning(doctor, "Run: systemctl reload headgate-fast-dm-rules.service",
                                "/" RULES_OF_THIS_BOOT "/%s is out of date: the installed rules have changed.",
                                override->name);
}
