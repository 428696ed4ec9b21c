/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Facts for all checks, and their findings. */

#include "doctor/doctor.h"

#include <fcntl.h>

#include "shared/program.h"
#include "tree/read.h"

/* ------ findings ------ */

void finding_add(
        struct doctor *doctor, enum finding_result result, int error, const char *advice, const char *format, ...)
{
        struct finding finding = {.check = doctor->check, .result = result};

        if (error == -EACCES || error == -EPERM)
                advice = "Run headgate doctor as root.";
        errno = -error;
        finding.detail = FORMAT_ARGUMENTS(string_format_printable, format);
        finding.advice = string_printable(advice ?: "");
        if (!GREEDY_REALLOC(doctor->findings, doctor->n_findings + 1) || !finding.detail || !finding.advice ||
                error == -ENOMEM) {
                free(finding.detail);
                free(finding.advice);
                doctor->out_of_memory = true;
                return;
        }
        doctor->findings[doctor->n_findings++] = finding;
        doctor->worst = MAX(doctor->worst, result);
}

/* ------ the machine ------ */

bool doctor_has(const struct doctor *doctor, const char *path)
{
        return faccessat(doctor->sources.root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

int doctor_open(struct doctor *doctor)
{
        int r = sources_open(&doctor->sources) ?: sources_read_config(&doctor->sources);

        if (r < 0)
                return r;
        doctor->snapshot_error = doctor->sources.run_error ?: snapshot_read(&doctor->sources);
        doctor->systemd_error = systemd_connect(&doctor->systemd);
        doctor->tree_error = tree_read(doctor->sources.root_fd, &doctor->tree);
        return 0;
}

void doctor_done(struct doctor *doctor)
{
        FOREACH_ARRAY(finding, doctor->findings, doctor->n_findings) {
                free(finding->detail);
                free(finding->advice);
        }
        free(doctor->findings);
        sources_done(&doctor->sources);
        systemd_done(&doctor->systemd);
        tree_free(doctor->tree);
}
