/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/recording.h"

#include <sys/sysmacros.h>

#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"

/* A device may have a dozen links, and arguments have to fit into 2 MiB. */
#define DEVICES_WITH_LINKS_MAX 256

/* Whether lvm2 has made a record of it. Returns a positive number, 0 or a negative errno. */
static int is_recorded(const struct worker *worker, const struct device *device)
{
        dev_t recorded;
        int r;

        r = online_read_pv(worker->lvm_run_fd, device->pvid, &recorded);
        if (r < 0)
                return log_error_errno(r, "Failed to read lvm2's record of %s: %m", device->name);
        return r == ONLINE_FOUND && recorded == device->number;
}

/* Whether it is the PV of its VG that it was when lvm2 was asked. It may have gone before pvscan has looked, with word
 * of that still to come, or pvscan may have seen another disk in its place. */
static bool is_pv_still(const struct worker *worker, const struct device *device)
{
        const struct volume_group_pv *pv = volume_group_find_pv(device->group->volume_group, device->pvid);

        return pv && pv->device == device->number &&
               inventory_is_still(worker->inventory, device->number, device->pvid);
}

/* The device was shown to lvm2. That it made no record of it is its verdict. */
static int take_verdict(struct worker *worker, const struct device *device, int exit_status, const char *output)
{
        _cleanup_free_ char *line = NULL;
        int r;

        if (!device->group || device->gone)
                return 0;
        r = is_recorded(worker, device);
        if (r > 0)
                managed_group_forget_refusal(device->group, device->number);
        if (r != 0 || !is_pv_still(worker, device))
                return MIN(r, 0);

        line = job_was_killed(exit_status) ? string_format("pvscan was ended by signal %i.", exit_status - 128)
                                           : lvm_output_find(output, device->name);
        return managed_group_note_refusal(device->group, device->number,
                string_format("lvm2 does not accept its PV %s%s%s", device->name, line ? ": " : ".", line ?: ""));
}

/* There is metadata at which pvscan crashes, and all other devices that it was to see have not been seen. They are
 * shown to it again, half as many at a time, until it is alone with the one that it cannot bear. */
static int show_again(struct worker *worker)
{
        struct dm_list *recording = &worker->inventory->devices[DEVICE_RECORDING];
        struct device *device, *next;

        worker->recording_max = dm_list_size(recording) / 2;
        log_warning(
                "pvscan has crashed, showing it the devices again, at most %zu at a time.", worker->recording_max);

        dm_list_iterate_items_safe(device, next, recording) {
                int r = device->gone ? 0 : is_recorded(worker, device);

                if (r < 0)
                        return r;
                inventory_move_device(worker->inventory, device, r > 0 ? DEVICE_SETTLING : DEVICE_UNRECORDED);
        }
        return 0;
}

static int take_verdicts(struct worker *worker, int exit_status, const char *output)
{
        struct device *device, *next;

        dm_list_iterate_items_safe(device, next, &worker->inventory->devices[DEVICE_RECORDING]) {
                int r = take_verdict(worker, device, exit_status, output);

                if (r < 0)
                        return r;
                inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
        }
        /* The guilty one may have been among them, or be among what is left. */
        worker->recording_max *= 2;
        if (dm_list_empty(&worker->inventory->devices[DEVICE_UNRECORDED]))
                worker->recording_max = 0;
        return 0;
}

static int on_recorded(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct worker *worker = userdata;
        int r;

        worker->recording = NULL;
        r = lvm_command_read_output(&job->command, &output);
        if (r < 0)
                return log_error_errno(r, "Failed to read what pvscan has printed: %m");
        log_debug("pvscan has ended with status %i: %s", exit_status, output);

        if (job_was_killed(exit_status) && dm_list_size(&worker->inventory->devices[DEVICE_RECORDING]) > 1)
                r = show_again(worker);
        else
                r = take_verdicts(worker, exit_status, output);
        worker_ask_step(worker);
        return r;
}

/* lvm2's own rule shows pvscan one device at a time, with its links in the environment. A device that is an argument
 * by several names is one device to pvscan, which then knows it by all of them. */
static int add_device_argument(
        const struct worker *worker, struct string_vector *arguments, const struct device *device)
{
        _cleanup_free_ char *number = NULL;

        if (!device->gone) {
                int r = string_vector_add(arguments, device->name);

                return r >= 0 && worker->shows_links
                               ? uevents_get_device_links(worker->uevents, device->number, arguments)
                               : r;
        }
        /* The form that makes pvscan forget a device. */
        number = string_format("%u:%u", major(device->number), minor(device->number));
        return number ? string_vector_add(arguments, number) : -ENOMEM;
}

int recording_start(struct worker *worker)
{
        static const char *const words[] = {"pvscan", "--cache", "--"};
        struct dm_list *unrecorded = &worker->inventory->devices[DEVICE_UNRECORDED];
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct device *device, *next;
        size_t n = 0, max = worker->shows_links ? DEVICES_WITH_LINKS_MAX : SIZE_MAX;
        int r;

        if (worker->recording || dm_list_empty(unrecorded))
                return 0;

        if (!worker->event_activation) {
                /* lvm2 itself records nothing then. */
                dm_list_iterate_items_safe(device, next, unrecorded)
                        inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
                return 0;
        }

        if (worker->recording_max > 0)
                max = MIN(max, worker->recording_max);
        r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));
        dm_list_iterate_items_safe(device, next, unrecorded) {
                if (n++ >= max)
                        break;
                if (r >= 0)
                        r = add_device_argument(worker, &arguments, device);
                inventory_move_device(worker->inventory, device, DEVICE_RECORDING);
        }
        if (r >= 0)
                r = job_start(worker->event, JOB_RECORD, &arguments, on_recorded, worker, &worker->recording);
        if (r < 0)
                return log_error_errno(r, "Failed to start pvscan: %m");
        return 0;
}
