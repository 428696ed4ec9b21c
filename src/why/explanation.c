/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An explanation, as headgate why shows it: an answer, and lists of texts in which nothing stands twice. */

#include "why/explanation.h"

#include <stdarg.h>

__attribute__((format(printf, 1, 0))) static char *format_printable(const char *format, va_list arguments)
{
        _cleanup_free_ char *text = NULL;

        if (vasprintf(&text, format, arguments) < 0) {
                text = NULL;
                return NULL;
        }
        return string_printable(text);
}

static bool has(const struct string_vector *texts, const char *text)
{
        for (size_t i = 0; i < texts->n; i++)
                if (streq(texts->strings[i], text))
                        return true;
        return false;
}

/* Takes over `text`, and NULL for want of memory. */
static void add(struct explanation *explanation, struct string_vector *texts, char *text)
{
        _cleanup_free_ char *taken = text;

        if (taken && has(texts, taken))
                return;
        if (!taken || string_vector_add(texts, taken) < 0)
                explanation->error = -ENOMEM;
}

void explanation_answer(
        struct explanation *explanation, enum verdict verdict, const char *state, const char *format, ...)
{
        va_list arguments;

        explanation->verdict = verdict;
        explanation->state = state;
        va_start(arguments, format);
        if (string_replace(&explanation->answer, format_printable(format, arguments)) < 0)
                explanation->error = -ENOMEM;
        va_end(arguments);
}

void explanation_condition(struct explanation *explanation, const char *condition)
{
        add(explanation, &explanation->conditions, strdup(condition));
}

void explanation_cause(struct explanation *explanation, const char *condition, const char *format, ...)
{
        va_list arguments;

        explanation_condition(explanation, condition);
        va_start(arguments, format);
        add(explanation, &explanation->causes, format_printable(format, arguments));
        va_end(arguments);
}

void explanation_fact(struct explanation *explanation, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        add(explanation, &explanation->facts, format_printable(format, arguments));
        va_end(arguments);
}

void explanation_advise(struct explanation *explanation, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        add(explanation, &explanation->advice, format_printable(format, arguments));
        va_end(arguments);
}

void explanation_fail(struct explanation *explanation, int error)
{
        if (error < 0)
                explanation->error = error;
}

const char *explanation_first_cause(const struct explanation *explanation, const char *otherwise)
{
        return explanation->causes.n > 0 ? explanation->causes.strings[0] : otherwise;
}

void explanation_tell_other_causes(struct explanation *explanation)
{
        for (size_t i = 1; i < explanation->causes.n; i++) {
                const char *cause = explanation->causes.strings[i];

                explanation_fact(explanation, "Besides, %s.", cause);
        }
}

void explanation_take_over(struct explanation *explanation, const struct explanation *other)
{
        for (size_t i = 0; i < other->conditions.n; i++)
                explanation_condition(explanation, other->conditions.strings[i]);
        for (size_t i = 0; i < other->facts.n; i++)
                explanation_fact(explanation, "%s", other->facts.strings[i]);
        for (size_t i = 0; i < other->advice.n; i++)
                explanation_advise(explanation, "%s", other->advice.strings[i]);
        explanation_fail(explanation, other->error);
}

bool explanation_has_condition(const struct explanation *explanation, const char *condition)
{
        return has(&explanation->conditions, condition);
}

void explanation_done(struct explanation *explanation)
{
        free(explanation->name);
        free(explanation->answer);
        string_vector_done(&explanation->conditions);
        string_vector_done(&explanation->causes);
        string_vector_done(&explanation->facts);
        string_vector_done(&explanation->advice);
        *explanation = (struct explanation){};
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
