/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What there is to say to a question, as headgate why shows it: an answer, and lists of texts in which nothing stands twice. */

#include "why/why.h"

/* Takes over `text`, and NULL for want of memory. */
static void add(struct why *why, struct string_vector *texts, char *text)
{
        _cleanup_free_ char *taken = text;

        if (taken && string_vector_has(texts, taken))
                return;
        if (!taken || string_vector_add(texts, taken) < 0)
                why->error = -ENOMEM;
}

void why_answer(struct why *why, enum verdict verdict, const char *state, const char *format, ...)
{
        va_list arguments;

        why->verdict = verdict;
        why->state = state;
        va_start(arguments, format);
        if (string_replace(&why->answer, string_format_printable(format, arguments)) < 0)
                why->error = -ENOMEM;
        va_end(arguments);
}

void why_condition(struct why *why, const char *condition)
{
        add(why, &why->conditions, strdup(condition));
}

void why_cause(struct why *why, const char *condition, const char *format, ...)
{
        va_list arguments;

        why_condition(why, condition);
        va_start(arguments, format);
        add(why, &why->causes, string_format_printable(format, arguments));
        va_end(arguments);
}

void why_fact(struct why *why, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        add(why, &why->facts, string_format_printable(format, arguments));
        va_end(arguments);
}

void why_advise(struct why *why, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        add(why, &why->advice, string_format_printable(format, arguments));
        va_end(arguments);
}

void why_fail(struct why *why, int error)
{
        if (error < 0)
                why->error = error;
}

const char *why_first_cause(const struct why *why)
{
        return why->causes.n > 0 ? why->causes.strings[0] : "nobody knows why";
}

void why_add_other_causes(struct why *why)
{
        for (size_t i = 1; i < why->causes.n; i++)
                why_fact(why, "Besides, %s.", why->causes.strings[i]);
}

void why_take_over(struct why *why, const struct why *other)
{
        for (size_t i = 0; i < other->conditions.n; i++)
                why_condition(why, other->conditions.strings[i]);
        for (size_t i = 0; i < other->facts.n; i++)
                why_fact(why, "%s", other->facts.strings[i]);
        for (size_t i = 0; i < other->advice.n; i++)
                why_advise(why, "%s", other->advice.strings[i]);
        why_fail(why, other->error);
}

void why_done(struct why *why)
{
        free(why->answer);
        string_vector_done(&why->conditions);
        string_vector_done(&why->causes);
        string_vector_done(&why->facts);
        string_vector_done(&why->advice);
        *why = (struct why){};
}

char *describe_date(int64_t seconds)
{
        _cleanup_free_ char *text = format_local_time(seconds);

        if (!text || text[0] != '\0')
                return TAKE_PTR(text);
        return strdup("a time that nobody knows");
}

char *describe_time(const struct volume_group *volume_group, uint64_t usec)
{
        uint64_t now = now_usec(), age = now > usec ? now - usec : 0;
        _cleanup_free_ char *date = describe_date(volume_group_to_realtime(volume_group, usec));
        _cleanup_free_ char *duration = format_duration(age);

        return date && duration ? string_format("%s, %s ago", date, duration) : NULL;
}
