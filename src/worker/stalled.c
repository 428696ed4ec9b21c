/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/stalled.h"

#include "shared/log.h"
#include "worker/vg.h"

const char *stalled_find_pv(const struct worker *worker, const struct volume_group *volume_group)
{
        for (size_t i = 0; i < volume_group->n_pvs; i++)
                if (readers_wait_for(worker->readers, volume_group->pvs[i].device))
                        return volume_group->pvs[i].device_name ?: "(unknown)";
        return NULL;
}

/* Finds out which PVs of its VGs are unresponsive. */
static int probe_pvs(struct worker *worker, struct job *job)
{
        _cleanup_reading_ struct reading reading = {};
        const struct managed_group *group;
        int r = 0;

        job->probed = true;
        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING])
                for (size_t i = 0; r >= 0 && group->job == job && i < group->volume_group->n_pvs; i++) {
                        const struct volume_group_pv *pv = &group->volume_group->pvs[i];

                        if (pv->device != 0 && pv->device_name)
                                r = reading_add(&reading, pv->device, pv->device_name);
                }
        if (r >= 0)
                r = readers_start(worker->readers, READER_PROBE, &reading);
        return r < 0 ? log_error_errno(r, "Failed to probe PVs that vgchange waits for: %m") : 0;
}

/* The job keeps VGs with unresponsive PVs; the others are activated by another one. If the first one still gets to them
 * later, they are active already. */
static int retry_others(struct worker *worker, struct job *job)
{
        struct managed_group *group, *next;

        dm_list_iterate_items_safe(group, next, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING]) {
                _cleanup_free_ char *reason = NULL;
                const char *unresponsive;
                int r;

                if (group->job != job)
                        continue;
                unresponsive = stalled_find_pv(worker, group->volume_group);
                if (unresponsive) {
                        log_warning("VG %s: vgchange waits for unresponsive device %s; retrying the other VGs.",
                                group->volume_group->name, unresponsive);
                        reason = vg_format_unresponsive(unresponsive);
                        if (!reason)
                                return log_oom();
                }
                r = vg_take(worker, group,
                        &(struct vg_news){.event = reason ? VG_STUCK_OWN : VG_STUCK_OTHER, .words = reason});
                if (r < 0)
                        return r;
        }
        return 0;
}

/* One of the VGs is locked by another command. */
static int retry_individually(struct worker *worker, const struct job *job)
{
        static const struct vg_news news = {.event = VG_STUCK_LOCKED};
        struct managed_group *group, *next;
        size_t n = inventory_count_groups_of_job(worker->inventory, job);
        int r = 0;

        if (n <= 1)
                return 0;
        log_notice("vgchange makes no progress; retrying each of its %zu VGs individually.", n);
        dm_list_iterate_items_safe(group, next, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING])
                if (r >= 0 && group->job == job)
                        r = vg_take(worker, group, &news);
        return MIN(r, 0);
}

/* A degraded activation looks at all devices, whatever VGs it is asked for, and would wait again. */
static bool is_watched(const struct worker *worker, const struct job *job)
{
        const struct managed_group *group;

        if (job->kind != JOB_ADOPTED)
                return !job->waits && job->kind != JOB_ACTIVATE_DEGRADED;
        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING])
                if (group->job == job && group->state == VG_ACTIVATING_DEGRADED)
                        return false;
        return !job->waits;
}

/* A job that makes no progress waits for a disk, for a lock, or for udev. */
static int handle_stalled(struct worker *worker, struct job *job)
{
        const struct managed_group *group;

        dm_list_iterate_items(group, &worker->inventory->groups[VOLUME_GROUP_ACTIVATING])
                job->waits |= group->job == job && stalled_find_pv(worker, group->volume_group);
        if (job->waits)
                return retry_others(worker, job);
        /* It has one VG only, and the process that checks a thin pool is another one. */
        if (job->slow)
                return 0;
        job->waits = uevents_queue_is_empty(worker->uevents);
        job->probed = job->waits;
        return job->waits ? retry_individually(worker, job) : 0;
}

int stalled_handle(struct worker *worker)
{
        struct job *job;

        dm_list_iterate_items(job, &worker->jobs) {
                int r = 0;

                if (!is_watched(worker, job))
                        continue;
                if (!job->probed && job_stands_still(job))
                        r = probe_pvs(worker, job);
                if (r >= 0 && job->probed && !readers_are_busy(worker->readers))
                        r = handle_stalled(worker, job);
                if (r < 0)
                        return r;
        }
        return 0;
}

void stalled_watch(struct worker *worker)
{
        const struct job *job;

        dm_list_iterate_items(job, &worker->jobs)
                if (is_watched(worker, job) && !job->probed)
                        worker_wake_at(worker, job->look_usec);
}
