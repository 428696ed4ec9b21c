/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From complete VGs to active LVs: shares the VGs that are complete out to vgchanges, takes what comes of these, and retries
 * what one that makes no progress keeps waiting. */

#include "worker/worker.h"

#include "fast-rules/dm-names.h"
#include "inventory/outcome.h"
#include "lvm/dm_devices.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"
#include "worker/vg.h"

/* Below this many VGs, a second process costs more than it gains. */
#define VGS_PER_JOB_MIN 4

/* VGs that may take long, thin pools to be checked for instance, wait for disks and not for processors, but each
 * check wants memory. */
#define SLOW_JOBS_MAX 8

/* A vgchange of many VGs may take longer on a large machine. One that does no longer counts as one of the processes at
 * work. */
#define PATIENCE_USEC (20 * USEC_PER_SEC)

/* What udev has done last, a vgchange that waits for it may not have seen yet. Longer than from one look at a job to the next. */
#define UDEV_IDLE_USEC (3 * USEC_PER_SEC)

int activate_on_ended(struct job *job, int exit_status, void *userdata)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct worker *worker = userdata;
        struct managed_group *group, *next;
        size_t n_groups;
        int r;

        dm_list_del(&job->list);
        worker_ask_step(worker);

        r = dm_devices_get_permitted(&devices);
        if (r < 0)
                return log_error_errno(r, "Failed to list the device-mapper devices: %m");
        if (job->kind != JOB_ADOPTED) {
                r = lvm_command_read_output(&job->command, &output);
                if (r < 0)
                        return log_error_errno(r, "Failed to read what vgchange has printed: %m");
                log_debug("vgchange has ended with status %i: %s", exit_status, output);
        }

        n_groups = inventory_count_groups_of_job(worker->inventory, job);
        if (n_groups > 1 && job_was_killed(exit_status))
                log_warning("vgchange was ended by signal %i; retrying each of its %zu VGs individually.",
                        exit_status - 128, n_groups);
        FOREACH_GROUP_OF_JOB(group, next, worker->inventory, job) {
                _cleanup_outcome_ struct outcome outcome = {.event = VG_ENDED_UNKNOWN};

                dm_devices_mark_active(devices, group->vg);
                /* What an adopted process has printed was for its parent. */
                if (output)
                        r = group->state == VG_ACTIVATING_DEGRADED
                                    ? outcome_read_degraded(group->vg, exit_status, output, &outcome)
                                    : outcome_read(group->vg, n_groups, exit_status, output, &outcome);
                if (r < 0)
                        return log_oom();
                r = vg_take(worker, group,
                        &(struct vg_input){.event = outcome.event, .words = outcome.words, .devices = devices});
                if (r < 0)
                        return r;
                if (group->state == VG_COMPLETE_ALONE && outcome.event == VG_ENDED_OVERLOOKED)
                        log_notice("lvm2 did not find VG %s beside others; retrying it individually.",
                                group->vg->name);
                else if (group->state == VG_COMPLETE && group->pv_changed)
                        log_info("A disk of VG %s appeared or was removed while lvm2 was at work; retrying.",
                                group->vg->name);
        }
        return 0;
}

/* Starts lvm for VGs that vg_next() has yielded that action for. They are in the state that follows once it is there. */
static int start_job(struct worker *worker, enum job_kind kind, struct managed_group *const *groups, size_t n)
{
        /* Normally, the form of lvm2's own rule: it ignores incomplete VGs, and heeds all that lvm.conf says of
         * autoactivation. A degraded activation heeds the latter; its mode is said, since lvm.conf may have "partial". */
        static const char *const normal_words[] = {"vgchange", "-aay", "--autoactivation", "event", "--"};
        static const char *const degraded_words[] = {"vgchange", "-aay", "--activationmode", "degraded", "--"};
        const struct vg_step step = {.state = kind == JOB_ACTIVATE ? VG_ACTIVATING : VG_ACTIVATING_DEGRADED};
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct job *job;
        int r;

        /* A VG alone is found through the list of its PVs, without reading the records of all PVs that there are. lvm2 itself
         * writes none for a VG of one PV, and so reads them all. */
        if (n == 1 && kind == JOB_ACTIVATE) {
                r = names_write_lookup(worker->inventory, groups[0], online_write_lookup);
                if (r < 0)
                        return r;
        }
        cookies_expect(&worker->cookies, worker->event, worker->run_fd);
        r = string_vector_add_all(
                &arguments, kind == JOB_ACTIVATE ? normal_words : degraded_words, ELEMENTSOF(normal_words));
        for (size_t i = 0; r >= 0 && i < n; i++) {
                r = string_vector_add(&arguments, groups[i]->vg->name);
                (void) dm_names_write(worker->run_fd, groups[i]->vg);
        }
        if (r >= 0)
                r = job_start(worker->event, kind, &arguments, activate_on_ended, worker, &job);
        if (r < 0)
                return log_error_errno(r, "Failed to start vgchange: %m");

        /* One that is slow has a process of its own. */
        job->slow = kind == JOB_ACTIVATE && groups[0]->vg->slow;
        dm_list_add(&worker->jobs, &job->list);
        FOREACH_ARRAY(group, groups, n) {
                (*group)->job = job;
                (*group)->pv_changed = false;
                (*group)->vg->activating_usec = job->started_usec;
                inventory_enter(worker->inventory, *group, &step);
        }
        report_activating(groups, n);
        return 0;
}

/* Whether the job is not at work for so long that others need not wait for it. */
static bool is_patient(const struct worker *worker, const struct job *job)
{
        return !job->waits && (job->slow || worker->inventory->now_usec < job->started_usec + PATIENCE_USEC);
}

/* How many processes may be started now, of those that count as slow or of the others. */
static size_t count_free(const struct worker *worker, bool slow)
{
        size_t n = slow ? SLOW_JOBS_MAX : worker->n_processors;
        const struct job *job;

        dm_list_iterate_items(job, &worker->jobs)
                if (n > 0 && job->slow == slow && is_patient(worker, job))
                        n--;
        return n;
}

/* VGs that lvm2 can be asked for. */
struct ready {
        struct managed_group **groups;
        size_t n;
};

/* Splits the VGs evenly over the processes that may be started now. */
static int start_shares(struct worker *worker, const struct ready *ready)
{
        size_t n_jobs = MIN(count_free(worker, false), (ready->n + VGS_PER_JOB_MIN - 1) / VGS_PER_JOB_MIN);

        for (size_t i = 0; i < n_jobs; i++) {
                size_t from = ready->n * i / n_jobs, to = ready->n * (i + 1) / n_jobs;
                int r = start_job(worker, JOB_ACTIVATE, ready->groups + from, to - from);

                if (r < 0)
                        return r;
        }
        return 0;
}

static bool is_activating_degraded(const struct worker *worker)
{
        const struct job *job;

        dm_list_iterate_items(job, &worker->jobs)
                if (job->kind == JOB_ACTIVATE_DEGRADED && is_patient(worker, job))
                        return true;
        return false;
}

/* Whether a process could be started for the VG now. Each look at one lists all devices. */
static bool is_possible(const struct worker *worker, const struct managed_group *group)
{
        /* What is missing may be among the devices that have appeared and were not looked at. An unresponsive device is given
         * up by the reader, and then left with a pvscan of its own, so that this has an end. */
        if (vg_state_is_due(group->state))
                return !worker->scans.job && !inventory_has_device_before(worker->inventory, DEVICE_RECORDING) &&
                       !is_activating_degraded(worker);
        return inventory_pvs_have_reached(worker->inventory, group->vg, DEVICE_SETTLING) &&
               (count_free(worker, group->vg->slow) > 0 || group->vg->skip_reason || group->refusal ||
                       !worker->event_activation);
}

/* The name of an unresponsive PV of the VG, owned by the VG, or NULL. */
static const char *find_unresponsive_pv(const struct worker *worker, const struct volume_group *vg)
{
        FOREACH_PV(pv, vg)
                if (readers_wait_for(worker->readers, pv->device))
                        return pv->device_name ?: "(unknown)";
        return NULL;
}

/* Whether lvm2 is at work, or about to be, on a VG that boot waits for. Even on another processor, work for others
 * would keep udev from it. One that may take long is no reason. */
static bool others_deferred(const struct worker *worker)
{
        const struct managed_group *group;

        if (dm_list_empty(&worker->expectations.list) || flags_is_set(worker->run_fd, FLAGS_URGENT) > 0)
                return false;
        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_COMPLETE])
                if (group->awaited && !group->vg->slow &&
                        worker->inventory->now_usec < group->vg->complete_usec + PATIENCE_USEC &&
                        !find_unresponsive_pv(worker, group->vg))
                        return true;
        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING])
                if (group->awaited && group->job && !group->job->slow && is_patient(worker, group->job))
                        return true;
        return false;
}

/* Finds out which VGs can be started: each is in one of the arrays, once, as it stays where it is in the list. Those that
 * cannot, or take a process of their own, are dealt with. */
static int sort_complete(
        struct worker *worker, struct ready *awaited, struct ready *others, struct ready *degraded)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        struct managed_group *group, *next;
        int r;

        dm_list_iterate_items_safe(group, next, &worker->inventory->groups[VOLUME_GROUP_COMPLETE]) {
                struct ready *ready = group->awaited ? awaited : others;

                if (!is_possible(worker, group))
                        continue;
                r = devices ? 0 : dm_devices_get_permitted(&devices);
                if (r < 0)
                        return log_error_errno(r, "Failed to list the device-mapper devices: %m");
                r = vg_take(worker, group, &(struct vg_input){.event = VG_TURN, .devices = devices});
                if (r < 0)
                        return r;
                if (r == VG_DO_NOTHING)
                        continue;
                if (r == VG_DO_ACTIVATE_DEGRADED)
                        ready = degraded;
                else if (r == VG_DO_ACTIVATE_ALONE || group->vg->slow ||
                         names_is_shared(worker->inventory, group, USEC_INFINITY)) {
                        r = start_job(worker, JOB_ACTIVATE, &group, 1);
                        if (r < 0)
                                return r;
                        continue;
                }
                ready->groups[ready->n++] = group;
        }
        return 0;
}

static int start_complete(struct worker *worker)
{
        size_t n = dm_list_size(&worker->inventory->groups[VOLUME_GROUP_COMPLETE]);
        _cleanup_free_ struct managed_group **groups = NULL;
        struct ready awaited, others, degraded;
        int r;

        if (n == 0)
                return 0;
        groups = calloc(3 * n, sizeof(*groups));
        if (!groups)
                return log_oom();
        awaited = (struct ready){groups};
        others = (struct ready){groups + n};
        degraded = (struct ready){groups + 2 * n};

        r = sort_complete(worker, &awaited, &others, &degraded);
        if (r >= 0)
                r = start_shares(worker, &awaited);
        if (r >= 0 && !others_deferred(worker))
                r = start_shares(worker, &others);
        if (r >= 0 && degraded.n > 0)
                r = start_job(worker, JOB_ACTIVATE_DEGRADED, degraded.groups, degraded.n);
        return r;
}

/* ------ vgchanges that make no progress ------ */

/* Finds out which PVs of its VGs are unresponsive. */
static int probe_pvs(struct worker *worker, struct job *job)
{
        _cleanup_reading_ struct reading reading = {};
        const struct managed_group *group, *next;
        int r = 0;

        job->probed = true;
        FOREACH_GROUP_OF_JOB(group, next, worker->inventory, job)
                FOREACH_PV(pv, group->vg)
                        if (r >= 0 && pv->device != 0 && pv->device_name)
                                r = reading_add(&reading, pv->device, pv->device_name);
        if (r >= 0)
                r = readers_start(worker->readers, READER_PROBE, &reading);
        return r < 0 ? log_error_errno(r, "Failed to probe PVs that vgchange waits for: %m") : 0;
}

/* The job keeps VGs with unresponsive PVs; the others are activated by another one. If the first one still gets to them
 * later, they are active already. */
static int retry_groups(struct worker *worker, const struct job *job, enum vg_event event)
{
        struct managed_group *group, *next;

        FOREACH_GROUP_OF_JOB(group, next, worker->inventory, job) {
                struct vg_input input = {.event = event};
                _cleanup_free_ char *reason = NULL;
                const char *device;
                int r;

                device = find_unresponsive_pv(worker, group->vg);
                if (device) {
                        log_warning("VG %s: vgchange waits for unresponsive device %s; retrying the other VGs.",
                                group->vg->name, device);
                        reason = string_format(VG_UNRESPONSIVE, device);
                        if (!reason)
                                return log_oom();
                        input = (struct vg_input){.event = VG_STUCK_OWN, .words = reason};
                }
                r = vg_take(worker, group, &input);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A job that makes no progress waits for a disk, for a VG that another command has locked, or for udev. */
static int handle_stalled(struct worker *worker, struct job *job)
{
        size_t n = inventory_count_groups_of_job(worker->inventory, job);
        const struct managed_group *group, *next;

        FOREACH_GROUP_OF_JOB(group, next, worker->inventory, job)
                job->waits |= find_unresponsive_pv(worker, group->vg) != NULL;
        if (job->waits)
                return retry_groups(worker, job, VG_STUCK_OTHER);
        /* It has one VG only, and the process that checks a thin pool is another one. */
        if (job->slow)
                return 0;
        job->waits = job->probed =
                job_is_stuck(job) && worker->udev_busy_usec + UDEV_IDLE_USEC <= worker->inventory->now_usec;
        if (!job->waits || n <= 1)
                return 0;
        log_notice("vgchange makes no progress; retrying each of its %zu VGs individually.", n);
        return retry_groups(worker, job, VG_STUCK_LOCKED);
}

/* A degraded activation looks at all devices, whatever VGs it is asked for, and would wait again. */
static bool is_watched(const struct worker *worker, const struct job *job)
{
        const struct managed_group *group, *next;

        if (job->waits || job->kind == JOB_ACTIVATE_DEGRADED)
                return false;
        FOREACH_GROUP_OF_JOB(group, next, worker->inventory, job)
                if (group->state == VG_ACTIVATING_DEGRADED)
                        return false;
        return true;
}

int activate_groups(struct worker *worker)
{
        struct job *job;
        int r = 0;

        dm_list_iterate_items(job, &worker->jobs) {
                if (!is_watched(worker, job))
                        continue;
                if (!job->probed && job_stands_still(job))
                        r = probe_pvs(worker, job);
                if (r >= 0 && job->probed && !readers_are_busy(worker->readers))
                        r = handle_stalled(worker, job);
                if (r < 0)
                        return r;
        }
        r = start_complete(worker);
        dm_list_iterate_items(job, &worker->jobs) {
                if (is_watched(worker, job) && !job->probed)
                        worker_wake_at(worker, job->look_usec);
                /* Patience with what is at work ends for VGs that have to wait for it. */
                if (!dm_list_empty(&worker->inventory->groups[VOLUME_GROUP_COMPLETE]) && !job->slow &&
                        is_patient(worker, job))
                        worker_wake_at(worker, job->started_usec + PATIENCE_USEC);
        }
        return r;
}
