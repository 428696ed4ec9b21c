/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan: shows what headgate would do, from the same files, as tables. "plan activate" shows the plan of
 * headgate-generator, "plan initrd" the LVs that an initrd needs, for the scripts in src/initrd. "plan teardown" is in
 * deactivate.c. */

#include "boot/plan.h"
#include "boot/switches.h"
#include "cli/verb.h"
#include "initrd/needed.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"

/* A line: a VG of plan activate, or an LV of plan initrd. */
struct line {
        struct planned_vg vg;
        const char *group;
        struct needed_lv lv;
        char wait[32]; /* large enough for any number */
};

/* ------ plan activate ------ */

static const struct column activate_columns[] = {
        COLUMN("VG", ALWAYS, STRING, vg.name, "name of the volume group"),
        COLUMN("GROUP", ALWAYS, STRING, group, "boot, net, rest, or - for one that is not activated"),
        COLUMN("UNIT", ALWAYS, STRING, vg.unit, "unit that waits for it"),
        COLUMN("REASON", ALWAYS, STRING, vg.reason, "why it is in this group", .flags = SCOLS_FL_WRAP),
};

/* Makes the plan also if direct activation is off, to show what it would do. */
static int make_plan(int root_fd, struct plan *plan, struct problems *problems)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_config_ struct config config = {};
        const char *off = NULL;
        int r = settings_read(root_fd, &settings, problems)
                ?: config_read(root_fd, &config, problems)
                ?: switches_describe_off(root_fd, &settings, &config, &off);

        if (r < 0)
                return r;
        if (off)
                log_notice("Direct activation is off: %s", off);
        return plan_make(root_fd, &settings, &config, NULL, plan, problems);
}

static int run_activate(char *names[] _unused_, size_t n _unused_, struct table *table)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};
        _cleanup_close_ int root_fd = root_open();
        int r;

        if (root_fd < 0)
                return verb_fail(root_fd, "Failed to open %s: %m", root_path());
        r = make_plan(root_fd, &plan, &problems);
        FOREACH_ARRAY(vg, plan.vgs, plan.n)
                table_add_line(table, NULL, &(struct line){.vg = *vg, .group = plan_group_to_string(vg->group)});
        r = verb_print(table, r >= 0 && problems.error < 0 ? EXIT_CANNOT_TELL : r, "show the plan");
        STRV_FOREACH(line, &problems.lines)
                log_warning("%s", *line);
        return r;
}

static const struct verb plan_activate = {"activate", "",
        "Show which volume groups are activated at boot, and who waits for them",
        .help = "Usage: headgate plan activate [OPTION...]\n\n"
                "Show which volume groups are activated at boot, and who waits for them.\n\n",
        .footer = "Exit status: 0, or 2 if something could not be read.\n\n", .page = "plan",
        .takes_no_names = true, .table = TABLE_KIND("volumegroups", activate_columns), .run = run_activate};

/* ------ plan initrd ------ */

static const struct column initrd_columns[] = {
        COLUMN("VG", ALWAYS, STRING, lv.vg, "name of the volume group"),
        COLUMN("LV", ALWAYS, STRING, lv.lv, "name of the logical volume"),
        COLUMN("NEEDED-BY", ALWAYS, LIST, lv.by, "what needs it", .flags = SCOLS_FL_WRAP),
        COLUMN("WAIT", IN_JSON, CHARS, wait,
                "seconds that dracut's initrd waits for missing PVs before a degraded activation, - for no limit"),
};

static void add_initrd_line(struct table *table, const struct settings *settings, const struct needed_lv *lv)
{
        const struct policy policy = settings_get_policy(settings, lv->vg);
        uint64_t wait_usec = policy.decides_degraded ? policy.deadline_usec : 0;
        struct line line = {.lv = *lv, .wait = "-"};

        if (policy.degraded || wait_usec == 0)
                snprintf(line.wait, sizeof(line.wait), "%llu", (unsigned long long) (wait_usec / USEC_PER_SEC));
        table_add_line(table, NULL, &line);
}

static int run_initrd(char *names[], size_t n, struct table *table)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_needed_ struct needed needed = {};
        _cleanup_close_ int root_fd = root_open();
        int r = root_fd < 0 ? root_fd : needed_find(root_fd, names, n, &needed);

        if (r == -ENXIO)
                return verb_refuse("Cannot tell what the initrd needs: %s.", needed.obstacle);
        if (r >= 0)
                r = settings_read(root_fd, &settings, &problems);
        for (size_t i = 0; r >= 0 && i < needed.n; i++)
                add_initrd_line(table, &settings, &needed.lvs[i]);
        if (r >= 0 && needed.n == 0 && !table->options.json && !table->options.no_headings)
                log_notice("The initrd needs no LV: /, /usr%s and the device to resume from are not on LVM.",
                        n > 0 ? ", these devices" : "");
        return verb_print(table, r, "find out what the initrd needs");
}

static const struct verb plan_initrd = {"initrd", "",
        "Show which logical volumes the initrd has to activate, and for what",
        .help = "Usage: headgate plan initrd [OPTION...] [--] [DEVICE...]\n\n"
                "Show the logical volumes that the initrd has to activate: those of /, /usr, mounts\n"
                "with x-initrd.mount, the device to resume from, and the given devices, named as in fstab.\n\n",
        .footer = "Exit status: 0, or 2 if headgate cannot tell.\n\n",
        .table = TABLE_KIND("logicalvolumes", initrd_columns), .run = run_initrd};

/* ------ the verb ------ */

static const struct verb *const plans[] = {&plan_activate, &verb_plan_teardown, &plan_initrd, NULL};

const struct verb verb_plan = {"plan", "PLAN", "Show what headgate would do",
        .help = "Usage: headgate plan PLAN [OPTION...]\n\n"
                "Show what headgate would do, and do nothing.\n\n"
                "Plans:\n",
        .verbs = plans, .choice = "plan"};
