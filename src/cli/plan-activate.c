/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan activate: what headgate-generator makes of the same files, as a table. */

#include "boot/plan.h"
#include "boot/switches.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"

static struct table_options arg_table;

static void help(void)
{
        printf("Usage: headgate plan activate [OPTION...]\n\n"
               "Show which volume groups are activated at boot, and who waits for them.\n\n" TABLE_HELP "\n"
               "Exit status: 0, or 2 if something could not be read.\n\n"
               "See headgate-plan(8).\n");
}

/* ------ the table ------ */

struct line {
        struct planned_volume_group volume_group;
        const char *group;
        bool urgent;
        char *reason;
};

#define FIELD(field) COLUMN_FIELD(struct line, field)

static const struct column columns[] = {
        {"VG", "name of the volume group", COLUMN_ALWAYS, COLUMN_STRING, FIELD(volume_group.name)},
        {"GROUP", "boot, net, rest, or - for one that is not activated", COLUMN_ALWAYS, COLUMN_STRING,
                FIELD(group)},
        {"URGENT", "whether others stand back for it", COLUMN_IN_JSON, COLUMN_BOOL, FIELD(urgent)},
        {"UNIT", "the unit that waits for it", COLUMN_ALWAYS, COLUMN_STRING, FIELD(volume_group.unit)},
        {"REASON", "why it is in this group", COLUMN_ALWAYS, COLUMN_STRING, FIELD(reason), .flags = SCOLS_FL_WRAP},
};

static const struct table_kind kind = {"volumegroups", columns, ELEMENTSOF(columns)};
static const struct table_verb verb = {&kind, .help = help, .takes_no_names = true};

static int add_line(struct table *table, const struct plan *plan, const struct planned_volume_group *volume_group)
{
        bool urgent_rest = volume_group->group == PLAN_REST && plan->rest_urgent;
        _cleanup_free_ char *reason =
                urgent_rest ? string_format("%s Urgent: %s", volume_group->reason, plan->rest_urgent)
                            : strdup(volume_group->reason);
        struct line line = {*volume_group, plan_group_to_string(volume_group->group),
                volume_group->group == PLAN_BOOT || urgent_rest, reason};

        return reason ? table_add_line(table, NULL, &line, NULL) : -ENOMEM;
}

static int show(const struct plan *plan)
{
        _cleanup_table_ struct table table = {};
        int r;

        r = table_new(&arg_table, &table);
        for (size_t i = 0; r >= 0 && i < plan->n; i++)
                r = add_line(&table, plan, &plan->volume_groups[i]);
        return r < 0 ? r : table_print(&table);
}

/* Whether or not it is on: who has it off may want to see what it would do. */
static int make(int root_fd, struct plan *plan, struct problems *problems)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_configuration_ struct configuration configuration = {};
        const char *off;
        int r;

        r = settings_read(root_fd, &settings, problems);
        if (r < 0)
                return r;
        r = configuration_read(root_fd, &configuration, problems);
        if (r < 0)
                return r;
        r = switches_describe_off(root_fd, &settings, &configuration, &off);
        if (r < 0)
                return r;
        if (off)
                log_notice("Direct activation is off: %s", off);
        return plan_make(root_fd, &settings, &configuration, NULL, plan, problems);
}

int plan_activate(int argc, char *argv[])
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};
        _cleanup_close_ int root_fd = -EBADF;
        int r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;

        root_fd = root_open();
        if (root_fd < 0)
                return verb_fail(root_fd, "Failed to open %s: %m", root_path());
        r = make(root_fd, &plan, &problems);
        if (r >= 0)
                r = show(&plan);
        for (size_t i = 0; i < problems.lines.n; i++)
                log_warning("%s", problems.lines.strings[i]);
        if (r < 0)
                (void) log_error_errno(r, "Failed to show the plan: %m");
        return r < 0 || problems.error < 0 ? EXIT_CANNOT_TELL : EXIT_SUCCESS;
}
