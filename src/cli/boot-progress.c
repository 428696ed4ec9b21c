/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/boot-progress.h"

#include <inttypes.h>

#define BAR_WIDTH 24

/* How many VGs have a line of their own. */
#define LINES_MAX 6

void boot_progress_done(struct boot_progress *progress)
{
        free(progress->awaited);
        enumeration_done(&progress->absent);
}

/* ------ measuring ------ */

static bool is_of_interest(const struct boot_progress_scope *scope, const char *name)
{
        for (size_t i = 0; i < scope->n_names; i++)
                if (streq(scope->names[i], name))
                        return true;
        return scope->n_names == 0;
}

static void count(struct boot_progress *progress, const struct volume_group *volume_group, uint64_t now)
{
        bool waits = volume_group->state == VOLUME_GROUP_WAITING;
        bool settled = volume_group_is_settled(volume_group) && !waits;

        progress->n++;
        progress->n_in_state[volume_group->state]++;
        progress->n_settled += settled;
        progress->n_recently += settled && volume_group->settled_usec + BOOT_PROGRESS_RATE_USEC > now;
        progress->n_overdue += waits && volume_group->overdue;
        if (!settled)
                progress->awaited[progress->n_awaited++] = volume_group;
}

/* What lvm2 is at first, then what is waited for, and of each what has taken longest. */
static int compare(const void *a, const void *b)
{
        const struct volume_group *const *first = a, *const *second = b;
        uint64_t first_usec = volume_group_since_usec(*first), second_usec = volume_group_since_usec(*second);

        if ((*first)->state != (*second)->state)
                return (*first)->state > (*second)->state ? -1 : 1;
        return first_usec < second_usec ? -1 : first_usec > second_usec;
}

static void count_absent(
        const struct boot_progress_scope *scope, const struct snapshot *snapshot, struct boot_progress *progress)
{
        for (size_t i = 0; i < scope->n_names; i++)
                if (!snapshot_find(snapshot, scope->names[i]))
                        enumeration_add(&progress->absent, scope->names[i]);
        for (size_t i = 0; scope->n_names == 0 && i < scope->expected->n; i++) {
                const struct planned_volume_group *planned = &scope->expected->volume_groups[i];

                if (expected_by_boot(planned) && !snapshot_find(snapshot, planned->name))
                        enumeration_add(&progress->absent, planned->name);
        }
        enumeration_end(&progress->absent);
        progress->n += progress->absent.n;
        progress->n_in_state[VOLUME_GROUP_ABSENT] = progress->absent.n;
}

int boot_progress_measure(const struct snapshot *snapshot, const struct boot_progress_scope *scope, uint64_t now,
        struct boot_progress *ret)
{
        *ret = (struct boot_progress){.awaited = calloc(snapshot->n + 1, sizeof(*ret->awaited))};
        if (!ret->awaited)
                return -ENOMEM;
        for (size_t i = 0; i < snapshot->n; i++)
                if (is_of_interest(scope, snapshot->volume_groups[i]->name))
                        count(ret, snapshot->volume_groups[i], now);
        if (ret->n_awaited > 1)
                qsort(ret->awaited, ret->n_awaited, sizeof(*ret->awaited), compare);
        count_absent(scope, snapshot, ret);
        return 0;
}

/* ------ telling ------ */

/* "410 active, 2 skipped, 64 activating, 439 waiting, 2 of them overdue, 1 absent" */
static void print_counts(FILE *file, const struct boot_progress *progress)
{
        static const enum volume_group_state order[] = {VOLUME_GROUP_ACTIVE, VOLUME_GROUP_DEGRADED,
                VOLUME_GROUP_SKIPPED, VOLUME_GROUP_DEACTIVATED, VOLUME_GROUP_FAILED, VOLUME_GROUP_ACTIVATING,
                VOLUME_GROUP_COMPLETE, VOLUME_GROUP_WAITING, VOLUME_GROUP_ABSENT};
        const char *separator = "";

        for (size_t i = 0; i < ELEMENTSOF(order); i++) {
                size_t n = progress->n_in_state[order[i]];

                if (n == 0)
                        continue;
                fprintf(file, "%s%zu %s", separator, n, volume_group_state_to_string(order[i]));
                if (order[i] == VOLUME_GROUP_WAITING && progress->n_overdue > 0)
                        fprintf(file, " (%zu overdue)", progress->n_overdue);
                separator = ", ";
        }
        if (progress->n == 0)
                fprintf(file, "no VG was seen yet");
}

/* "; activating: vg1, vg2, vg3 and 4 more" */
static void print_names(FILE *file, const struct boot_progress *progress, enum volume_group_state state)
{
        _cleanup_enumeration_ struct enumeration names = {};

        for (size_t i = 0; i < progress->n_awaited; i++)
                if (progress->awaited[i]->state == state)
                        enumeration_add(&names, progress->awaited[i]->name);
        enumeration_end(&names);
        if (names.text)
                fprintf(file, "; %s: %s", volume_group_state_to_string(state), names.text);
}

static void print_summary(FILE *file, const struct boot_progress *progress)
{
        fprintf(file, "%zu of %zu VGs settled: ", progress->n_settled, progress->n);
        print_counts(file, progress);
        print_names(file, progress, VOLUME_GROUP_ACTIVATING);
        print_names(file, progress, VOLUME_GROUP_WAITING);
        if (progress->absent.text)
                fprintf(file, "; absent: %s", progress->absent.text);
}

/* What a function prints; NULL without memory. */
static char *describe(const struct boot_progress *progress, void (*print)(FILE *, const struct boot_progress *))
{
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);

        if (!file)
                return NULL;
        print(file, progress);
        if (fclose(file) == 0)
                return text;
        free(text);
        return NULL;
}

char *boot_progress_summarize(const struct boot_progress *progress)
{
        return describe(progress, print_summary);
}

/* Takes over a line; NULL is -ENOMEM. */
static int add(struct string_vector *lines, char *line)
{
        _cleanup_free_ char *owned = line;

        return owned ? string_vector_add(lines, owned) : -ENOMEM;
}

/* "[#########>              ]  40%, 412 of 1015 VGs settled, 37/s, 23.1s" */
static char *describe_bar(const struct boot_progress *progress, uint64_t usec)
{
        static const char done[] = "########################", open[] = "                        ";
        int filled = progress->n > 0 ? (int) (progress->n_settled * BAR_WIDTH / progress->n) : 0;
        _cleanup_free_ char *time = format_duration(usec);
        uint64_t rate =
                progress->n_recently * USEC_PER_SEC / MIN(MAX(usec, USEC_PER_SEC), BOOT_PROGRESS_RATE_USEC);

        return string_format("[%.*s%.*s] %3zu%%, %zu of %zu VGs settled, %" PRIu64 "/s, %s", filled, done,
                BAR_WIDTH - filled, open, progress->n > 0 ? progress->n_settled * 100 / progress->n : 0,
                progress->n_settled, progress->n, rate, time ?: "?");
}

/* "waiting for 12.3s: backup, for PV ... (last at /dev/sdk)" */
static char *describe_awaited(const struct volume_group *volume_group, uint64_t now)
{
        uint64_t since = volume_group_since_usec(volume_group);
        _cleanup_free_ char *time = format_duration(now > since ? now - since : 0);
        _cleanup_free_ char *missing = NULL;

        if (volume_group->state != VOLUME_GROUP_WAITING)
                return string_format("%s for %s: %s", volume_group_state_to_string(volume_group->state),
                        time ?: "?", volume_group->name);
        missing = volume_group_describe_missing(volume_group);
        return string_format("%s for %s: %s, for %s", volume_group->overdue ? "overdue, waiting" : "waiting",
                time ?: "?", volume_group->name, missing ?: "PVs");
}

int boot_progress_describe(
        const struct boot_progress *progress, uint64_t since, uint64_t now, struct string_vector *lines)
{
        size_t n = MIN(progress->n_awaited, (size_t) LINES_MAX);
        int r;

        r = add(lines, describe_bar(progress, now - since));
        if (r >= 0)
                r = add(lines, describe(progress, print_counts));
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = add(lines, describe_awaited(progress->awaited[i], now));
        if (r >= 0 && n < progress->n_awaited)
                r = add(lines, string_format("and %zu more", progress->n_awaited - n));
        if (r >= 0 && progress->absent.text)
                r = add(lines, string_format("absent: %s", progress->absent.text));
        return r;
}
