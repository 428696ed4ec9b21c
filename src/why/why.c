/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The explanation that headgate why shows: an answer, and lists of texts without duplicates. */

#include "why/why.h"

void why_say(struct why *why, struct strv *texts, const char *format, ...)
{
        _cleanup_free_ char *text = FORMAT_ARGUMENTS(string_format_printable, format);

        if (!text || (!strv_has(texts, text) && strv_add(texts, text) < 0))
                why->error = -ENOMEM;
}

/* Ranks of causes: the first one is the answer. For a VG, metadata comes before missing PVs, and these before lvm2's messages.
 * For an LV or a device, causes come first that would remain without the others. */
static const char *const ranking[] = {"exported", "foreign", "shared", "clustered", "vg-autoactivation-off",
        "activation-skip", "lv-autoactivation-off", "deactivated", "reserved", "missing-pv", "degraded", "unseen",
        "inactive", "event-activation-off", "auto-activation-volume-list", "volume-list", "stranded", "failed",
        "refused", "not-wanted", "activating", "silent", "queued", "md-component", "multipath-component", "luks",
        "pv-on-lv", "suspended", "partition-table", "too-small", "not-in-blkid"};

void why_cause(struct why *why, const char *condition, const char *format, ...)
{
        struct cause cause = {.text = FORMAT_ARGUMENTS(string_format_printable, format)};
        size_t i;

        why_condition(why, condition);
        while (cause.rank < ELEMENTSOF(ranking) && !streq(ranking[cause.rank], condition))
                cause.rank++;
        if (!cause.text || !GREEDY_REALLOC(why->causes, why->n_causes + 1)) {
                free(cause.text);
                why->error = -ENOMEM;
                return;
        }
        for (i = why->n_causes++; i > 0 && why->causes[i - 1].rank > cause.rank; i--)
                why->causes[i] = why->causes[i - 1];
        why->causes[i] = cause;
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

const char *why_first_cause(const struct why *why)
{
        return why->n_causes > 0 ? why->causes[0].text : "the reason is not known";
}

void why_add_other_causes(struct why *why)
{
        for (size_t i = 1; i < why->n_causes; i++)
                why_fact(why, "Also, %s.", why->causes[i].text);
}

void why_merge(struct why *why, const struct why *other)
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
        FOREACH_ARRAY(cause, why->causes, why->n_causes)
                free(cause->text);
        free(why->causes);
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
