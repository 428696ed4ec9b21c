/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* lvm2's records of PVs: runs pvscan on devices. If one device makes pvscan crash or hang, it is searched for by
 * bisection. */

#include "worker/worker.h"

#include <sys/sysmacros.h>

#include "inventory/outcome.h"
#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/vg.h"

/* A device may have a dozen links, and all arguments have to fit into 2 MiB. */
#define DEVICES_WITH_LINKS_MAX 256

/* Each slow device has its own pvscan: at most this many. */
#define SLOW_SCANS_MAX 16

/* How often devices of incomplete VGs are recorded, which no vgchange follows. */
#define INCOMPLETE_USEC (1 * USEC_PER_SEC)

/* The fraction of devices that each pvscan gets after one has failed. A process takes a tenth of a second; finding
 * that it waits for a disk takes five seconds. */
#define SPLIT 8

static size_t count_devices(const struct worker *worker, const struct job *job)
{
        size_t n = 0;

        FOREACH_DEVICE_OF_JOB(device, worker->inventory, job)
                n++;
        return n;
}

/* Whether lvm2 has recorded the device. Returns a positive number, 0 or a negative errno. */
static int is_recorded(const struct worker *worker, const struct device *device)
{
        dev_t recorded;
        int r;

        inventory_ping(worker->inventory);
        r = online_read_pv(worker->lvm_run_fd, device->pvid, &recorded, NULL);
        if (r < 0)
                return log_error_errno(r, "Failed to read lvm2's record of %s: %m", device->name);
        return r == ONLINE_FOUND && recorded == device->number;
}

/* The device responds again: clears the reason. */
static int forget_waiting(const struct worker *worker, const struct device *device)
{
        struct vg *vg = device->group->vg;
        _cleanup_free_ char *waiting = NULL;

        if (!vg->reason)
                return 0;
        waiting = string_format(VG_UNRESPONSIVE, device->name);
        if (!waiting)
                return log_oom();
        if (!streq(vg->reason, waiting))
                return 0;
        free(TAKE_PTR(vg->reason));
        inventory_note_change(worker->inventory, device->group);
        return 0;
}

/* pvscan may have failed before it removed the record. lvm2 would take another disk with the same number for the
 * recorded one. */
static int forget_removed(const struct worker *worker, const struct device *device)
{
        const char *pvid = device->recorded.pvid;
        const struct vg_entry *group;
        int r;

        if (isempty(pvid) || online_find_pv(worker->lvm_run_fd, pvid) != device->number)
                return 0;
        group = inventory_find_group_of_pv(worker->inventory, pvid);
        r = online_forget(worker->lvm_run_fd, pvid, group ? group->vg->name : NULL);
        return r < 0 ? log_error_errno(r, "Failed to remove lvm2's record of a removed PV: %m") : 0;
}

/* pvscan has seen the device: without a record, lvm2 refuses it, unless pvscan itself failed. */
static int take_result(struct worker *worker, const struct device *device, int exit_status, const char *output)
{
        const struct vg_pv *pv;
        int r;

        if (device->removed)
                return forget_removed(worker, device);
        if (!device->group)
                return 0;
        r = forget_waiting(worker, device) ?: is_recorded(worker, device);
        if (r > 0)
                vg_entry_forget_refusal(device->group, device->number);
        if (r != 0)
                return MIN(r, 0);
        /* It may have been removed before pvscan opened it, and its event is still to come; or another disk took
         * its place. */
        pv = vg_find_pv(device->group->vg, device->pvid);
        if (!pv || pv->device != device->number ||
                !inventory_is_still(worker->inventory, device->number, device->pvid))
                return 0;

        return vg_entry_note_refusal(device->group, device->number,
                outcome_explain_refusal(device->name, exit_status, output, &device->group->unjudged));
}

/* Queues the device for another pvscan, unless this one has recorded it. */
static int requeue(struct worker *worker, struct device *device)
{
        int r = device->removed ? 0 : is_recorded(worker, device);

        if (r < 0)
                return r;
        device->recording = NULL;
        inventory_move_device(worker->inventory, device, r > 0 ? DEVICE_SETTLING : DEVICE_UNRECORDED);
        return 0;
}

/* pvscan failed or hung on one of the devices, so none is recorded. Retries with fewer devices each, until the bad
 * one is alone. */
static int retry_with_fewer(struct worker *worker, const struct job *job, const char *why)
{
        worker->scans.max = MAX(count_devices(worker, job) / SPLIT, 1U);
        worker->scans.bisecting = true;
        log_warning("pvscan %s; retrying with at most %zu devices each.", why, worker->scans.max);
        FOREACH_DEVICE_OF_JOB(device, worker->inventory, job) {
                int r = requeue(worker, device);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* A pvscan has succeeded, or the bad device is found: allows more devices again. */
static void allow_more(struct worker *worker)
{
        if (dm_list_empty(&worker->inventory->devices[DEVICE_UNRECORDED])) {
                worker->scans.max = 0;
                worker->scans.bisecting = false;
        } else if (!worker->scans.bisecting)
                worker->scans.max *= 2;
}

static int on_recorded(struct job *job, int exit_status, const char *output, void *userdata)
{
        struct worker *worker = userdata;
        bool crashed = job_was_killed(exit_status), alone = count_devices(worker, job) <= 1;
        int r;

        if (worker->scans.job == job)
                worker->scans.job = NULL;
        dm_list_del(&job->list);
        worker_ask_step(worker);
        log_debug("pvscan exited with status %i: %s", exit_status, output);

        if (crashed && !alone)
                return retry_with_fewer(worker, job, "crashed");
        worker->scans.bisecting &= !crashed;
        FOREACH_DEVICE_OF_JOB(device, worker->inventory, job) {
                r = take_result(worker, device, exit_status, output);
                if (r < 0)
                        return r;
                device->recording = NULL;
                inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
        }
        allow_more(worker);
        return 0;
}

/* lvm2 waits for the device, and the VG for lvm2. */
static int note_unresponsive(const struct worker *worker, const struct device *device)
{
        log_warning(
                "pvscan waits for unresponsive device %s; retrying with the others.", device->name ?: "(removed)");
        if (!device->group || device->removed)
                return 0;
        if (string_replace(&device->group->vg->reason, string_format(VG_UNRESPONSIVE, device->name)) < 0)
                return log_oom();
        inventory_note_change(worker->inventory, device->group);
        return 0;
}

/* A pvscan keeps its unresponsive devices, and their VGs wait until it ends. Another pvscan gets the others. */
static int continue_with_others(struct worker *worker, struct job *job)
{
        size_t n_devices = count_devices(worker, job), n_unresponsive = 0;
        int r = 0;

        FOREACH_DEVICE_OF_JOB(device, worker->inventory, job)
                n_unresponsive += readers_wait_for(worker->readers, device->number);
        job->probed = n_unresponsive > 0 || job_is_stuck(job);
        if (!job->probed)
                return 0;
        worker->scans.job = NULL;
        dm_list_add(&worker->scans.overdue, &job->list);
        if (n_unresponsive == 0 && n_devices > 1)
                return retry_with_fewer(worker, job, "makes no progress");
        FOREACH_DEVICE_OF_JOB(device, worker->inventory, job) {
                /* A device that blocks pvscan alone is unresponsive in a place that only lvm2 reads. */
                if (n_devices == 1 || readers_wait_for(worker->readers, device->number))
                        r = note_unresponsive(worker, device);
                else
                        r = requeue(worker, device);
                if (r < 0)
                        return r;
        }
        worker->scans.bisecting = false;
        allow_more(worker);
        return 0;
}

/* lvm2's rule runs pvscan for one device, with its links in the environment. pvscan takes several names of one
 * device as one device with all these names. */
static int add_device_argument(const struct worker *worker, struct strv *arguments, const struct device *device)
{
        int r;

        /* With a device number pvscan removes the record. */
        if (device->removed)
                return strv_take(arguments, string_format("%u:%u", major(device->number), minor(device->number)));
        r = strv_add(arguments, device->name);
        return r >= 0 && worker->passes_links
                       ? uevents_get_device_links(worker->uevents, device->number, arguments)
                       : r;
}

static int start(struct worker *worker, struct device *const *devices, size_t n, struct job **ret)
{
        static const char *const words[] = {"pvscan", "--cache", "--"};
        _cleanup_strv_ struct strv arguments = {};
        int r = strv_add_all(&arguments, words, ELEMENTSOF(words));

        for (size_t i = 0; r >= 0 && i < n; i++)
                r = add_device_argument(worker, &arguments, devices[i]);
        r = r ?: job_start(worker->event, JOB_RECORD, &arguments, on_recorded, worker, ret);
        if (r < 0)
                return log_error_errno(r, "Failed to start pvscan: %m");
        FOREACH_ARRAY(device, devices, n) {
                (*device)->recording = *ret;
                inventory_move_device(worker->inventory, *device, DEVICE_RECORDING);
        }
        worker->scans.started_usec = worker->inventory->now_usec;
        return 0;
}

/* Whether devices that are not urgent are recorded, too. While their VGs are incomplete, or all vgchange slots are
 * busy, more devices may appear that the same pvscan can record. */
static bool records_all(struct worker *worker)
{
        uint64_t late = MAX(worker->scans.started_usec, worker->first_device_usec) + INCOMPLETE_USEC;

        if (!activate_has_room(worker))
                return false;
        if (ANY(FOREACH_LISTED(const struct device, device, &worker->inventory->devices[DEVICE_UNRECORDED]),
                    device_vg_is_complete(device) || worker->scans.max > 0))
                return true;
        worker_wake_at(worker, late);
        return late <= worker->inventory->now_usec;
}

static int start_all(struct worker *worker)
{
        struct dm_list *unrecorded = &worker->inventory->devices[DEVICE_UNRECORDED];
        size_t n = 0, max = worker->passes_links ? DEVICES_WITH_LINKS_MAX : SIZE_MAX;
        _cleanup_free_ struct device **devices = NULL;
        bool all;
        int r;

        if (dm_list_empty(unrecorded))
                return 0;

        if (!worker->event_activation) {
                /* Without event activation lvm2 records nothing. */
                FOREACH_LISTED(struct device, device, unrecorded)
                        inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
                worker_ask_step(worker);
                return 0;
        }

        if (worker->scans.max > 0)
                max = MIN(max, worker->scans.max);
        devices = calloc(dm_list_size(unrecorded), sizeof(*devices));
        if (!devices)
                return log_oom();
        all = records_all(worker);
        FOREACH_LISTED(struct device, device, unrecorded) {
                bool alone = device->slow && !device->removed;

                if (!all && !device_is_urgent(device))
                        continue;
                if (alone && dm_list_size(&worker->scans.overdue) < SLOW_SCANS_MAX) {
                        struct job *job;

                        r = start(worker, &device, 1, &job);
                        if (r < 0)
                                return r;
                        /* Nothing waits for it. */
                        dm_list_add(&worker->scans.overdue, &job->list);
                } else if (!alone && n < max)
                        devices[n++] = device;
        }
        return n == 0 ? 0 : start(worker, devices, n, &worker->scans.job);
}

int scan_start(struct worker *worker)
{
        struct scans *scans = &worker->scans;
        int r = 0;

        if (scans->job && !scans->job->probed && job_stands_still(scans->job))
                r = vg_probe_job(worker, scans->job);
        if (r >= 0 && scans->job && scans->job->probed && !readers_are_busy(worker->readers))
                r = continue_with_others(worker, scans->job);
        if (r >= 0 && !scans->job && !readers_are_quick(worker->readers))
                r = start_all(worker);
        if (scans->job && !scans->job->probed)
                worker_wake_at(worker, scans->job->look_usec);
        return r;
}
