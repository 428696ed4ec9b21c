/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate doctor: checks whether the machine is set up as headgate needs it, and says what to do where it is not.
 * */

#include "cli/table.h"
#include "cli/verbs.h"
#include "doctor/checks.h"
#include "shared/log.h"
#include "shared/program.h"

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

static char *get_result(const void *line)
{
        const struct finding *finding = line;

        return strdup(finding_result_to_string(finding->result));
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
        {"CHECK", "what was looked at", COLUMN_ALWAYS, COLUMN_STRING, COLUMN_FIELD(struct finding, check)},
        {"RESULT", "ok, warning, failed or unknown", COLUMN_ALWAYS, COLUMN_STRING, .text = get_result,
                .color = color_of},
        {"DETAIL", "what was found", COLUMN_ALWAYS, COLUMN_STRING, COLUMN_FIELD(struct finding, detail),
                .flags = SCOLS_FL_WRAP},
        {"ADVICE", "what to do about it", COLUMN_ALWAYS, COLUMN_STRING, COLUMN_FIELD(struct finding, advice),
                .flags = SCOLS_FL_WRAP},
};

static const struct table_kind kind = {"checks", columns, ELEMENTSOF(columns)};
static const struct table_verb verb = {&kind, .help = help, .takes_no_names = true};

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
        if (r < 0)
                return verb_fail(r, "Failed to look at the machine: %m");
        r = table_print_lines(&arg_table, findings.findings, findings.n, sizeof(*findings.findings));
        if (r < 0)
                return verb_fail(r, "Failed to print the table: %m");
        return exit_status_of(&findings);
}
