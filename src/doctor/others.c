/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/checks.h"

/* ------ units and scripts ------ */

/* What an administrator has written; packages have theirs elsewhere. */
static const char *const unit_directories[] = {
        "etc/systemd/system", "run/systemd/system", "usr/local/lib/systemd/system"};
static const char *const scripts[] = {"etc/rc.local", "etc/rc.d/rc.local"};

/* In one line, outside comments: vgchange or lvchange, and behind it an option that activates, -ay, -aay, -a y,
 * --activate y. */
static bool line_activates(const char *line)
{
        const char *command = strstr(line, "vgchange");

        line += strspn(line, " \t");
        if (!command)
                command = strstr(line, "lvchange");
        if (!command || *line == '#' || *line == ';')
                return false;
        for (const char *option = strstr(command, " -"); option; option = strstr(option + 1, " -")) {
                const char *value = skip_prefix(option, " -a") ?: skip_prefix(option, " --activate");

                if (!value || strchr("u-", *value))
                        continue;
                value += strspn(value, " =");
                if (strchr("yaels", *value) && *value != '\0')
                        return true;
        }
        return false;
}

static bool file_activates(const struct machine *machine, const char *path)
{
        _cleanup_free_ char *text = NULL;
        char *rest;

        if (read_file_at(machine->sources.root_fd, path, &text, NULL) < 0)
                return false;
        rest = text;
        for (const char *line; (line = strsep(&rest, "\n"));)
                if (line_activates(line))
                        return true;
        return false;
}

static void look_at(const struct machine *machine, struct findings *findings, const char *path)
{
        if (file_activates(machine, path))
                findings_add(findings, FINDING_WARNING,
                        "If it is there because VGs were not activated otherwise, remove it.",
                        "/%s activates VGs or LVs by itself.", path);
}

static int look_at_units(const struct machine *machine, struct findings *findings, const char *directory)
{
        _cleanup_string_vector_ struct string_vector names = {};
        int r;

        r = machine_list(machine->sources.root_fd, directory, &names);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_free_ char *path = string_format("%s/%s", directory, names.strings[i]);

                if (!path)
                        return -ENOMEM;
                look_at(machine, findings, path);
        }
        return r;
}

/* ------ lvm2's former ways ------ */

/* Before lvm2 2.03.14 a service for each PV activated. */
static const char *const former_units[] = {
        "usr/lib/systemd/system/lvm2-pvscan@.service",
        "lib/systemd/system/lvm2-pvscan@.service",
        "etc/systemd/system/lvm2-pvscan@.service",
};

/* The generator only does something with event_activation=0, for which there are these units. */
static const char *const activation_units[] = {
        "lvm2-activation-early.service",
        "lvm2-activation.service",
        "lvm2-activation-net.service",
};

static void look_at_former_ways(const struct machine *machine, struct findings *findings)
{
        for (size_t i = 0; i < ELEMENTSOF(activation_units); i++) {
                const struct unit *unit = units_find(&machine->units, activation_units[i]);

                if (unit_is_there(unit) && !unit_is_masked(unit))
                        findings_add(findings, FINDING_WARNING, NULL,
                                "%s is there: lvm2 activates all VGs at boot, and headgate nothing, with "
                                "event_activation=0.",
                                activation_units[i]);
        }
        for (size_t i = 0; i < ELEMENTSOF(former_units); i++)
                if (machine_has(machine, former_units[i]) && !machine_has_mask(machine, former_units[i])) {
                        findings_add(findings, FINDING_WARNING,
                                "Remove what is left of an lvm2 before 2.03.14, or update lvm2.",
                                "/%s is there, by which an older lvm2 activates.", former_units[i]);
                        return;
                }
}

void check_others(const struct machine *machine, struct findings *findings)
{
        size_t before = findings->n;
        int r = 0;

        look_at_former_ways(machine, findings);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(unit_directories); i++)
                r = look_at_units(machine, findings, unit_directories[i]);
        for (size_t i = 0; i < ELEMENTSOF(scripts); i++)
                look_at(machine, findings, scripts[i]);
        if (r < 0)
                findings_add_unknown(findings, r, "The units of this machine cannot be looked at: %m.");
        else if (findings->n == before)
                findings_add(findings, FINDING_OK, NULL, "No unit of this machine's own activates VGs or LVs.");
}

/* ------ the initrd ------ */

#define HOOKS "etc/initramfs-tools/hooks"

/* What headgate has found active without having asked for it. */
static bool was_active_before(const struct volume_group *volume_group)
{
        return volume_group->state == VOLUME_GROUP_ACTIVE && volume_group->activating_usec == 0 &&
               volume_group_count_autoactivated(volume_group) > 0;
}

void check_initrd(const struct machine *machine, struct findings *findings)
{
        _cleanup_finding_names_ struct finding_names before = {};
        _cleanup_free_ char *joined = NULL;
        bool narrowed = machine_has(machine, HOOKS "/headgate");

        if (machine->taken_over < 0) {
                findings_add_unknown(findings, machine->taken_over, "/run/headgate cannot be looked into: %m.");
                return;
        }
        if (machine->taken_over == 0) {
                findings_add(findings, FINDING_OK, NULL, "headgate is not in charge.");
                return;
        }
        for (size_t i = 0; i < machine->snapshot.n; i++)
                if (was_active_before(machine->snapshot.volume_groups[i]))
                        finding_names_add(&before, machine->snapshot.volume_groups[i]->name);
        joined = finding_names_join(&before);
        if (machine->snapshot_error < 0)
                findings_add_unknown(findings, machine->snapshot_error,
                        "It cannot be told what was active before headgate: %m.");
        else if (before.n == 0)
                findings_add(findings, FINDING_OK, NULL, "No VG was active before headgate saw it.");
        else if (before.n > 1 && !narrowed && machine_has(machine, HOOKS))
                findings_add(findings, FINDING_OK,
                        "If that is the initrd's doing: headgate enable --initrd, then update-initramfs -u",
                        "%zu VGs were active before headgate saw them: %s.", before.n, joined ?: "?");
        else
                findings_add(findings, FINDING_OK, NULL, "Active before headgate saw %s: %s.",
                        before.n == 1 ? "it" : "them", joined ?: "?");
}
