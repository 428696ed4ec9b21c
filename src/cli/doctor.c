/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate doctor: checks whether the machine is set up as headgate needs it, and says what to do where it is not. */

#include "doctor/doctor.h"
#include "cli/verb.h"
#include "shared/log.h"

struct line {
        const char *color;
        struct finding finding;
        const char *result;
};

static const struct column columns[] = {
        COLUMN("CHECK", ALWAYS, STRING, finding.check, "what was looked at"),
        COLUMN("RESULT", ALWAYS, STRING, result, "ok, warning, failed or unknown", .colored = true),
        COLUMN("DETAIL", ALWAYS, STRING, finding.detail, "what was found", .flags = SCOLS_FL_WRAP),
        COLUMN("ADVICE", ALWAYS, STRING, finding.advice, "what to do about it", .flags = SCOLS_FL_WRAP),
};

static int run(char *names[] _unused_, size_t n _unused_, struct table *table)
{
        static const char *const colors[] = {
                [FINDING_OK] = "green",
                [FINDING_UNKNOWN] = "yellow",
                [FINDING_WARNING] = "yellow",
                [FINDING_FAILED] = "red",
        };
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;
        int r;

        r = doctor_run(&doctor);
        if (r < 0)
                return verb_fail(r, "Failed to look at the machine: %m");
        for (size_t i = 0; r >= 0 && i < doctor.n_findings; i++) {
                const struct finding *finding = &doctor.findings[i];

                r = table_add_line(table, NULL,
                        &(struct line){
                                colors[finding->result], *finding, finding_result_to_string(finding->result)},
                        NULL);
        }
        if (r >= 0)
                r = table_print(table);
        if (r < 0)
                return verb_fail(r, "Failed to print the table: %m");
        /* What is known to be wrong is more than what is not known. */
        if (doctor.worst >= FINDING_WARNING)
                return EXIT_NOT_ALL_UP;
        return doctor.worst == FINDING_OK ? EXIT_ALL_UP : EXIT_CANNOT_TELL;
}

const struct verb verb_doctor = {"doctor", "", "Check whether the machine is set up as it should be",
        .help = "Usage: headgate doctor [OPTION...]\n\n"
                "Check whether this machine is set up for headgate, and say what to do where it is not.\n\n",
        .footer = "Exit status: 0 if all is well, 1 if there is a warning or a failure, 2 if that cannot be\n"
                  "told.\n\n"
                  "See headgate-doctor(8).\n",
        .takes_no_names = true, .table = TABLE_KIND("checks", columns), .run = run};
