/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/activation.h"

#include "lvm/active.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/intake.h"
#include "worker/names.h"
#include "worker/report.h"

/* Below this many VGs, a second process costs more than it gains. */
#define VGS_PER_JOB_MIN 4

/* VGs that may take long, thin pools to be checked for instance, wait for disks and not for processors, but each
 * check wants memory. */
#define SLOW_JOBS_MAX 8

/* A vgchange of many VGs may take longer on a large machine. But one of a few that does is waiting for a disk
 * that does not answer, and no longer counts as at work: what can be done besides is. */
#define PATIENCE_USEC (20 * USEC_PER_SEC)

static void settle(struct worker *worker, struct managed_group *group, enum volume_group_state state)
{
        struct volume_group *volume_group = group->volume_group;

        volume_group->settled_usec = now_usec();
        volume_group->settled_realtime_usec = now_realtime_usec();
        group->job = NULL;
        inventory_set_state(worker->inventory, group, state);
        report_settled(volume_group);
        if (!worker->proved && flags_clear(worker->run_fd, FLAGS_FAILURES) >= 0)
                worker->proved = true;

        /* One of its disks went while lvm2 was at work. */
        if (volume_group_count_seen(volume_group) < volume_group->n_pvs) {
                inventory_set_state(worker->inventory, group, VOLUME_GROUP_WAITING);
                intake_tell_loss(group);
        }
}

static int settle_active(struct worker *worker, struct managed_group *group)
{
        int r;

        r = online_claim(worker->lvm_run_fd, group->volume_group->name);
        if (r < 0)
                return log_error_errno(r, "Failed to claim VG %s: %m", group->volume_group->name);
        settle(worker, group, VOLUME_GROUP_ACTIVE);
        return 0;
}

/* As device-mapper calls it, and as lvm2 does. */
static char *find_words_about_lv(const char *output, const char *vg, const char *lv)
{
        _cleanup_free_ char *name = string_format("%s/%s", vg, lv);
        char *line = name ? lvm_output_find(output, name) : NULL;
        struct dm_pool *pool = line ? NULL : dm_pool_create("name", 512);
        char *dm_name = pool ? dm_build_dm_name(pool, vg, lv, NULL) : NULL;

        if (dm_name)
                line = lvm_output_find(output, dm_name);
        if (pool)
                dm_pool_destroy(pool);
        return line;
}

/* What lvm2 has said of the VG, or else of an LV that is not active; NULL if there is nothing. */
static char *find_words(const char *output, const struct volume_group *volume_group)
{
        char *line = lvm_output_find(output, volume_group->name);

        for (size_t i = 0; !line && i < volume_group->n_lvs; i++)
                if (!volume_group->lvs[i].active)
                        line = find_words_about_lv(output, volume_group->name, volume_group->lvs[i].name);
        return line;
}

/* Judges by the devices that there are. What lvm2 printed, when it was asked for `n_groups` VGs at once, explains
 * what there is not. */
static int settle_by_devices(
        struct worker *worker, struct managed_group *group, size_t n_groups, int exit_status, const char *output)
{
        struct volume_group *volume_group = group->volume_group;
        size_t n_active = volume_group_count_active(volume_group);
        size_t n_wanted = volume_group_count_autoactivated(volume_group);
        char *line;
        int r;

        free(volume_group->reason);
        volume_group->reason = NULL;
        if (n_active >= n_wanted)
                return settle_active(worker, group);

        line = find_words(output, volume_group);
        /* Of several VGs, it is another one's status if lvm2 has nothing to say against this one. */
        if (n_groups > 1 && !line && lvm_output_has_summary(output, volume_group->name))
                exit_status = 0;
        if (exit_status == 0 && (!line || n_active > 0)) {
                /* lvm2 is content, so its configuration wants no more. */
                free(line);
                r = string_replace(&volume_group->reason,
                        strdup(n_active > 0 ? "the others are not wanted by lvm2's configuration."
                                            : "no LV of it is wanted by lvm2's configuration."));
                if (r < 0)
                        return r;
                if (n_active > 0)
                        return settle_active(worker, group);
                settle(worker, group, VOLUME_GROUP_SKIPPED);
                return 0;
        }

        r = string_replace(
                &volume_group->reason, line ?: string_format("vgchange ended with status %i.", exit_status));
        if (r < 0)
                return r;
        settle(worker, group, VOLUME_GROUP_FAILED);
        return 0;
}

int activation_on_ended(struct job *job, int exit_status, void *userdata)
{
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct worker *worker = userdata;
        struct managed_group *group, *next;
        size_t n_groups = 0;
        int r;

        dm_list_del(&job->list);
        worker_ask_step(worker);

        r = active_devices_get(&devices);
        if (r < 0)
                return log_error_errno(r, "Failed to list the device-mapper devices: %m");
        if (job->kind == JOB_ACTIVATE) {
                r = lvm_command_read_output(&job->command, &output);
                if (r < 0)
                        return log_error_errno(r, "Failed to read what vgchange has printed: %m");
                log_debug("vgchange has ended with status %i: %s", exit_status, output);
        }

        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING])
                n_groups += group->job == job;
        dm_list_iterate_items_safe(group, next, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING]) {
                struct volume_group *volume_group = group->volume_group;

                if (group->job != job)
                        continue;
                active_devices_mark(devices, volume_group);
                /* What an adopted process has printed was for its parent. If it did not do all, lvm2 is asked once
                 * more, by us. */
                if (job->kind == JOB_ADOPTED &&
                        volume_group_count_active(volume_group) < volume_group_count_autoactivated(volume_group)) {
                        group->job = NULL;
                        inventory_set_state(worker->inventory, group, VOLUME_GROUP_COMPLETE);
                        continue;
                }
                r = settle_by_devices(worker, group, n_groups, exit_status, output ?: "");
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A VG alone is found through the list of its PVs, without reading those of all other VGs. */
static int write_lookup(struct worker *worker, const struct managed_group *group)
{
        const struct volume_group *volume_group = group->volume_group;
        int r;

        if (volume_group->n_pvs < 2 || names_has_elder(worker->inventory, group))
                return 0;
        r = online_write_lookup(worker->lvm_run_fd, volume_group);
        return r < 0 ? log_error_errno(r, "Failed to write the list of PVs of VG %s: %m", volume_group->name) : 0;
}

static int start_job(struct worker *worker, struct managed_group *const *groups, size_t n, bool slow)
{
        /* The form of lvm2's own rule. It leaves incomplete VGs alone, and heeds all that lvm.conf says of
         * autoactivation. */
        static const char *const words[] = {"vgchange", "-aay", "--autoactivation", "event", "--"};
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct job *job;
        int r;

        r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = string_vector_add(&arguments, groups[i]->volume_group->name);
        if (r >= 0 && n == 1)
                r = write_lookup(worker, groups[0]);
        if (r >= 0)
                r = job_start(worker->event, JOB_ACTIVATE, &arguments, activation_on_ended, worker, &job);
        if (r < 0)
                return log_error_errno(r, "Failed to start vgchange: %m");

        job->slow = slow;
        dm_list_add(&worker->jobs, &job->list);
        for (size_t i = 0; i < n; i++) {
                groups[i]->job = job;
                groups[i]->volume_group->activating_usec = job->started_usec;
                inventory_set_state(worker->inventory, groups[i], VOLUME_GROUP_ACTIVATING);
        }
        report_activating(groups, n);
        return 0;
}

static bool is_patient(const struct job *job, uint64_t now)
{
        return job->slow || now < job->started_usec + PATIENCE_USEC;
}

static size_t count_jobs(const struct worker *worker, bool slow)
{
        uint64_t now = now_usec();
        const struct job *job;
        size_t n = 0;

        dm_list_iterate_items(job, &worker->jobs)
                n += job->slow == slow && is_patient(job, now);
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

/* What forbids to ask lvm2 for the VG, or NULL. */
static const char *find_skip_reason(const struct worker *worker, const struct managed_group *group)
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

/* Settles a VG whose name another one has. Asked by name, lvm2 would activate LVs of both. Returns 1, 0 if there is
 * none, or a negative errno. */
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
        settle(worker, group, VOLUME_GROUP_SKIPPED);
        return 1;
}

/* Settles a VG for which lvm2 need not be asked. Returns 1 if it did, 0 if lvm2 is to be asked, or a negative
 * errno. */
static int settle_without_asking(
        struct worker *worker, struct managed_group *group, const struct active_devices *devices)
{
        struct volume_group *volume_group = group->volume_group;
        const char *reason = find_skip_reason(worker, group);
        int r;

        active_devices_mark(devices, volume_group);

        if (reason) {
                r = string_replace(&volume_group->reason, strdup(reason));
                if (r < 0)
                        return r;
                settle(worker, group, VOLUME_GROUP_SKIPPED);
                free(group->refusal);
                group->refusal = NULL;
                return 1;
        }

        /* The initrd did it, or an earlier worker that did not live to see it. */
        if (volume_group_count_active(volume_group) >= volume_group_count_autoactivated(volume_group)) {
                free(volume_group->reason);
                volume_group->reason = NULL;
                r = settle_active(worker, group);
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
                /* One that has to wait for a process is looked at when there is one: each look lists all
                 * devices. */
                if (!find_skip_reason(worker, group) && count_free(worker, group->volume_group->slow) == 0)
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
                if (group->volume_group->slow || names_is_shared(worker->inventory, group)) {
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
                        now < group->volume_group->complete_usec + PATIENCE_USEC)
                        return true;
        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING])
                if (group->awaited && group->job && !group->job->slow && is_patient(group->job, now))
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
                if (!job->slow && is_patient(job, now))
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
        int r = start_complete(worker);

        *until = find_end_of_patience(worker);
        return r;
}
