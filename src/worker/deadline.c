/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/deadline.h"

#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"

/* systemd's units for crypttab, whatever a disk is unlocked with. */
#define UNLOCKING_UNITS "systemd-cryptsetup@*.service"

/* For how long an answer holds. Many VGs may be due within a moment. */
#define ANSWER_VALID_USEC (1 * USEC_PER_SEC)

static int on_answer(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct worker *worker = userdata;
        struct deadlines *deadlines = &worker->deadlines;

        deadlines->question = NULL;
        deadlines->asked_usec = now_usec();
        worker_ask_step(worker);
        /* Where that cannot be told, a VG is reported too early rather than never. */
        if (exit_status != 0 || lvm_command_read_output(&job->command, &output) < 0)
                return 0;
        if (strstr(output, "systemd-cryptsetup@")) {
                log_debug("A disk is being unlocked, deadlines are put off.");
                deadlines->put_off_usec = deadlines->asked_usec;
        }
        return 0;
}

/* Has systemd say which units are about to be started. */
static void ask(struct worker *worker)
{
        static const char *const words[] = {"list-jobs", "--no-legend", "--plain", UNLOCKING_UNITS};
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct deadlines *deadlines = &worker->deadlines;
        int r;

        r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));
        if (r >= 0)
                r = job_start(worker->event, JOB_ASK_SYSTEMD, &arguments, on_answer, worker, &deadlines->question);
        if (r < 0) {
                log_debug("Failed to ask systemd for its jobs: %s", strerror(-r));
                deadlines->asked_usec = now_usec();
        }
}

/* When what has been waited for since then is overdue. */
static uint64_t get_deadline(const struct worker *worker, uint64_t since)
{
        return MAX(since, worker->deadlines.put_off_usec) + worker->deadlines.wait_usec;
}

static bool has_deadline(const struct managed_group *group)
{
        return !group->volume_group->overdue;
}

/* One of whose VG a PV was seen has that VG's deadline. */
static bool expectation_has_deadline(const struct expectation *expectation)
{
        return !expectation->group && !expectation->overdue;
}

static uint64_t find_earliest(const struct worker *worker)
{
        const struct expectation *expectation;
        const struct managed_group *group;
        uint64_t earliest = USEC_INFINITY;

        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_WAITING])
                if (has_deadline(group))
                        earliest = MIN(earliest, get_deadline(worker, group->volume_group->first_seen_usec));
        for (enum expectation_state state = 0; state < _EXPECTATION_STATE_MAX; state++)
                dm_list_iterate_items(expectation, &worker->expectations->lists[state])
                        if (expectation_has_deadline(expectation))
                                earliest = MIN(earliest, get_deadline(worker, expectation->since_usec));
        return earliest;
}

static void report_due(struct worker *worker, uint64_t now)
{
        struct expectation *expectation;
        struct managed_group *group;

        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_WAITING]) {
                struct volume_group *volume_group = group->volume_group;

                if (!has_deadline(group) || get_deadline(worker, volume_group->first_seen_usec) > now)
                        continue;
                volume_group->overdue = true;
                inventory_note_change(worker->inventory, group);
                report_overdue(volume_group);
        }
        for (enum expectation_state state = 0; state < _EXPECTATION_STATE_MAX; state++)
                dm_list_iterate_items(expectation, &worker->expectations->lists[state]) {
                        if (!expectation_has_deadline(expectation) ||
                                get_deadline(worker, expectation->since_usec) > now)
                                continue;
                        expectation->overdue = true;
                        report_absent(expectation);
                }
}

uint64_t deadline_check(struct worker *worker, const struct gather_phase *phase)
{
        struct deadlines *deadlines = &worker->deadlines;
        uint64_t now = now_usec(), earliest;

        if (phase->booting && !phase->queue_empty) {
                deadlines->put_off_usec = now;
                return USEC_INFINITY;
        }

        earliest = find_earliest(worker);
        if (earliest > now)
                return earliest;
        if (!deadlines->question && deadlines->asked_usec + ANSWER_VALID_USEC < now)
                ask(worker);
        if (deadlines->question)
                return USEC_INFINITY;

        report_due(worker, now);
        return find_earliest(worker);
}
