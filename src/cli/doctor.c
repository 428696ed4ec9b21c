/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate doctor: checks whether the machine is set up as headgate needs it, and says what to do where it is not.
 * */

#include <getopt.h>

#include "cli/table.h"
#include "cli/verbs.h"
#include "doctor/checks.h"
#include "shared/log.h"
#include "shared/root.h"

static struct table_options arg_table;

static void help(void)
{
        printf("Usage: headgate doctor [OPTION...]\n\n"
               "Check whether this machine is set up for headgate, and say what to do where it is not.\n\n" TABLE_HELP
               "\n"
               "Exit status: 0 if all is well, 1 if there is a warning or a failure, 2 if that cannot be\n"
               "told.\n\n"
               "See headgate-doctor(8).\n");
}

/* ------ columns: each makes its cell of a finding, NULL without memory ------ */

static char *format_check(const void *line)
{
        const struct finding *finding = line;

        return strdup(finding->check);
}

static char *format_result(const void *line)
{
        const struct finding *finding = line;

        return strdup(finding_result_to_string(finding->result));
}

static char *format_detail(const void *line)
{
        const struct finding *finding = line;

        return strdup(finding->detail);
}

static char *format_advice(const void *line)
{
        const struct finding *finding = line;

        return strdup(finding->advice);
}

static const char *color_of(const void *line)
{
        const struct finding *finding = line;

        switch (finding->result) {
        case FINDING_OK:
                return "green";
        case FINDING_FAILED:
                return "red";
        default:
                return "yellow";
        }
}

static const struct column columns[] = {
        {"CHECK", "what was looked at", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_check},
        {"RESULT", "ok, warning, failed or unknown", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_result,
                .color = color_of},
        {"DETAIL", "what was found", COLUMN_ALWAYS, SCOLS_FL_WRAP, SCOLS_JSON_STRING, format_detail},
        {"ADVICE", "what to do about it", COLUMN_ALWAYS, SCOLS_FL_WRAP, SCOLS_JSON_STRING, format_advice},
};

static const struct table_verb verb = {help, "checks", columns, ELEMENTSOF(columns), .takes_no_names = true};

static int show(const struct findings *findings)
{
        _cleanup_table_ struct table table = {};
        int r;

        r = table_new(&verb, &arg_table, &table);
        for (size_t i = 0; r >= 0 && i < findings->n; i++)
                r = table_add_line(&table, NULL, &findings->findings[i], NULL);
        return r < 0 ? r : table_print(&table);
}

/* What is known to be wrong is more than what is not known. */
static int exit_status_of(const struct findings *findings)
{
        if (findings_worst(findings) >= FINDING_WARNING)
                return EXIT_NOT_ALL_UP;
        return findings_worst(findings) == FINDING_OK ? EXIT_ALL_UP : EXIT_CANNOT_TELL;
}

int verb_doctor(int argc, char *argv[])
{
        _cleanup_findings_ struct findings findings = {};
        _cleanup_machine_ struct machine machine = {.sources = SOURCES_NONE};
        int r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;

        r = machine_read(&machine);
        if (r >= 0)
                r = checks_run(&machine, &findings);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to look at the machine: %m");
                return EXIT_CANNOT_TELL;
        }
        r = show(&findings);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to print the table: %m");
                return EXIT_CANNOT_TELL;
        }
        return exit_status_of(&findings);
}
