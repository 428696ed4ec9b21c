/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan activate: what headgate-generator makes of the same files, as a table. */

#include <getopt.h>

#include "cli/plan.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "plan/plan.h"
#include "plan/switches.h"
#include "shared/log.h"
#include "shared/root.h"
#include "shared/util.h"

static struct table_options arg_table;

static void help(void)
{
        printf("Usage: headgate plan activate [OPTION...]\n\n"
               "Show which volume groups are activated at boot, and who waits for them.\n\n"
               "      --json        Print JSON\n"
               "      --noheadings  Leave out the line of headings\n"
               "  -h, --help        Show this help\n\n"
               "Exit status: 0, or 2 if something could not be read.\n\n"
               "See headgate(8).\n");
}

/* ------ columns: each makes its cell of a VG, NULL without memory ------ */

static char *format_name(const struct planned_volume_group *volume_group, _unused_ const struct plan *plan)
{
        return strdup(volume_group->name);
}

static char *format_group(const struct planned_volume_group *volume_group, _unused_ const struct plan *plan)
{
        return strdup(plan_group_to_string(volume_group->group));
}

static char *format_unit(const struct planned_volume_group *volume_group, _unused_ const struct plan *plan)
{
        return strdup(volume_group->unit ?: "");
}

static bool is_urgent(const struct planned_volume_group *volume_group, const struct plan *plan)
{
        return volume_group->group == PLAN_BOOT || (volume_group->group == PLAN_REST && plan->rest_urgent);
}

static char *format_urgent(const struct planned_volume_group *volume_group, const struct plan *plan)
{
        /* libsmartcols makes a boolean of it, by its first character. */
        return strdup(is_urgent(volume_group, plan) ? "1" : "0");
}

static char *format_reason(const struct planned_volume_group *volume_group, const struct plan *plan)
{
        if (volume_group->group == PLAN_REST && plan->rest_urgent)
                return string_format("%s Urgent: %s", volume_group->reason, plan->rest_urgent);
        return strdup(volume_group->reason);
}

struct column {
        const char *name;
        int flags;
        int json_type;
        char *(*format)(const struct planned_volume_group *volume_group, const struct plan *plan);
};

static const struct column table_columns[] = {
        {"VG", 0, 0, format_name},
        {"GROUP", 0, 0, format_group},
        {"UNIT", 0, 0, format_unit},
        {"REASON", SCOLS_FL_WRAP, 0, format_reason},
};

static const struct column json_columns[] = {
        {"vg", 0, SCOLS_JSON_STRING, format_name},
        {"group", 0, SCOLS_JSON_STRING, format_group},
        {"urgent", 0, SCOLS_JSON_BOOLEAN, format_urgent},
        {"unit", 0, SCOLS_JSON_STRING, format_unit},
        {"reason", 0, SCOLS_JSON_STRING, format_reason},
};

/* ------ the table ------ */

static int add_columns(struct libscols_table *table, const struct column *columns, size_t n_columns)
{
        for (size_t i = 0; i < n_columns; i++) {
                struct libscols_column *column;
                int r;

                r = table_add_column(table, columns[i].name, columns[i].flags, columns[i].json_type, &column);
                if (r < 0)
                        return r;
                /* The names of units have backslashes, which are to be seen as they are typed. */
                if (scols_column_set_safechars(column, "\\") < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int add_line(struct libscols_table *table, const struct column *columns, size_t n_columns,
        const struct planned_volume_group *volume_group, const struct plan *plan)
{
        struct libscols_line *line = scols_table_new_line(table, NULL);
        int r = line ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < n_columns; i++)
                r = table_set_cell(line, i, columns[i].format(volume_group, plan));
        return r;
}

static int show(const struct plan *plan)
{
        _cleanup_table_ struct libscols_table *table = table_new(&arg_table, "volumegroups");
        const struct column *columns = arg_table.json ? json_columns : table_columns;
        size_t n_columns = arg_table.json ? ELEMENTSOF(json_columns) : ELEMENTSOF(table_columns);
        int r = table ? 0 : -ENOMEM;

        if (r >= 0)
                r = add_columns(table, columns, n_columns);
        for (size_t i = 0; r >= 0 && i < plan->n; i++)
                r = add_line(table, columns, n_columns, &plan->volume_groups[i], plan);
        return r < 0 ? r : scols_print_table(table);
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
        return plan_make(root_fd, &settings, &configuration, plan, problems);
}

int plan_activate(int argc, char *argv[])
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};
        _cleanup_close_ int root_fd = -EBADF;
        int r;

        r = table_parse_options(argc, argv, help, &arg_table);
        if (r <= 0)
                return -r;
        if (optind < argc) {
                log_error("Expected no arguments.");
                return EXIT_CANNOT_TELL;
        }

        root_fd = root_open();
        if (root_fd < 0) {
                (void) log_error_errno(root_fd, "Failed to open %s: %m", root_path());
                return EXIT_CANNOT_TELL;
        }
        r = make(root_fd, &plan, &problems);
        if (r >= 0)
                r = show(&plan);
        for (size_t i = 0; i < problems.lines.n; i++)
                log_warning("%s", problems.lines.strings[i]);
        if (r < 0)
                (void) log_error_errno(r, "Failed to show the plan: %m");
        return r < 0 || problems.error < 0 ? EXIT_CANNOT_TELL : EXIT_SUCCESS;
}
