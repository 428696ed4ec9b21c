/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The bars of a timeline and their phases, from any source; and the timeline of this boot, from the worker's
 * records. */

#include "timeline/timeline.h"

#include <sys/utsname.h>

#include "shared/util.h"

struct timeline_bar *timeline_add(struct timeline *timeline)
{
        if (!GREEDY_REALLOC(timeline->bars, timeline->n + 1))
                return NULL;
        timeline->bars[timeline->n] = (struct timeline_bar){};
        return &timeline->bars[timeline->n++];
}

void timeline_bar_done(struct timeline_bar *bar)
{
        free(bar->uuid);
        free(bar->name);
        free(bar->tree);
        free(bar->kind);
        free(bar->reason);
        *bar = (struct timeline_bar){};
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
        FOREACH_ARRAY(bar, timeline->bars, timeline->n)
                timeline_bar_done(bar);
        free(timeline->bars);
        free(timeline->host);
        free(timeline->kernel);
        *timeline = (struct timeline){};
}

uint64_t timeline_total_usec(const struct timeline_bar *bar)
{
        uint64_t sum = 0;

        FOREACH_ELEMENT(usec, bar->phases_usec)
                sum += *usec;
        return sum;
}

uint64_t timeline_own_usec(const struct timeline_bar *bar)
{
        return timeline_total_usec(bar) - bar->phases_usec[TIMELINE_QUEUE];
}

/* ------ orders ------ */

int timeline_by_blame(const void *a, const void *b)
{
        const struct timeline_bar *first = a, *second = b;
        int r = 0;

        if (first->tree && second->tree)
                r = CMP(second->end == TIMELINE_FAILED, first->end == TIMELINE_FAILED)
                            ?: CMP(second->phases_usec[TIMELINE_REMOVAL], first->phases_usec[TIMELINE_REMOVAL]);
        return r ?: CMP(timeline_own_usec(second), timeline_own_usec(first))
                            ?: strverscmp(first->name, second->name);
}

int timeline_by_end(const void *a, const void *b)
{
        const struct timeline_bar *first = a, *second = b;
        int r = first->tree && second->tree ? strverscmp(first->tree, second->tree) : 0;

        return r ?: CMP(timeline_end_usec(first), timeline_end_usec(second))
                            ?: strverscmp(first->name, second->name);
}

/* ------ selecting ------ */

#define PAUSE_MIN_USEC (60 * USEC_PER_SEC)
#define PAUSE_TIMES 3

int timeline_find_pause(const struct timeline *timeline, uint64_t *ret_usec)
{
        size_t n = 0, size = timeline->n * (_TIMELINE_PHASE_MAX + 1);
        _cleanup_free_ uint64_t *times = calloc(size + 1, sizeof(*times));

        if (!times)
                return -ENOMEM;
        FOREACH_ARRAY(bar, timeline->bars, timeline->n) {
                uint64_t time = times[n++] = bar->first_usec;

                /* The end of an unfinished phase is the present, which is not an event. */
                for (size_t j = 0; j < _TIMELINE_PHASE_MAX; j++) {
                        time += bar->phases_usec[j];
                        if (bar->end != TIMELINE_UNFINISHED || time < timeline_end_usec(bar))
                                times[n++] = time;
                }
        }
        SORT(times, n, compare_numbers);

        *ret_usec = n > 0 ? times[n - 1] : 0;
        for (size_t i = 1; i < n; i++)
                if (timeline->kind == TIMELINE_BOOT &&
                        times[i] - times[i - 1] > MAX(PAUSE_MIN_USEC, PAUSE_TIMES * (times[i - 1] - times[0]))) {
                        *ret_usec = times[i - 1];
                        break;
                }
        return 0;
}

static bool is_named(const struct timeline_bar *bar, char *const names[], size_t n)
{
        return ANY(
                FOREACH_ARRAY(name, names, n), streq(bar->name, *name) || (bar->tree && streq(bar->tree, *name)));
}

int timeline_select(struct timeline *timeline, char *const names[], size_t n, const char **ret_unknown)
{
        size_t n_selected = 0;

        FOREACH_ARRAY(name, names, n)
                if (!ANY(FOREACH_ARRAY(bar, timeline->bars, timeline->n), is_named(bar, name, 1))) {
                        *ret_unknown = *name;
                        return -ENOENT;
                }
        FOREACH_ARRAY(bar, timeline->bars, timeline->n)
                if (n == 0 || is_named(bar, names, n))
                        timeline->bars[n_selected++] = *bar;
                else
                        timeline_bar_done(bar);
        timeline->n = n_selected;
        return 0;
}

/* ------ this boot ------ */

static void set_phases(struct timeline_bar *bar, const struct vg *vg, uint64_t now)
{
        struct vg_times times = vg_first_times(vg);
        uint64_t complete = times.complete_usec, asked = times.activating_usec, end = times.settled_usec;
        uint64_t *phases = bar->phases_usec;

        bar->first_usec = times.first_seen_usec;
        bar->complete_usec = complete >= times.first_seen_usec ? complete : 0;
        if (vg_describe_activator(vg))
                return;
        phases[TIMELINE_PVS] = usec_between(times.first_seen_usec, bar->complete_usec ?: now);
        if (bar->complete_usec == 0)
                return;
        if (end < MAX(complete, asked))
                end = bar->end == TIMELINE_UNFINISHED ? now : MAX(complete, asked);
        if (asked < complete) {
                phases[TIMELINE_QUEUE] = usec_between(complete, end);
                return;
        }
        bar->asked_usec = asked;
        bar->linked_usec = times.linked_usec;
        phases[TIMELINE_QUEUE] = usec_between(complete, asked);
        phases[TIMELINE_LVM2] = usec_between(asked, times.made_usec ?: end);
        phases[TIMELINE_UDEV] = times.linked_usec - times.made_usec;
}

static char *describe_reason(const struct vg *vg)
{
        size_t n_missing = vg_count(vg).missing;

        if (vg->status == VG_STATUS_WAITING || (vg->status == VG_STATUS_DEGRADED && n_missing > 0))
                return string_format("%zu PV%s missing.", n_missing, plural(n_missing));
        if (!vg->reason && vg_describe_activator(vg))
                return string_format("Activated %s.", vg_describe_activator(vg));
        return vg->reason ? string_printable(vg->reason) : vg_describe_program(vg) ?: strdup("");
}

int timeline_add_vg(struct timeline *timeline, const struct vg *vg)
{
        /* All other states are successful. */
        static const enum timeline_end ends[_VG_STATUS_MAX] = {
                [VG_STATUS_WAITING] = TIMELINE_UNFINISHED,
                [VG_STATUS_COMPLETE] = TIMELINE_UNFINISHED,
                [VG_STATUS_ACTIVATING] = TIMELINE_UNFINISHED,
                [VG_STATUS_SKIPPED] = TIMELINE_SKIPPED,
                [VG_STATUS_FAILED] = TIMELINE_FAILED,
        };
        struct timeline_bar *bar = timeline_add(timeline);

        if (!bar)
                return -ENOMEM;
        bar->uuid = strdup(LVM_ID_TO_STRING(vg->vgid));
        bar->name = string_printable(vg->name);
        bar->reason = describe_reason(vg);
        bar->state = vg_status_to_string(vg->status);
        bar->end = vg->first.settled_usec != 0 ? TIMELINE_DONE : ends[vg->status];
        bar->n_pvs = vg->n_pvs;
        bar->n_lvs = vg_count(vg).autoactivated;
        set_phases(bar, vg, now_usec());
        return bar->uuid && bar->name && bar->reason ? 0 : -ENOMEM;
}

/* By vgchange, then by end. */
static int compare_batches(const void *a, const void *b)
{
        const struct timeline_bar *first = a, *second = b;

        return CMP(first->asked_usec, second->asked_usec)
                       ?: CMP(timeline_end_usec(first), timeline_end_usec(second))
                       ?: strverscmp(first->name, second->name);
}

/* Counts the time for other VGs of the same vgchange as queued. */
void timeline_finish_boot(struct timeline *timeline)
{
        uint64_t batch = 0, turn = 0;

        timeline_describe_machine(timeline, 0);
        SORT(timeline->bars, timeline->n, compare_batches);
        FOREACH_ARRAY(bar, timeline->bars, timeline->n) {
                uint64_t waited;

                if (bar->linked_usec == 0)
                        continue;
                if (bar->asked_usec != batch)
                        turn = batch = bar->asked_usec;
                waited = MIN(turn - batch, bar->phases_usec[TIMELINE_LVM2]);
                bar->phases_usec[TIMELINE_QUEUE] += waited;
                bar->phases_usec[TIMELINE_LVM2] -= waited;
                turn = MAX(turn, bar->linked_usec);
        }
}
