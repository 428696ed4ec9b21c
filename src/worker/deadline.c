/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Deadlines of incomplete and of expected VGs: when they pass, and what restarts them. */

#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"
#include "worker/vg.h"

/* systemd's units for crypttab, for any kind of key. */
#define UNLOCKING_UNITS "systemd-cryptsetup@*.service"

static int on_answer(_unused_ struct job *job, int exit_status, const char *output, void *userdata)
{
        struct worker *worker = userdata;
        struct deadlines *deadlines = &worker->deadlines;
        struct deadline_facts *facts = &deadlines->facts;

        deadlines->unlock_query = NULL;
        facts->asked_usec = now_usec();
        /* On failure, a VG is reported too early rather than never. */
        facts->unlocking = exit_status == 0 && strstr(output, "systemd-cryptsetup@");
        if (facts->unlocking) {
                log_debug("A disk is being unlocked, restarting all deadlines.");
                deadlines->put_off_usec = facts->asked_usec;
        }
        worker_ask_step(worker);
        return 0;
}

/* Asks systemd whether a disk is being unlocked. D-Bus may not run yet, so systemctl asks; its exit causes a step. */
static void ask_about_unlocking(struct worker *worker)
{
        static const char *const words[] = {"list-jobs", "--no-legend", "--plain", UNLOCKING_UNITS};
        const struct strv arguments = {(char **) words, ELEMENTSOF(words)};
        int r = job_start(
                worker->event, JOB_ASK_SYSTEMD, &arguments, on_answer, worker, &worker->deadlines.unlock_query);

        if (r < 0) {
                log_debug("Failed to list systemd's jobs: %s", strerror(-r));
                worker->deadlines.facts.asked_usec = MAX(now_usec(), worker->inventory->now_usec);
        }
}

/* When a VG that is waited for since `since_usec` is overdue. A missing PV may be on a device that cannot be read,
 * which at most doubles the deadline. */
static uint64_t get_deadline(const struct worker *worker, const char *vg_name, uint64_t since)
{
        uint64_t length = settings_get_policy(&worker->settings, vg_name).deadline_usec;
        uint64_t usec = MAX(since, worker->deadlines.put_off_usec) + length;

        return worker->inventory->retry_usec == USEC_INFINITY ? usec : usec + length;
}

static uint64_t get_group_deadline(const struct worker *worker, const struct vg_entry *group)
{
        return vg_state_has_deadline(group->state) && vg_is_incomplete(group->vg)
                       ? get_deadline(worker, group->vg->name, group->vg->first_seen_usec)
                       : USEC_INFINITY;
}

/* Once one of its PVs has appeared, the deadline of the VG applies. */
static uint64_t get_expectation_deadline(const struct worker *worker, const struct expectation *expectation)
{
        return expectation->group || expectation->overdue
                       ? USEC_INFINITY
                       : get_deadline(worker, expectation->name, expectation->since_usec);
}

static int take_group(struct worker *worker, struct vg_entry *group, uint64_t now)
{
        if (get_group_deadline(worker, group) > now)
                return 0;
        /* If it has lost a PV, its deadline restarts. */
        (void) inventory_check(worker->inventory, group);
        if (get_group_deadline(worker, group) > now)
                return 0;
        return vg_take(worker, group, &(struct vg_input){.event = VG_DEADLINE_PASSED});
}

static int take_absent(const struct worker *worker, struct expectation *expectation)
{
        _cleanup_vg_ struct vg *backup = NULL;
        int r = absent_read_backup(worker->inventory, &worker->config, expectation->name, &backup);

        if (r == -ENOMEM)
                return log_oom();
        if (r < 0 && r != -ENOENT)
                report_backup_unusable(expectation->name, r);
        expectation->overdue = true;
        if (backup || !absent_has_foreign_device(expectation->name))
                report_absent(expectation, backup);
        return 0;
}

/* Handles everything that is overdue at `now`, or nothing if that is 0, and returns when the next deadline passes. */
static int take_due(struct worker *worker, uint64_t now, uint64_t *ret_earliest)
{
        static const enum vg_status states[] = {VG_STATUS_WAITING, VG_STATUS_DEGRADED};
        int r;

        *ret_earliest = USEC_INFINITY;
        FOREACH_ELEMENT(state, states)
                FOREACH_LISTED(struct vg_entry, group, &worker->inventory->groups[*state]) {
                        r = take_group(worker, group, now);
                        if (r < 0)
                                return r;
                        *ret_earliest = MIN(*ret_earliest, get_group_deadline(worker, group));
                }
        FOREACH_LISTED(struct expectation, expectation, &worker->expectations) {
                if (get_expectation_deadline(worker, expectation) <= now) {
                        r = take_absent(worker, expectation);
                        if (r < 0)
                                return r;
                }
                *ret_earliest = MIN(*ret_earliest, get_expectation_deadline(worker, expectation));
        }
        return 0;
}

int deadline_check(struct worker *worker)
{
        struct deadlines *deadlines = &worker->deadlines;
        struct deadline_facts *facts = &deadlines->facts;
        uint64_t now = worker->inventory->now_usec, wake;

        facts->now_usec = now;
        facts->announcing = worker->booting && !worker->queue_empty;
        /* Again after ASK and LOOK, which change the facts. */
        for (;;) {
                int r = facts->announcing ? 0 : take_due(worker, 0, &facts->earliest_usec);

                if (r < 0)
                        return r;
                facts->asking = deadlines->unlock_query;
                facts->reading = readers_are_busy(worker->readers) ||
                                 inventory_has_device_before(worker->inventory, DEVICE_READING);
                switch (deadline_next(facts, &wake)) {
                case DEADLINE_PUT_OFF:
                        deadlines->put_off_usec = now;
                        break;
                case DEADLINE_ASK:
                        ask_about_unlocking(worker);
                        continue;
                case DEADLINE_LOOK:
                        r = uevents_enumerate(worker->uevents, requests_take_unknown, worker);
                        if (r < 0)
                                return log_error_errno(r, "Failed to look for missing PVs in udev's database: %m");
                        facts->looked_usec = now;
                        continue;
                case DEADLINE_READ:
                        facts->due_usec = facts->due_usec ?: now;
                        break;
                case DEADLINE_TAKE:
                        facts->due_usec = 0;
                        r = take_due(worker, now, &wake);
                        if (worker->inventory->lost_pvs)
                                worker_ask_step(worker);
                        if (r < 0)
                                return r;
                        break;
                default:
                        if (facts->earliest_usec > now)
                                facts->due_usec = 0;
                }
                worker_wake_at(worker, wake);
                return 0;
        }
}
