/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/macro.h"

/* What a check has found. */
enum finding_result {
        FINDING_OK,
        FINDING_UNKNOWN, /* it cannot be told, for want of permission for one thing */
        FINDING_WARNING,
        FINDING_FAILED,
};

const char *finding_result_to_string(enum finding_result result);

struct finding {
        const char *check; /* the name of the check, a constant */
        enum finding_result result;
        char *detail; /* a sentence, printable */
        char *advice; /* what to do; "" where there is nothing to be done */
};

/* Starts empty: all zeros. */
struct findings {
        const char *check; /* that what is added is from */
        struct finding *findings;
        size_t n;
        bool out_of_memory; /* and so something is missing */
};

/* Adds one. `advice` is copied; NULL for none. What is not printable ASCII is written as \xNN. */
void findings_add(struct findings *findings, enum finding_result result, const char *advice, const char *format,
        ...) _nonnull_(1, 4) _printf_(4, 5);

/* The same with an error: %m in `format` stands for `error`, a negative errno. */
void findings_add_unknown(struct findings *findings, int error, const char *format, ...) _nonnull_(1, 3)
        _printf_(3, 4);

/* The worst result, FINDING_OK if there is none. */
enum finding_result findings_worst(const struct findings *findings) _nonnull_(1);

void findings_done(struct findings *findings) _nonnull_(1);
#define _cleanup_findings_ _cleanup_(findings_done)

/* Names that share a finding: there can be a thousand of them. Starts empty: all zeros. */
struct finding_names {
        char *first; /* at most three of them, "a, b, c" */
        size_t n;
};

void finding_names_add(struct finding_names *names, const char *name) _nonnull_(1, 2);
/* "a, b, c and 7 more", to be freed by the caller; NULL without memory. */
char *finding_names_join(const struct finding_names *names) _nonnull_(1) _must_check_;
void finding_names_done(struct finding_names *names) _nonnull_(1);
#define _cleanup_finding_names_ _cleanup_(finding_names_done)
