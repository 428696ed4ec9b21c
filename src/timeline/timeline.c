/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The bars of a timeline and their phases, whatever the timeline was made from. */

#include "timeline/timeline.h"

#include <sys/utsname.h>

#include "shared/util.h"

int timeline_add(struct timeline *timeline, struct timeline_bar **ret)
{
        if (!GREEDY_REALLOC(timeline->bars, timeline->n + 1))
                return -ENOMEM;
        *ret = &timeline->bars[timeline->n++];
        **ret = (struct timeline_bar){};
        return 0;
}

static void bar_done(struct timeline_bar *bar)
{
        free(bar->name);
        free(bar->tree);
        free(bar->kind);
        free(bar->reason);
}

void timeline_truncate(struct timeline *timeline, size_t n)
{
        while (timeline->n > n)
                bar_done(&timeline->bars[--timeline->n]);
}

void timeline_describe_machine(struct timeline *timeline, uint64_t began_usec)
{
        struct utsname names;

        timeline->realtime_usec = now_realtime_usec() - (now_usec() - began_usec);
        if (uname(&names) < 0)
                return;
        timeline->host = string_printable(names.nodename);
        timeline->kernel = string_printable(names.release);
}

void timeline_done(struct timeline *timeline)
{
        timeline_truncate(timeline, 0);
        free(timeline->bars);
        free(timeline->host);
        free(timeline->kernel);
        *timeline = (struct timeline){};
}

uint64_t timeline_total_usec(const struct timeline_bar *bar)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++)
                sum += bar->phases_usec[i];
        return sum;
}

uint64_t timeline_end_usec(const struct timeline_bar *bar)
{
        return bar->first_usec + timeline_total_usec(bar);
}

/* ------ orders ------ */

static int compare_by_blame(const void *a, const void *b)
{
        const struct timeline_bar *first = a, *second = b;
        int r = 0;

        if (first->tree && second->tree)
                r = CMP(second->end == TIMELINE_FAILED, first->end == TIMELINE_FAILED)
                            ?: CMP(second->phases_usec[TIMELINE_REMOVAL], first->phases_usec[TIMELINE_REMOVAL]);
        return r ?: CMP(timeline_total_usec(second), timeline_total_usec(first))
                            ?: strverscmp(first->name, second->name);
}

static int compare_by_end(const void *a, const void *b)
{
        const struct timeline_bar *first = a, *second = b;
        int r = first->tree && second->tree ? strverscmp(first->tree, second->tree) : 0;

        return r ?: CMP(timeline_end_usec(first), timeline_end_usec(second))
                            ?: strverscmp(first->name, second->name);
}

static int compare_by_batch(const void *a, const void *b)
{
        const struct timeline_bar *first = a, *second = b;

        return CMP(first->asked_usec, second->asked_usec)
                       ?: CMP(timeline_end_usec(first), timeline_end_usec(second))
                       ?: strverscmp(first->name, second->name);
}

static void sort(struct timeline *timeline, int (*compare)(const void *a, const void *b))
{
        SORT(timeline->bars, timeline->n, compare);
}

void timeline_sort_by_blame(struct timeline *timeline)
{
        sort(timeline, compare_by_blame);
}

void timeline_sort_by_end(struct timeline *timeline)
{
        sort(timeline, compare_by_end);
}

void timeline_sort_by_batch(struct timeline *timeline)
{
        sort(timeline, compare_by_batch);
}

/* ------ what is of interest ------ */

#define PAUSE_MIN_USEC (60 * USEC_PER_SEC)
#define PAUSE_TIMES 3

static int compare_times(const void *a, const void *b)
{
        return CMP(*(const uint64_t *) a, *(const uint64_t *) b);
}

int timeline_find_pause(const struct timeline *timeline, uint64_t *ret_usec)
{
        size_t n = 0, size = timeline->n * (_TIMELINE_PHASE_MAX + 1);
        _cleanup_free_ uint64_t *times = calloc(size + 1, sizeof(*times));

        if (!times)
                return -ENOMEM;
        for (size_t i = 0; i < timeline->n; i++) {
                const struct timeline_bar *bar = &timeline->bars[i];
                uint64_t time = times[n++] = bar->first_usec;

                /* Where something goes on there is no event, only the moment of asking. */
                for (size_t j = 0; j < _TIMELINE_PHASE_MAX; j++) {
                        time += bar->phases_usec[j];
                        if (bar->end != TIMELINE_UNFINISHED || time < timeline_end_usec(bar))
                                times[n++] = time;
                }
        }
        SORT(times, n, compare_times);

        *ret_usec = n > 0 ? times[n - 1] : 0;
        for (size_t i = 1; i < n; i++)
                if (times[i] - times[i - 1] > MAX(PAUSE_MIN_USEC, PAUSE_TIMES * (times[i - 1] - times[0]))) {
                        *ret_usec = times[i - 1];
                        break;
                }
        return 0;
}

static bool is_named(const struct timeline_bar *bar, char *const names[], size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (streq(bar->name, names[i]) || (bar->tree && streq(bar->tree, names[i])))
                        return true;
        return false;
}

int timeline_select(struct timeline *timeline, char *const names[], size_t n, const char **ret_unknown)
{
        size_t n_selected = 0;

        for (size_t i = 0, j; i < n; i++) {
                for (j = 0; j < timeline->n && !is_named(&timeline->bars[j], &names[i], 1); j++)
                        ;
                if (j == timeline->n) {
                        *ret_unknown = names[i];
                        return -ENOENT;
                }
        }
        for (size_t i = 0; i < timeline->n; i++)
                if (n == 0 || is_named(&timeline->bars[i], names, n))
                        timeline->bars[n_selected++] = timeline->bars[i];
                else
                        bar_done(&timeline->bars[i]);
        timeline->n = n_selected;
        return 0;
}
