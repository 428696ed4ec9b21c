/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/finding.h"

#include <stdarg.h>

#include "shared/util.h"

#define NAMES_SHOWN 3

const char *finding_result_to_string(enum finding_result result)
{
        static const char *const strings[] = {
                [FINDING_OK] = "ok",
                [FINDING_UNKNOWN] = "unknown",
                [FINDING_WARNING] = "warning",
                [FINDING_FAILED] = "failed",
        };

        return strings[result];
}

static int add(struct findings *findings, enum finding_result result, const char *advice, const char *detail)
{
        struct finding *larger;
        struct finding finding = {
                .check = findings->check ?: "",
                .result = result,
                .detail = string_printable(detail),
                .advice = string_printable(advice ?: ""),
        };

        larger = reallocarray(findings->findings, findings->n + 1, sizeof(*larger));
        if (larger)
                findings->findings = larger;
        if (!larger || !finding.detail || !finding.advice) {
                free(finding.detail);
                free(finding.advice);
                return -ENOMEM;
        }
        findings->findings[findings->n++] = finding;
        return 0;
}

_printf_(4, 0) static void add_formatted(struct findings *findings, enum finding_result result, const char *advice,
        const char *format, va_list arguments)
{
        _cleanup_free_ char *detail = NULL;

        if (vasprintf(&detail, format, arguments) < 0)
                detail = NULL;
        if (!detail || add(findings, result, advice, detail) < 0)
                findings->out_of_memory = true;
}

void findings_add(
        struct findings *findings, enum finding_result result, const char *advice, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        add_formatted(findings, result, advice, format, arguments);
        va_end(arguments);
}

void findings_add_unknown(struct findings *findings, int error, const char *format, ...)
{
        const char *advice = error == -EACCES || error == -EPERM ? "Run headgate doctor as root." : NULL;
        va_list arguments;

        errno = -error;
        va_start(arguments, format);
        add_formatted(findings, FINDING_UNKNOWN, advice, format, arguments);
        va_end(arguments);
}

enum finding_result findings_worst(const struct findings *findings)
{
        enum finding_result worst = FINDING_OK;

        for (size_t i = 0; i < findings->n; i++)
                worst = MAX(worst, findings->findings[i].result);
        return worst;
}

void findings_done(struct findings *findings)
{
        for (size_t i = 0; i < findings->n; i++) {
                free(findings->findings[i].detail);
                free(findings->findings[i].advice);
        }
        free(findings->findings);
        *findings = (struct findings){};
}

void finding_names_add(struct finding_names *names, const char *name)
{
        char *longer;

        if (names->n++ >= NAMES_SHOWN)
                return;
        longer = names->first ? string_format("%s, %s", names->first, name) : strdup(name);
        if (!longer)
                return;
        free(names->first);
        names->first = longer;
}

char *finding_names_join(const struct finding_names *names)
{
        if (names->n > NAMES_SHOWN)
                return string_format("%s and %zu more", names->first ?: "", names->n - NAMES_SHOWN);
        return strdup(names->first ?: "");
}

void finding_names_done(struct finding_names *names)
{
        free(names->first);
        *names = (struct finding_names){};
}
