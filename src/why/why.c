/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What there is to say to a question, as headgate why shows it: an answer, and lists of texts in which nothing stands twice. */

#include "why/why.h"

void why_say(struct why *why, struct strv *texts, const char *format, ...)
{
        _cleanup_free_ char *text = FORMAT_ARGUMENTS(string_format_printable, format);

        if (!text || (!strv_has(texts, text) && strv_add(texts, text) < 0))
                why->error = -ENOMEM;
}

void why_answer(struct why *why, enum verdict verdict, const char *state, const char *format, ...)
{
        why->verdict = verdict;
        why->state = state;
        if (string_replace(&why->answer, FORMAT_ARGUMENTS(string_format_printable, format)) < 0)
                why->error = -ENOMEM;
}

void why_fail(struct why *why, int error)
{
        if (error < 0)
                why->error = error;
}

void why_add_other_causes(struct why *why)
{
        for (size_t i = 1; i < why->causes.n; i++)
                why_fact(why, "Besides, %s.", why->causes.strings[i]);
}

void why_take_over(struct why *why, const struct why *other)
{
        STRV_FOREACH(condition, &other->conditions)
                why_condition(why, *condition);
        STRV_FOREACH(fact, &other->facts)
                why_fact(why, "%s", *fact);
        STRV_FOREACH(advice, &other->advice)
                why_advise(why, "%s", *advice);
        why_fail(why, other->error);
}

void why_done(struct why *why)
{
        free(why->answer);
        strv_done(&why->conditions);
        strv_done(&why->causes);
        strv_done(&why->facts);
        strv_done(&why->advice);
        *why = (struct why){};
}

const char *describe_time(const struct vg *vg, uint64_t usec, char ret[static 2 * TIME_SIZE])
{
        uint64_t now = now_usec(), age = now > usec ? now - usec : 0;

        (void) snprintf(ret, (size_t) 2 * TIME_SIZE, "%s, %s ago", LOCAL_TIME_TO_STRING(vg_to_realtime(vg, usec)),
                DURATION_TO_STRING(age));
        return ret;
}
