/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "lvm/volume_group.h"
#include "shared/util.h"

/* Why something is up or not: the answer of "headgate why", in sentences. Every text is made printable. Without
 * memory for one it is left out, and `error` is set, so that nobody has to look after each sentence. So is what else goes
 * wrong, and then the explanation is not to be shown. */

enum verdict {
        VERDICT_UP,
        VERDICT_DOWN,
        VERDICT_UNKNOWN, /* what was asked for is not known, or nobody can tell */
};

/* Starts with what it is about, and else empty. */
struct explanation {
        char *name;       /* as it was asked for */
        const char *kind; /* "vg", "lv" or "device" */
        enum verdict verdict;
        const char *state; /* in one word */
        char *answer;      /* a sentence */
        struct string_vector
                conditions;          /* why it is not up, in words for programs, as headgate-why(8) lists them */
        struct string_vector causes; /* the same as ends of sentences, "it is exported"; the first one answers */
        struct string_vector facts;  /* sentences */
        struct string_vector advice; /* likewise */
        int error;                   /* 0 or a negative errno */
};

/* `state` is kept, not copied. */
void explanation_answer(struct explanation *explanation, enum verdict verdict, const char *state,
        const char *format, ...) _nonnull_(1, 3, 4) _printf_(4, 5);
/* `condition` may be there already; each is kept once. */
void explanation_condition(struct explanation *explanation, const char *condition) _nonnull_(1, 2);
/* A cause is a condition and the end of a sentence that begins with "because". */
void explanation_cause(struct explanation *explanation, const char *condition, const char *format, ...)
        _nonnull_(1, 2, 3) _printf_(3, 4);
void explanation_fact(struct explanation *explanation, const char *format, ...) _nonnull_(1, 2) _printf_(2, 3);
/* What is there already is not said again. */
void explanation_advise(struct explanation *explanation, const char *format, ...) _nonnull_(1, 2) _printf_(2, 3);

/* Sets the error if `error` is one. */
void explanation_fail(struct explanation *explanation, int error) _nonnull_(1);

/* What answers: the first cause, or `otherwise`. */
const char *explanation_first_cause(const struct explanation *explanation, const char *otherwise) _nonnull_(1, 2);
/* The other causes, as sentences. */
void explanation_tell_other_causes(struct explanation *explanation) _nonnull_(1);

/* Adds conditions, facts and advice of another one, such as that of a part. */
void explanation_take_over(struct explanation *explanation, const struct explanation *other) _nonnull_(1, 2);

bool explanation_has_condition(const struct explanation *explanation, const char *condition) _nonnull_(1, 2);

void explanation_done(struct explanation *explanation) _nonnull_(1);
#define _cleanup_explanation_ _cleanup_(explanation_done)

/* A time of the VG on now_usec()'s clock: "2026-01-31 12:00:00, 3min 2s ago". NULL without memory. */
char *describe_time(const struct volume_group *volume_group, uint64_t usec) _nonnull_(1) _must_check_;

/* The same of a time in seconds since 1970. */
char *describe_date(int64_t seconds) _must_check_;
