/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate doctor: checks the setup, and says how to fix it. */

#include "doctor/doctor.h"
#include "cli/verb.h"
#include "shared/log.h"

static bool arg_all;

struct line {
        const char *color;
        struct finding finding;
        const char *result;
};

static const struct column columns[] = {
        COLUMN("CHECK", ALWAYS, STRING, finding.check, "name of the check"),
        COLUMN("RESULT", ALWAYS, STRING, result, "ok, warning, failed or unknown", .colored = true),
        COLUMN("DETAIL", ALWAYS, STRING, finding.detail, "what was found", .flags = SCOLS_FL_WRAP),
        COLUMN("ADVICE", ALWAYS, STRING, finding.advice, "what to do", .flags = SCOLS_FL_WRAP),
};

/* A warning counts more than an unknown result. */
static const struct {
        const char *color, *name;
        int exit_status;
} results[] = {
        [FINDING_OK] = {"green", "ok", EXIT_ALL_UP},
        [FINDING_UNKNOWN] = {"yellow", "unknown", EXIT_CANNOT_TELL},
        [FINDING_WARNING] = {"yellow", "warning", EXIT_NOT_ALL_UP},
        [FINDING_FAILED] = {"red", "failed", EXIT_NOT_ALL_UP},
};

/* Prints the number of findings of each result. */
static void print_summary(const struct doctor *doctor)
{
        const char *separator = doctor->worst != FINDING_OK || arg_all ? "\n" : "";

        for (size_t result = ELEMENTSOF(results); result-- > 0;) {
                size_t n = 0;

                FOREACH_ARRAY(finding, doctor->findings, doctor->n_findings)
                        n += finding->result == result;
                if (n == 0)
                        continue;
                printf("%s%zu %s%s", separator, n, results[result].name,
                        result == FINDING_WARNING ? plural(n) : "");
                separator = ", ";
        }
        printf("%s\n", arg_all ? "." : "; --all shows all findings.");
}

static int run(char *names[] _unused_, size_t n _unused_, struct table *table)
{
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;
        int r = doctor_run(&doctor);

        if (r < 0)
                return verb_fail(r, "Failed to run the checks: %m");
        FOREACH_ARRAY(finding, doctor.findings, doctor.n_findings)
                if (arg_all || table->options.json || finding->result != FINDING_OK)
                        table_add_line(table, NULL,
                                &(struct line){
                                        results[finding->result].color, *finding, results[finding->result].name});
        r = verb_print(table, results[doctor.worst].exit_status, "print the table");
        if (!table->options.json && !table->options.no_headings)
                print_summary(&doctor);
        return r;
}

static const struct verb_option options[] = {
        {"all", 'a', NULL, "Show results that are ok, too", &arg_all},
        {},
};

const struct verb verb_doctor = {"doctor", "", "Check the setup of headgate",
        .help = "Usage: headgate doctor [OPTION...]\n\n"
                "Check the setup of headgate on this machine, and show how to fix problems.\n\n",
        .footer = "Exit status: 0 if all checks are ok, 1 if there is a warning or a failure, 2 if headgate\n"
                  "cannot tell.\n\n",
        .takes_no_names = true, .options = options, .table = TABLE_KIND("checks", columns), .run = run};
