/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/activation.h"

#include "lvm/active.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/degraded.h"
#include "worker/dm_names.h"
#include "worker/liveness.h"
#include "worker/names.h"
#include "worker/report.h"
#include "worker/stalled.h"
#include "worker/verdict.h"

/* Below this many VGs, a second process costs more than it gains. */
#define VGS_PER_JOB_MIN 4

/* VGs that may take long, thin pools to be checked for instance, wait for disks and not for processors, but each
 * check wants memory. */
#define SLOW_JOBS_MAX 8

/* A vgchange of many VGs may take longer on a large machine. One that does no longer counts as one of the processes at
 * work. */
#define PATIENCE_USEC (20 * USEC_PER_SEC)

int activation_on_ended(struct job *job, int exit_status, void *userdata)
{
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct worker *worker = userdata;
        struct managed_group *group, *next;
        size_t n_groups;
        int r;

        dm_list_del(&job->list);
        worker_ask_step(worker);

        r = active_devices_get(&devices);
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
                log_warning("vgchange was ended by signal %i, asking for each of its %zu VGs by itself.",
                        exit_status - 128, n_groups);
        dm_list_iterate_items_safe(group, next, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING]) {
                struct volume_group *volume_group = group->volume_group;

                if (group->job != job)
                        continue;
                active_devices_mark(devices, volume_group);
                /* What an adopted process has printed was for its parent. If it did not do all, lvm2 is asked once
                 * more, by us. */
                if (job->kind == JOB_ADOPTED &&
                        volume_group_count_active(volume_group) < volume_group_count_autoactivated(volume_group)) {
                        verdict_ask_again(worker, group);
                        continue;
                }
                if (degraded_is_asked(volume_group))
                        r = degraded_settle(worker, group, exit_status, output ?: "");
                else
                        r = verdict_take(worker, group, n_groups, exit_status, output ?: "");
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A VG alone is found through the list of its PVs, without reading the records of all PVs that there are. lvm2 itself
 * writes none for a VG of one PV, and so reads them all. */
static int write_lookup(struct worker *worker, const struct managed_group *group)
{
        const struct volume_group *volume_group = group->volume_group;
        int r;

        if (names_has_elder(worker->inventory, group))
                return 0;
        r = online_write_lookup(worker->lvm_run_fd, volume_group);
        return r < 0 ? log_error_errno(r, "Failed to write the list of PVs of VG %s: %m", volume_group->name) : 0;
}

/* Without them udev needs a program for each LV. */
static void write_names(struct worker *worker, const struct volume_group *volume_group)
{
        int r = dm_names_write(worker->run_fd, volume_group);

        liveness_note_step(&worker->inventory->told_usec);
        if (r < 0)
                log_warning("Failed to write down names of LVs of VG %s for udev: %s", volume_group->name,
                        strerror(-r));
}

/* It can do its work without. */
static void listen_to_cookies(struct worker *worker)
{
        int r;

        if (!worker->cookies && flags_is_set(worker->run_fd, FLAGS_DM_NAMES) > 0) {
                r = cookies_new(worker->event, worker->run_fd, &worker->cookies);
                if (r < 0)
                        log_warning("Failed to listen to udev's events of device-mapper: %s", strerror(-r));
        }
        cookies_expect(worker->cookies);
}

int activation_start_job(struct worker *worker, enum job_kind kind, const char *const *words, size_t n_words,
        struct managed_group *const *groups, size_t n, struct job **ret)
{
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct job *job;
        int r;

        listen_to_cookies(worker);
        r = string_vector_add_all(&arguments, words, n_words);
        for (size_t i = 0; r >= 0 && i < n; i++) {
                r = string_vector_add(&arguments, groups[i]->volume_group->name);
                write_names(worker, groups[i]->volume_group);
        }
        if (r >= 0)
                r = job_start(worker->event, kind, &arguments, activation_on_ended, worker, &job);
        if (r < 0)
                return log_error_errno(r, "Failed to start vgchange: %m");

        dm_list_add(&worker->jobs, &job->list);
        for (size_t i = 0; i < n; i++) {
                groups[i]->job = job;
                groups[i]->news = false;
                groups[i]->volume_group->activating_usec = job->started_usec;
                inventory_set_state(worker->inventory, groups[i], VOLUME_GROUP_ACTIVATING);
        }
        report_activating(groups, n);
        *ret = job;
        return 0;
}

static int start_job(struct worker *worker, struct managed_group *const *groups, size_t n, bool slow)
{
        /* The form of lvm2's own rule. It leaves incomplete VGs alone, and heeds all that lvm.conf says of
         * autoactivation. */
        static const char *const words[] = {"vgchange", "-aay", "--autoactivation", "event", "--"};
        struct job *job;
        int r;

        r = n == 1 ? write_lookup(worker, groups[0]) : 0;
        if (r < 0)
                return r;
        r = activation_start_job(worker, JOB_ACTIVATE, words, ELEMENTSOF(words), groups, n, &job);
        if (r >= 0)
                job->slow = slow;
        return r;
}

bool activation_is_patient(const struct job *job, uint64_t now)
{
        return !job->waits && (job->slow || now < job->started_usec + PATIENCE_USEC);
}

static size_t count_jobs(const struct worker *worker, bool slow)
{
        uint64_t now = now_usec();
        const struct job *job;
        size_t n = 0;

        dm_list_iterate_items(job, &worker->jobs)
                n += job->slow == slow && activation_is_patient(job, now);
        return n;
}

/* Whether lvm2 has seen all of its PVs; one that is not in memory was seen by an earlier worker. */
static bool is_recorded(const struct worker *worker, const struct managed_group *group)
{
        for (size_t i = 0; i < group->volume_group->n_pvs; i++) {
                const struct device *device =
                        inventory_find_device(worker->inventory, group->volume_group->pvs[i].device);

                if (device && device->stage < DEVICE_SETTLING)
                        return false;
        }
        return true;
}

const char *activation_find_skip_reason(const struct worker *worker, const struct managed_group *group)
{
        if (!worker->event_activation)
                return "event_activation=0 in lvm.conf.";
        return group->volume_group->skip_reason ?: group->refusal;
}

/* How many processes may be started now, of those that count as slow or of the others. */
static size_t count_free(const struct worker *worker, bool slow)
{
        size_t n_max = slow ? SLOW_JOBS_MAX : worker->n_processors;
        size_t n_running = count_jobs(worker, slow);

        return n_max > n_running ? n_max - n_running : 0;
}

/* Settles a VG whose name another one has. Asked by name, lvm2 would activate LVs of both. Returns 1, 0 if there
 * is none, or a negative errno. */
static int settle_behind_rival(struct worker *worker, struct managed_group *group)
{
        char vgid[LVM_ID_FORMATTED_SIZE];
        struct managed_group *rival;
        int r;

        r = names_find_rival(worker->inventory, group, &rival);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return log_error_errno(r, "Failed to look for other VGs called %s: %m", group->volume_group->name);

        lvm_id_format(group->volume_group->vgid, vgid);
        r = string_replace(&group->volume_group->reason,
                string_format("another VG of this name was complete before (vgrename %s NEW-NAME).", vgid));
        if (r < 0)
                return r;
        verdict_settle(worker, group, VOLUME_GROUP_SKIPPED);
        return 1;
}

/* Settles a VG for which lvm2 need not be asked. Returns 1 if it did, 0 if lvm2 is to be asked, or a negative
 * errno. */
static int settle_without_asking(
        struct worker *worker, struct managed_group *group, const struct active_devices *devices)
{
        struct volume_group *volume_group = group->volume_group;
        const char *reason = activation_find_skip_reason(worker, group);
        int r;

        active_devices_mark(devices, volume_group);

        if (reason) {
                r = string_replace(&volume_group->reason, strdup(reason));
                if (r < 0)
                        return r;
                verdict_settle(worker, group, VOLUME_GROUP_SKIPPED);
                managed_group_forget_refusal(group, group->refused);
                return 1;
        }

        /* The initrd did it, or an earlier worker that did not live to see it. Somebody who asks for it may have changed it
         * before: is_fully_active() knows better. */
        if (!worker->imports_devices && !group->has_entry &&
                volume_group_count_active(volume_group) >= volume_group_count_autoactivated(volume_group)) {
                free(volume_group->reason);
                volume_group->reason = NULL;
                r = verdict_settle_active(worker, group);
                return r < 0 ? r : 1;
        }
        return settle_behind_rival(worker, group);
}

/* Splits the VGs evenly over the processes that may be started now. */
static int start_shares(struct worker *worker, struct managed_group **groups, size_t n)
{
        size_t n_jobs = MIN(count_free(worker, false), (n + VGS_PER_JOB_MIN - 1) / VGS_PER_JOB_MIN);

        for (size_t i = 0; i < n_jobs; i++) {
                size_t from = n * i / n_jobs, to = n * (i + 1) / n_jobs;
                int r = start_job(worker, groups + from, to - from, false);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* VGs that lvm2 can be asked for, those that somebody waits for apart from the others. */
struct ready {
        struct managed_group **awaited;
        size_t n_awaited;
        struct managed_group **others;
        size_t n_others;
};

static void ready_done(struct ready *ready)
{
        free(ready->awaited);
        free(ready->others);
}

/* Finds out which VGs can be started; those that cannot, or take a process of their own, are dealt with. */
static int sort_complete(struct worker *worker, struct ready *ready)
{
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        struct managed_group *group, *next;
        int r;

        dm_list_iterate_items_safe(group, next, &worker->inventory->groups[VOLUME_GROUP_COMPLETE]) {
                /* See degraded_start(). */
                if (volume_group_is_incomplete(group->volume_group))
                        continue;
                /* One that has to wait for a process is looked at when there is one: each look lists all
                 * devices. */
                if (!activation_find_skip_reason(worker, group) &&
                        count_free(worker, group->volume_group->slow) == 0)
                        continue;
                if (!is_recorded(worker, group))
                        continue;
                if (!devices) {
                        r = active_devices_get(&devices);
                        if (r < 0)
                                return log_error_errno(r, "Failed to list the device-mapper devices: %m");
                }
                r = settle_without_asking(worker, group, devices);
                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                if (group->volume_group->slow || group->alone || names_is_shared(worker->inventory, group)) {
                        r = start_job(worker, &group, 1, group->volume_group->slow);
                        if (r < 0)
                                return r;
                } else if (group->awaited)
                        ready->awaited[ready->n_awaited++] = group;
                else
                        ready->others[ready->n_others++] = group;
        }
        return 0;
}

/* Whether lvm2 is at work, or about to be, on a VG that boot waits for. Even on another processor, work for others
 * would keep udev from it. One that may take long is no reason. */
static bool others_stand_back(const struct worker *worker)
{
        const struct managed_group *group;
        uint64_t now = now_usec();

        if (expectations_are_empty(worker->expectations) || flags_is_set(worker->run_fd, FLAGS_URGENT) > 0)
                return false;
        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_COMPLETE])
                if (group->awaited && !group->volume_group->slow &&
                        now < group->volume_group->complete_usec + PATIENCE_USEC &&
                        !stalled_find_pv(worker, group->volume_group))
                        return true;
        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING])
                if (group->awaited && group->job && !group->job->slow && activation_is_patient(group->job, now))
                        return true;
        return false;
}

/* When patience with what is at work ends, for VGs that have to wait for it. */
static uint64_t find_end_of_patience(const struct worker *worker)
{
        uint64_t now = now_usec(), end = USEC_INFINITY;
        const struct job *job;

        if (dm_list_empty(&worker->inventory->groups[VOLUME_GROUP_COMPLETE]))
                return USEC_INFINITY;
        dm_list_iterate_items(job, &worker->jobs)
                if (!job->slow && activation_is_patient(job, now))
                        end = MIN(end, job->started_usec + PATIENCE_USEC);
        return end;
}

static int start_complete(struct worker *worker)
{
        _cleanup_(ready_done) struct ready ready = {};
        struct dm_list *complete = &worker->inventory->groups[VOLUME_GROUP_COMPLETE];
        int r;

        if (dm_list_empty(complete))
                return 0;
        ready.awaited = calloc(dm_list_size(complete), sizeof(struct managed_group *));
        ready.others = calloc(dm_list_size(complete), sizeof(struct managed_group *));
        if (!ready.awaited || !ready.others)
                return log_oom();

        r = sort_complete(worker, &ready);
        if (r < 0)
                return r;
        r = start_shares(worker, ready.awaited, ready.n_awaited);
        if (r < 0 || others_stand_back(worker))
                return r;
        return start_shares(worker, ready.others, ready.n_others);
}

int activation_start(struct worker *worker, uint64_t *until)
{
        int r;

        r = stalled_handle(worker);
        if (r >= 0)
                r = start_complete(worker);
        if (r >= 0)
                r = degraded_start(worker);
        *until = MIN(stalled_next_look(worker), find_end_of_patience(worker));
        return r;
}
