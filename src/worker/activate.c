/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From complete VGs to active LVs: distributes complete VGs over vgchanges, handles their results, and retries VGs
 * that are blocked by a vgchange without progress. */

#include "worker/worker.h"

#include "fast-rules/dm-names.h"
#include "lvm/dm-devices.h"
#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"
#include "worker/vg.h"

/* A vgchange that runs for longer no longer counts as busy, so that others may start. */
#define BUSY_MAX_USEC (20 * USEC_PER_SEC)

/* How often the lock of a VG is checked. */
#define LOCK_INTERVAL_USEC (1 * USEC_PER_SEC)

/* Whether the job is busy, so that others may have to wait for it. */
static bool is_at_work(const struct worker *worker, const struct job *job)
{
        return !job->waits &&
               (job->slot >= SLOT_SLOW || worker->inventory->now_usec < job->started_usec + BUSY_MAX_USEC);
}

static struct slots get_slots(const struct worker *worker)
{
        uint64_t now = worker->inventory->now_usec;
        struct slots slots = {
                .n_processors = worker->n_processors,
                .idle = worker->load.idle,
                .expected = expectations_are_near(&worker->expectations, worker->first_device_usec, now),
                .pausing = now < worker->pause_usec,
        };

        FOREACH_LISTED(const struct job, job, &worker->jobs) {
                slots.at_work[job->slot] += is_at_work(worker, job);
                slots.n_waiting += job->waits;
                slots.n_alone += job->n == 1;
        }
        return slots;
}

int activate_on_ended(struct job *job, int exit_status, const char *output, void *userdata)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        struct worker *worker = userdata;
        struct slots slots;
        size_t n_groups, n_alone = 0;
        int r;

        dm_list_del(&job->list);
        worker_ask_step(worker);
        slots = get_slots(worker);
        /* The pause is longer than udev and systemd need for the VGs of one vgchange. */
        if (dm_list_size(&worker->inventory->groups[VG_STATUS_COMPLETE]) > slots_count_others(&slots))
                worker->pause_usec = worker->inventory->now_usec + SLOTS_PAUSE_USEC;

        r = vg_list_devices(&devices);
        if (r < 0)
                return r;
        log_debug("vgchange exited with status %i: %s", exit_status, output ?: "(unknown)");

        n_groups = MAX(job->n, inventory_count_groups_of_job(worker->inventory, job));
        FOREACH_GROUP_OF_JOB(group, worker->inventory, job) {
                const struct vgchange_end end = {n_groups, exit_status, output, &worker->config};
                _cleanup_free_ char *words = NULL;
                int event = VG_ENDED_UNKNOWN;

                dm_devices_mark_active(devices, group->vg);
                if (n_groups == 1)
                        vg_note_program(group->vg, job->programs.longest.name, job->programs.longest.usec);
                /* The output of an adopted process went to the earlier worker. */
                if (output)
                        event = group->state == VG_ACTIVATING_DEGRADED
                                        ? outcome_read_degraded(group->vg, exit_status, output, &words)
                                        : outcome_read(group->vg, &end, &words);
                if (event < 0)
                        return log_oom();
                r = vg_take(worker, group,
                        &(struct vg_input){.event = (enum vg_event) event, .words = words, .devices = devices});
                if (r < 0)
                        return r;
                n_alone += group->state == VG_COMPLETE_ALONE;
                /* The output of a degraded activation may be about several VGs. */
                if (event == VG_ENDED_FAILED && n_groups == 1)
                        report_output(group->vg, output);
                if ((event == VG_ENDED_FAILED || event == VG_ENDED_OK) &&
                        alike_note(&worker->alike, words, worker->inventory->now_usec) < 0)
                        return log_oom();
                if (group->state == VG_COMPLETE && group->activate_again)
                        log_info("VG %s changed or was requested during activation; retrying.", group->vg->name);
        }
        if (n_alone > 0)
                log_notice("vgchange of %zu VGs " ENDED "; retrying %zu of them individually.", n_groups,
                        ENDED_ARGUMENTS(exit_status), n_alone);
        return 0;
}

/* Starts lvm for VGs for which vg_next() has returned that action, and moves them to the next state. */
static int start_job(struct worker *worker, enum job_kind kind, struct vg_entry *const *groups, size_t n)
{
        /* The normal form is the command of lvm2's rule: it ignores incomplete VGs, and obeys all autoactivation
         * settings of lvm.conf. A degraded activation obeys these, too; its mode is explicit, since lvm.conf may
         * have "partial". */
        static const char *const normal_words[] = {"vgchange", "-aay", "--autoactivation", "event", "--"};
        static const char *const degraded_words[] = {"vgchange", "-aay", "--activationmode", "degraded", "--"};
        const struct vg_step step = {.state = kind == JOB_ACTIVATE ? VG_ACTIVATING : VG_ACTIVATING_DEGRADED};
        _cleanup_strv_ struct strv arguments = {};
        struct job *job;
        /* With a list of its PVs, lvm2 finds a single VG without reading the records of all PVs. lvm2 itself writes
         * no list for a VG of one PV. */
        int r = n == 1 && kind == JOB_ACTIVATE
                        ? names_write_lookup(worker->inventory, groups[0], online_write_lookup)
                        : 0;

        if (r < 0)
                return r;
        cookies_expect(&worker->cookies, worker->event, worker->run_fd, &worker->jobs);
        r = strv_add_all(
                &arguments, kind == JOB_ACTIVATE ? normal_words : degraded_words, ELEMENTSOF(normal_words));
        for (size_t i = 0; r >= 0 && i < n; i++) {
                r = strv_add(&arguments, groups[i]->vg->name);
                (void) dm_names_write(worker->run_fd, groups[i]->vg);
        }
        r = r ?: job_start(worker->event, kind, &arguments, activate_on_ended, worker, &job);
        if (r < 0)
                return log_error_errno(r, "Failed to start vgchange: %m");

        /* A slow VG has a process of its own. */
        job->slot = kind == JOB_ACTIVATE ? slot_of(worker->inventory, groups[0]) : SLOT_PLAIN;
        job->n = n;
        dm_list_add(&worker->jobs, &job->list);
        FOREACH_ARRAY(group, groups, n) {
                (*group)->job = job;
                (*group)->activate_again = false;
                (*group)->vg->activating_usec = job->started_usec;
                inventory_enter(worker->inventory, *group, &step);
        }
        report_activating(groups, n);
        return 0;
}

bool activate_has_room(const struct worker *worker)
{
        struct slots slots = get_slots(worker);

        return slots_count_free(&slots, SLOT_PLAIN) > 0;
}

/* VGs of one kind that are ready for vgchange. */
struct ready {
        struct vg_entry **groups;
        size_t n;
        enum slot_kind kind;
};

/* Splits the VGs evenly over the processes that may start now. */
static int start_shares(struct worker *worker, const struct ready *ready)
{
        uint64_t now = worker->inventory->now_usec;
        struct slots slots = get_slots(worker);
        size_t n_jobs;

        if (ready->n == 0)
                return 0;
        n_jobs = slots_count_shares(
                &slots, ready->kind, ready->n, usec_between(ready->groups[0]->vg->complete_usec, now));
        if (n_jobs == 0)
                worker_wake_at(worker, now + SLOTS_COMPANY_USEC);
        for (size_t i = 0; i < n_jobs; i++) {
                size_t from = ready->n * i / n_jobs, to = ready->n * (i + 1) / n_jobs;
                int r = start_job(worker, JOB_ACTIVATE, ready->groups + from, to - from);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* Whether another command has locked the VG, and the limit of waiting processes is reached. */
static bool is_locked_out(struct worker *worker, const struct vg_entry *group, const struct slots *slots)
{
        if (slots->n_waiting < SLOTS_WAITING_MAX || !vg_is_locked(worker->config.locking_dir, group->vg->name))
                return false;
        worker_wake_at(worker, worker->inventory->now_usec + LOCK_INTERVAL_USEC);
        return true;
}

/* Whether a process of that kind could start for the VG now. Each attempt to start one lists all devices. */
static bool is_possible(struct worker *worker, const struct vg_entry *group, enum slot_kind kind)
{
        struct slots slots = get_slots(worker);

        /* An awaited VG starts at once, unless it needs much memory. */
        if (group->awaited && kind != SLOT_CHECKED)
                kind = SLOT_AWAITED;
        /* A missing PV may be on a device that was not read yet. An unresponsive device delays this only until the
         * reader and then pvscan have timed out on it. */
        if (vg_state_is_due(group->state))
                return !worker->scans.job && !inventory_has_device_before(worker->inventory, DEVICE_RECORDING) &&
                       dm_list_empty(&worker->inventory->devices[DEVICE_HELD]) &&
                       !ANY(FOREACH_LISTED(const struct job, job, &worker->jobs),
                               job->kind == JOB_ACTIVATE_DEGRADED && is_at_work(worker, job));
        if (group->state == VG_COMPLETE_ALONE && slots.n_alone >= ALIKE_MAX)
                return false;
        return inventory_pvs_have_reached(worker->inventory, group->vg, DEVICE_SETTLING) &&
               (slots_count_free(&slots, kind) > 0 || group->vg->skip_reason || group->refusal ||
                       !worker->event_activation) &&
               !is_locked_out(worker, group, &slots);
}

/* The name of an unresponsive PV of the VG, owned by the VG, or NULL. */
static const char *find_unresponsive_pv(const struct worker *worker, const struct vg *vg)
{
        FOREACH_PV(pv, vg)
                if (readers_wait_for(worker->readers, pv->device))
                        return pv->device_name ?: "(unknown)";
        return NULL;
}

/* Whether lvm2 has refused a PV before. The cause may have been fixed, but lvm2 looks for such a PV only when asked
 * for its VG alone. */
static bool is_unrecorded(const struct inventory *inventory, const struct vg *vg)
{
        return vg->settled_usec != 0 && names_count_recorded(inventory, vg) < vg->n_pvs;
}

/* Handles a VG for which a slot is free: adds it to those that can share a process, or starts one for it alone. */
static int take_turn(struct worker *worker, struct vg_entry *group, const struct dm_devices *devices,
        struct ready *ready, struct ready *degraded)
{
        bool locked;
        int r = vg_take(worker, group, &(struct vg_input){.event = VG_SLOT_FREE, .devices = devices});
        struct ready *list = r == VG_DO_ACTIVATE_DEGRADED ? degraded : ready;

        if (r < 0 || r == VG_DO_NOTHING)
                return r;
        locked = list == ready && vg_is_locked(worker->config.locking_dir, group->vg->name);
        if (list == ready &&
                (r == VG_DO_ACTIVATE_ALONE || locked || slot_of(worker->inventory, group) != ready->kind ||
                        names_is_shared(worker->inventory, group, USEC_INFINITY) ||
                        is_unrecorded(worker->inventory, group->vg))) {
                r = start_job(worker, JOB_ACTIVATE, &group, 1);
                /* A VG that another command has locked must not delay others. */
                if (r >= 0)
                        group->job->waits = locked;
                return r;
        }
        list->groups[list->n++] = group;
        return 0;
}

static int start_complete(struct worker *worker)
{
        size_t n = dm_list_size(&worker->inventory->groups[VG_STATUS_COMPLETE]);
        struct slots slots = get_slots(worker);
        size_t n_others = slots_count_others(&slots), n_jobs = dm_list_size(&worker->jobs);
        _cleanup_free_ struct vg_entry **groups = NULL;
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        struct ready awaited, others, degraded;
        int r = 0;

        if (n == 0)
                return 0;
        groups = calloc(3 * n, sizeof(*groups));
        if (!groups)
                return log_oom();
        awaited = (struct ready){groups, .kind = SLOT_AWAITED};
        others = (struct ready){groups + n, .kind = SLOT_PLAIN};
        degraded = (struct ready){groups + 2 * n};

        /* Awaited VGs are first in the list. */
        FOREACH_LISTED(struct vg_entry, group, &worker->inventory->groups[VG_STATUS_COMPLETE]) {
                enum slot_kind kind = slot_of(worker->inventory, group);

                if (!is_possible(worker, group, kind) || (kind == SLOT_PLAIN && others.n >= n_others))
                        continue;
                r = vg_list_devices(&devices)
                            ?: take_turn(worker, group, devices, group->awaited ? &awaited : &others, &degraded);
                if (r < 0)
                        return r;
        }
        r = start_shares(worker, &awaited) ?: start_shares(worker, &others);
        if (r >= 0 && degraded.n > 0)
                r = start_job(worker, JOB_ACTIVATE_DEGRADED, degraded.groups, degraded.n);
        /* The load of new processes is unknown until it is measured again. */
        worker->load.idle &= dm_list_size(&worker->jobs) == n_jobs;
        return r;
}

/* ------ waiting vgchanges ------ */

/* Moves half of the VGs that the process has not reached to other processes, in the end the last one. lvm2 reads
 * the disks of all its VGs first, then waits for udev after each VG. VGs that it reaches later are active already. */
static int take_over_half(struct worker *worker, const struct job *job, const struct dm_devices *devices)
{
        size_t n = 0, n_left = 0;

        FOREACH_GROUP_OF_JOB(group, worker->inventory, job) {
                dm_devices_mark_active(devices, group->vg);
                n_left += vg_is_untouched(group->vg);
        }
        FOREACH_GROUP_OF_JOB(group, worker->inventory, job) {
                int r = 0;

                if (vg_is_untouched(group->vg) && !find_unresponsive_pv(worker, group->vg) && ++n > n_left / 2)
                        r = vg_take(worker, group, &(struct vg_input){.event = VG_STUCK_OTHER});
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A waiting process waits for its VGs one after another. All do while a processor is idle; this one does if it used
 * no CPU time for seconds. */
static int share_out(struct worker *worker)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        const struct job *job;
        int r;

        /* New processes are added at the end, and may be split again. */
        dm_list_iterate_items(job, &worker->jobs) {
                if (job->kind != JOB_ACTIVATE || job->n <= 1 || !(worker->load.idle || job->waits) ||
                        !activate_has_room(worker))
                        continue;
                r = vg_list_devices(&devices) ?: take_over_half(worker, job, devices);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A job without progress waits for a disk, a locked VG, or udev. */
static int handle_stalled(struct worker *worker, struct job *job)
{
        /* A thin pool is checked by another process, whose progress is not seen here. */
        if (job->slot < SLOT_SLOW)
                job->waits = job->probed = job_is_stuck(job) && worker->queue_empty;
        FOREACH_GROUP_OF_JOB(group, worker->inventory, job) {
                const char *device = find_unresponsive_pv(worker, group->vg);
                _cleanup_free_ char *reason = NULL;
                int r;

                if (!device)
                        continue;
                job->waits = job->probed = true;
                log_warning("VG %s: vgchange waits for unresponsive device %s; continuing with other VGs.",
                        group->vg->name, device);
                reason = string_format(VG_UNRESPONSIVE, device);
                if (!reason)
                        return log_oom();
                r = vg_take(worker, group, &(struct vg_input){.event = VG_STUCK_OWN, .words = reason});
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A degraded activation reads all devices, whichever VGs it is for, and would block again. */
static bool is_watched(const struct worker *worker, const struct job *job)
{
        return !job->waits && job->kind != JOB_ACTIVATE_DEGRADED &&
               !ANY(FOREACH_GROUP_OF_JOB(group, worker->inventory, job), group->state == VG_ACTIVATING_DEGRADED);
}

static int retry_failed(struct worker *worker)
{
        int r = 0;

        FOREACH_LISTED(struct vg_entry, group, &worker->inventory->groups[VG_STATUS_FAILED]) {
                bool early = worker->module_loaded && vg_has_just_failed(worker, group);

                group->retried |= early;
                if (early || (group->retry_usec > 0 && group->retry_usec <= worker->inventory->now_usec)) {
                        group->n_retries += !early;
                        r = vg_retry(worker, group);
                }
                if (r < 0)
                        return r;
                if (group->retry_usec > 0)
                        worker_wake_at(worker, group->retry_usec);
        }
        worker->module_loaded = false;
        return 0;
}

int activate_groups(struct worker *worker)
{
        int r = 0;

        if (dm_list_empty(&worker->jobs) && worker->pause_usec <= worker->inventory->now_usec)
                worker->load = (struct load){};
        else
                load_look(&worker->load, worker->inventory->now_usec);
        FOREACH_LISTED(struct job, job, &worker->jobs) {
                if (!is_watched(worker, job))
                        continue;
                if (!job->probed && job_stands_still(job))
                        r = vg_probe_job(worker, job);
                if (r >= 0 && job->probed && !readers_are_busy(worker->readers))
                        r = handle_stalled(worker, job);
                if (r < 0)
                        return r;
        }
        r = retry_failed(worker) ?: share_out(worker) ?: start_complete(worker);
        if (worker->pause_usec > worker->inventory->now_usec)
                worker_wake_at(worker, MIN(worker->pause_usec, worker->load.look_usec));
        FOREACH_LISTED(struct job, job, &worker->jobs) {
                bool waited_for = is_at_work(worker, job) &&
                                  (!dm_list_empty(&worker->inventory->groups[VG_STATUS_COMPLETE]) ||
                                          !dm_list_empty(&worker->inventory->devices[DEVICE_UNRECORDED]));

                if (is_watched(worker, job) && !job->probed)
                        worker_wake_at(worker, job->look_usec);
                if (waited_for || (job->n > 1 && inventory_count_groups_of_job(worker->inventory, job) > 0))
                        worker_wake_at(worker, worker->load.look_usec);
        }
        return r;
}
