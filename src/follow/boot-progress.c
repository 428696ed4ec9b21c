/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Progress of a boot: the number of VGs in each state, and the list of those that are not settled. */

#include "follow/boot-progress.h"

#include <inttypes.h>

#include "shared/util.h"

#define BAR_WIDTH 24

/* The number of VGs that have a line of their own. */
#define LINES_MAX 6

/* The time over which the rate is measured. */
#define RATE_USEC (5 * USEC_PER_SEC)

void boot_progress_done(struct boot_progress *progress)
{
        free(progress->awaited);
        enumeration_done(&progress->absent);
}

/* ------ measuring ------ */

/* VGs that lvm2 is activating come first, then those that wait, and of each the one that has taken longest. */
static int compare(const void *a, const void *b)
{
        const struct volume_group *const *first = a, *const *second = b;
        uint64_t first_usec = volume_group_since_usec(*first), second_usec = volume_group_since_usec(*second);

        return CMP((*second)->state, (*first)->state) ?: CMP(first_usec, second_usec);
}

static void count_if_absent(struct boot_progress *progress, const struct snapshot *snapshot, const char *name)
{
        if (snapshot_find(snapshot, name))
                return;
        enumeration_add(&progress->absent, name);
        progress->n++;
        progress->n_in_state[VOLUME_GROUP_ABSENT]++;
}

int boot_progress_measure(const struct snapshot *snapshot, const struct string_vector *names,
        const struct plan *expected, uint64_t now, struct boot_progress *ret)
{
        *ret = (struct boot_progress){.awaited = calloc(snapshot->n + 1, sizeof(*ret->awaited))};
        if (!ret->awaited)
                return -ENOMEM;
        for (size_t i = 0; i < snapshot->n; i++) {
                const struct volume_group *volume_group = snapshot->volume_groups[i];
                bool waits = volume_group->state == VOLUME_GROUP_WAITING;
                bool settled = volume_group_is_settled(volume_group) && !waits;

                if (names->n > 0 && !string_vector_has(names, volume_group->name))
                        continue;
                ret->n++;
                ret->n_in_state[volume_group->state]++;
                ret->n_settled += settled;
                ret->n_recently += settled && volume_group->settled_usec + RATE_USEC > now;
                ret->n_overdue += waits && volume_group->overdue;
                if (!settled)
                        ret->awaited[ret->n_awaited++] = volume_group;
        }
        qsort(ret->awaited, ret->n_awaited, sizeof(*ret->awaited), compare);

        for (size_t i = 0; i < names->n; i++)
                count_if_absent(ret, snapshot, names->strings[i]);
        for (size_t i = 0; names->n == 0 && i < expected->n; i++)
                if (expected_by_boot(&expected->volume_groups[i]))
                        count_if_absent(ret, snapshot, expected->volume_groups[i].name);
        enumeration_end(&ret->absent);
        return 0;
}

/* ------ printing ------ */

/* "410 active, 2 skipped, 64 activating, 439 waiting (2 overdue), 1 absent" */
static void print_counts(const struct boot_progress *progress, FILE *file)
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
static void print_names(const struct boot_progress *progress, enum volume_group_state state, FILE *file)
{
        _cleanup_enumeration_ struct enumeration names = {};

        for (size_t i = 0; i < progress->n_awaited; i++)
                if (progress->awaited[i]->state == state)
                        enumeration_add(&names, progress->awaited[i]->name);
        enumeration_end(&names);
        if (names.text)
                fprintf(file, "; %s: %s", volume_group_state_to_string(state), names.text);
}

void boot_progress_print_summary(const struct boot_progress *progress, FILE *file)
{
        fprintf(file, "%zu of %zu VGs settled: ", progress->n_settled, progress->n);
        print_counts(progress, file);
        print_names(progress, VOLUME_GROUP_ACTIVATING, file);
        print_names(progress, VOLUME_GROUP_WAITING, file);
        if (progress->absent.text)
                fprintf(file, "; absent: %s", progress->absent.text);
}

/* "[#########>              ]  40%, 412 of 1015 VGs settled, 37/s, 23.1s" */
static void print_bar(const struct boot_progress *progress, uint64_t usec, FILE *file)
{
        static const char done[] = "########################", open[] = "                        ";
        int filled = progress->n > 0 ? (int) (progress->n_settled * BAR_WIDTH / progress->n) : 0;
        _cleanup_free_ char *time = format_duration(usec);
        uint64_t rate = progress->n_recently * USEC_PER_SEC / MIN(MAX(usec, USEC_PER_SEC), RATE_USEC);

        fprintf(file, "[%.*s%.*s] %3zu%%, %zu of %zu VGs settled, %" PRIu64 "/s, %s\n", filled, done,
                BAR_WIDTH - filled, open, progress->n > 0 ? progress->n_settled * 100 / progress->n : 0,
                progress->n_settled, progress->n, rate, time ?: "?");
}

/* "waiting for 12.3s: backup, for PV ... (last at /dev/sdk)" */
static void print_awaited(const struct volume_group *volume_group, uint64_t now, FILE *file)
{
        uint64_t since = volume_group_since_usec(volume_group);
        _cleanup_free_ char *time = format_duration(now > since ? now - since : 0), *missing = NULL,
                            *printable = NULL;
        const char *state = volume_group_state_to_string(volume_group->state);

        if (volume_group->state != VOLUME_GROUP_WAITING) {
                fprintf(file, "%s for %s: %s\n", state, time ?: "?", volume_group->name);
                return;
        }
        missing = volume_group_describe_missing(volume_group);
        printable = missing ? string_printable(missing) : NULL;
        fprintf(file, "%s%s for %s: %s, for %s\n", volume_group->overdue ? "overdue, " : "", state, time ?: "?",
                volume_group->name, printable ?: "PVs");
}

void boot_progress_print(const struct boot_progress *progress, uint64_t since_usec, uint64_t now, FILE *file)
{
        size_t n = MIN(progress->n_awaited, (size_t) LINES_MAX);

        print_bar(progress, now - since_usec, file);
        print_counts(progress, file);
        fprintf(file, "\n");
        for (size_t i = 0; i < n; i++)
                print_awaited(progress->awaited[i], now, file);
        if (n < progress->n_awaited)
                fprintf(file, "and %zu more\n", progress->n_awaited - n);
        if (progress->absent.text)
                fprintf(file, "absent: %s\n", progress->absent.text);
}
