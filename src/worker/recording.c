/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/recording.h"

#include <sys/sysmacros.h>

#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"

/* The device was shown to lvm2. That it made no record of it is its verdict. */
static int take_verdict(struct worker *worker, const struct device *device, const char *output)
{
        _cleanup_free_ char *line = NULL;
        dev_t recorded;
        int r;

        if (!device->group || device->gone)
                return 0;
        r = online_read_pv(worker->lvm_run_fd, device->pvid, &recorded);
        if (r < 0)
                return log_error_errno(r, "Failed to read lvm2's record of %s: %m", device->name);
        if (r == ONLINE_FOUND && recorded == device->number)
                return 0;

        line = lvm_output_find(output, device->name);
        return string_replace(&device->group->refusal,
                string_format("lvm2 does not accept its PV %s%s%s", device->name, line ? ": " : ".", line ?: ""));
}

static int on_recorded(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct worker *worker = userdata;
        struct device *device, *next;
        int r;

        worker->recording = NULL;
        r = lvm_command_read_output(&job->command, &output);
        if (r < 0)
                return log_error_errno(r, "Failed to read what pvscan has printed: %m");
        log_debug("pvscan has ended with status %i: %s", exit_status, output);

        dm_list_iterate_items_safe(device, next, &worker->inventory->devices[DEVICE_RECORDING]) {
                r = take_verdict(worker, device, output);
                if (r < 0)
                        return r;
                inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
        }
        worker_ask_step(worker);
        return 0;
}

static int add_device_argument(struct string_vector *arguments, const struct device *device)
{
        _cleanup_free_ char *number = NULL;

        if (!device->gone)
                return string_vector_add(arguments, device->name);
        /* The form that makes pvscan forget a device. */
        number = string_format("%u:%u", major(device->number), minor(device->number));
        return number ? string_vector_add(arguments, number) : -ENOMEM;
}

int recording_start(struct worker *worker)
{
        static const char *const words[] = {"pvscan", "--cache"};
        struct dm_list *unrecorded = &worker->inventory->devices[DEVICE_UNRECORDED];
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct device *device, *next;
        int r;

        if (worker->recording || dm_list_empty(unrecorded))
                return 0;

        if (!worker->event_activation) {
                /* lvm2 itself records nothing then. */
                dm_list_iterate_items_safe(device, next, unrecorded)
                        inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
                return 0;
        }

        r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));
        dm_list_iterate_items_safe(device, next, unrecorded) {
                if (r >= 0)
                        r = add_device_argument(&arguments, device);
                inventory_move_device(worker->inventory, device, DEVICE_RECORDING);
        }
        if (r >= 0)
                r = job_start(worker->event, JOB_RECORD, &arguments, on_recorded, worker, &worker->recording);
        if (r < 0)
                return log_error_errno(r, "Failed to start pvscan: %m");
        return 0;
}
