/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/queue.h"

#include <fcntl.h>

#include "shared/flags.h"
#include "shared/kernel.h"

/* What there is in the two directories of requests. */
struct requests {
        size_t n;
        bool expected; /* one of them says that somebody waits for the VG */
};

static void count_requests(const struct sources *sources, const char *name, struct requests *requests)
{
        static const char *const directories[] = {FLAGS_PENDING_DIRECTORY, FLAGS_WORKING_DIRECTORY};

        for (size_t i = 0; i < ELEMENTSOF(directories); i++) {
                _cleanup_closedir_ DIR *directory = open_directory_at(sources->run_fd, directories[i]);

                for (const struct dirent *entry; directory && (entry = readdir(directory));) {
                        const char *expected = skip_prefix(entry->d_name, FLAGS_ENTRY_EXPECTED);

                        if (entry->d_name[0] == '.')
                                continue;
                        requests->n += !expected;
                        requests->expected |= expected && streq(expected, name);
                }
        }
}

/* How many VGs lvm2 is at work on, or about to be. */
struct busy {
        size_t n_activating;
        size_t n_complete;
};

static int count_busy(struct volume_group *volume_group, void *userdata)
{
        struct busy *busy = userdata;

        busy->n_activating += volume_group->state == VOLUME_GROUP_ACTIVATING;
        busy->n_complete += volume_group->state == VOLUME_GROUP_COMPLETE;
        volume_group_free(volume_group);
        return 0;
}

static void explain_complete(
        const struct sources *sources, const struct volume_group *volume_group, struct explanation *explanation)
{
        _cleanup_free_ char *time = describe_time(volume_group, volume_group->complete_usec);
        struct busy busy = {};

        if (volume_groups_parse(sources->records, count_busy, &busy) < 0)
                return;
        if (!volume_group_is_incomplete(volume_group))
                explanation_fact(explanation, "All its PVs were there at %s.", time ?: "?");
        explanation_fact(explanation,
                "lvm2 is at work on %zu VG%s, and %zu VG%s, this one included, wait for their turn.",
                busy.n_activating, plural(busy.n_activating), busy.n_complete, plural(busy.n_complete));
}

static void explain_activating(const struct volume_group *volume_group, struct explanation *explanation)
{
        _cleanup_free_ char *time = describe_time(volume_group, volume_group->activating_usec);

        explanation_fact(explanation, "lvm2 was asked at %s.", time ?: "?");
        if (volume_group->slow)
                explanation_fact(explanation,
                        "It has LVs that may take long, thin pools to be checked for instance; others go on.");
}

void explain_queue(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        struct requests requests = {};

        if (sources->run_fd < 0 || !sources->in_charge)
                return;
        if (volume_group->state == VOLUME_GROUP_COMPLETE)
                explain_complete(sources, volume_group, explanation);
        if (volume_group->state == VOLUME_GROUP_ACTIVATING)
                explain_activating(volume_group, explanation);

        count_requests(sources, volume_group->name, &requests);
        if (requests.expected)
                explanation_fact(
                        explanation, "Boot, or somebody else, waits for it, so that it goes before others.");
        if (requests.n > 0)
                explanation_fact(explanation,
                        "%zu request%s of all kinds %s not been dealt with, and headgate's worker %s.", requests.n,
                        plural(requests.n), requests.n == 1 ? "has" : "have",
                        flags_ask_running(sources->run_fd) == FLAGS_IS_RUNNING ? "is at work" : "is not running");
        if (flags_is_set(sources->run_fd, FLAGS_BOOT_FINISHED) == 0)
                explanation_fact(
                        explanation, "The devices that were there at boot have not all been dealt with yet.");
}
