/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Requests, by entries of the protocol and by udev, from their arrival to their end. */

#include "worker/worker.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "lvm/dm-devices.h"
#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"
#include "worker/vg.h"

/* A change of an active VG may be read later; anything else may delay somebody. */
static void note_request(struct worker *worker, const struct device *device, enum uevents_kind kind)
{
        struct gather before = worker->gather;

        gather_note(&worker->gather,
                kind != UEVENTS_CHANGED || !device->group || device->group->state != VG_ACTIVE,
                worker->inventory->now_usec);
        /* The timer is set for the requests gathered so far; when it fires, it is set again if there are more. */
        if (before.first_usec == 0 || worker->gather.urgent != before.urgent)
                worker_ask_step(worker);
}

/* A device that is being processed is read again afterwards, since it may have changed since it was read. If it was
 * only written to, its VG is activated before that (`reread`, not `again`), as each new disk has such an event. */
static int take_device(struct worker *worker, dev_t number, enum uevents_kind kind, struct device **ret)
{
        struct device *device;
        int r = inventory_get_device(worker->inventory, number, &device);

        inventory_ping(worker->inventory);
        if (r < 0)
                return r;

        if (kind == UEVENTS_CHANGED && device->stage > DEVICE_UNREAD && device->stage < DEVICE_HELD)
                device->reread = true;
        else
                inventory_read_again(worker->inventory, device);
        if (kind == UEVENTS_READY_OR_REMOVED && device->group)
                device->group->activate_again = true;

        if (worker->first_device_usec == 0)
                worker->first_device_usec = worker->inventory->now_usec;
        note_request(worker, device, kind);
        *ret = device;
        return 0;
}

int requests_take_device(const struct uevents_device *reported, void *userdata)
{
        struct worker *worker = userdata;
        struct device *device;
        int r = take_device(worker, reported->number, reported->kind, &device);

        if (r < 0)
                return r;
        device->appeared |= reported->kind == UEVENTS_READY_OR_REMOVED;
        device->ready |= reported->kind != UEVENTS_CHANGED;
        free(device->announced_name);
        device->announced_name = reported->name ? strdup(reported->name) : NULL;
        inventory_note_disk(worker->inventory, device, reported->diskseq);
        return 0;
}

int requests_take_unknown(const struct uevents_device *reported, void *userdata)
{
        const struct worker *worker = userdata;

        inventory_ping(worker->inventory);
        return inventory_find_device(worker->inventory, reported->number)
                       ? 0
                       : requests_take_device(reported, userdata);
}

/* After an enumeration for missed events: queues recorded devices that were not found, as no event will report
 * their removal. */
static int look_for_recorded(struct worker *worker)
{
        int r = 0;

        FOREACH_DEVICE(device, worker->inventory)
                if (r >= 0 && device->stage >= DEVICE_READING && !isempty(device->recorded.pvid) && !device->again)
                        r = take_device(worker, device->number, UEVENTS_CHANGED, &device);
        return r;
}

static int take_device_entry(struct worker *worker, const char *entry)
{
        const char *changed = skip_prefix(entry, FLAGS_ENTRY_CHANGED);
        struct device *device;
        dev_t number;
        int r = parse_device_number(changed ?: entry, &number);

        if (r == -EINVAL)
                log_warning("Invalid device number in request \"%s\", ignoring it.", entry);
        if (r >= 0)
                r = take_device(worker, number, changed ? UEVENTS_CHANGED : UEVENTS_READY_OR_REMOVED, &device);
        if (r < 0)
                return r;
        if (changed)
                device->has_change_entry = true;
        else
                device->appeared = device->ready = device->has_entry = true;
        return 0;
}

/* A request for a VG by name: asks lvm2 whatever happened before, if all PVs are present. Otherwise nothing can be
 * done now, and the caller sees that in the VG's record. */
static int take_vg_request(struct worker *worker, const char *name)
{
        struct vg_entry *group = names_find(worker->inventory, name);
        enum vg_state former;
        int r;

        if (!group)
                return -ENOENT;
        former = group->state;
        r = former == VG_ACTIVE ? vg_list_devices(&worker->active_devices) : 0;
        if (r < 0)
                return r;
        r = vg_take(worker, group, &(struct vg_input){.event = VG_REQUESTED, .devices = worker->active_devices});
        if (r < 0)
                return r;
        /* The caller reads the record when the request has ended. */
        if (group->state == former && vg_state_is_settled(former) && !worker->inventory->changed)
                return -ENOENT;
        group->has_entry = true;
        /* Reading changed PVs may have been deferred. */
        gather_note(&worker->gather, true, worker->inventory->now_usec);
        worker_ask_step(worker);
        return 0;
}

/* A VG is expected: it is activated before others, and reported if it does not appear. */
static int take_expectation(struct worker *worker, const char *name)
{
        struct expectation *expectation;
        struct vg_entry *group;
        int r;

        if (!vg_name_is_valid(name)) {
                log_warning("Invalid VG name in request \"%s\", ignoring it.", name);
                return -EINVAL;
        }
        r = expectations_add(&worker->expectations, name, &expectation);
        if (r < 0)
                return r;
        group = names_find(worker->inventory, name);
        if (group) {
                expectation->group = group;
                group->awaited = true;
        }
        worker_ask_step(worker);
        return 0;
}

int requests_take_entry(const char *entry, void *userdata)
{
        struct worker *worker = userdata;
        const char *name;
        int r;

        if ((name = skip_prefix(entry, FLAGS_ENTRY_VG)))
                r = take_vg_request(worker, name);
        else if ((name = skip_prefix(entry, FLAGS_ENTRY_EXPECTED)))
                r = take_expectation(worker, name);
        else
                r = take_device_entry(worker, entry);

        return r == -ENOENT || r == -EINVAL ? flags_finish(worker->run_fd, entry) : r;
}

static int finish_entry(const struct worker *worker, const char *entry)
{
        int r = flags_finish(worker->run_fd, entry);

        return r < 0 ? log_error_errno(r, "Failed to end a request: %m") : 0;
}

static void read_once_more(struct worker *worker, struct device *device)
{
        note_request(worker, device, device->again ? UEVENTS_FOUND : UEVENTS_CHANGED);
        device->again = device->reread = false;
        inventory_move_device(worker->inventory, device, DEVICE_UNREAD);
}

int requests_read_again(struct worker *worker)
{
        FOREACH_LISTED(struct device, device, &worker->inventory->devices[DEVICE_SETTLING])
                if (device->again)
                        read_once_more(worker, device);
        return 0;
}

static int release_device(struct worker *worker, struct device *device)
{
        int r = 0;

        inventory_ping(worker->inventory);
        if (device->has_entry)
                r = finish_entry(worker, path_format("%u:%u", major(device->number), minor(device->number)).text);
        device->has_entry = device->appeared = device->ready = false;
        if (r >= 0 && device->reread) {
                read_once_more(worker, device);
                return 0;
        }
        if (r >= 0 && device->has_change_entry)
                r = finish_entry(worker,
                        path_format(FLAGS_ENTRY_CHANGED "%u:%u", major(device->number), minor(device->number))
                                .text);
        device->has_change_entry = false;

        if (device->removed || (isempty(device->recorded.pvid) && device->retry_usec == 0))
                inventory_drop_device(worker->inventory, device);
        else
                inventory_move_device(worker->inventory, device, DEVICE_KNOWN);
        return r;
}

int requests_finish_group(struct worker *worker, struct vg_entry *group, const char *name)
{
        if (!group->has_entry)
                return 0;
        group->has_entry = false;
        return finish_entry(worker, path_format(FLAGS_ENTRY_VG "%s", name).text);
}

static int on_reset(
        _unused_ struct job *job, _unused_ int exit_status, _unused_ const char *output, void *userdata)
{
        struct worker *worker = userdata;

        worker->reset_failed_job = NULL;
        worker_ask_step(worker);
        return 0;
}

/* Once a VG is active, resets failed units headgate-vg@.service of it. The unit makes a link, then checks the
 * record a last time; this checks for the link after saving the record. So one of both sees the other. */
static void forget_failed_waits(struct worker *worker)
{
        static const char *const words[] = {"reset-failed", "--"};
        _cleanup_strv_ struct strv arguments = {};
        int r = strv_add_all(&arguments, words, ELEMENTSOF(words));

        worker->inventory->activated = false;
        FOREACH_GROUP(group, worker->inventory) {
                struct path path = path_format(FLAGS_FAILED_WAIT "%s", group->vg->name);
                _cleanup_free_ char *unit = NULL;

                if (r < 0 || !group->activated)
                        continue;
                group->activated = false;
                r = read_link_at(worker->run_fd, path.text, &unit);
                if (r <= 0)
                        continue;
                r = strv_add(&arguments, unit);
                (void) unlinkat(worker->run_fd, path.text, 0);
        }
        if (r >= 0 && arguments.n > ELEMENTSOF(words))
                r = job_start(
                        worker->event, JOB_ASK_SYSTEMD, &arguments, on_reset, worker, &worker->reset_failed_job);
        if (r < 0)
                log_debug("Failed to reset failed units: %s", strerror(-r));
}

/* An overdue VG is no longer expected, though it may still appear. */
static bool is_over(const struct expectation *expectation)
{
        const struct vg *vg = expectation->group ? expectation->group->vg : NULL;

        if (!vg)
                return expectation->overdue;
        return vg->status == VG_STATUS_WAITING ? vg->overdue : vg_is_settled(vg);
}

int requests_release(struct worker *worker)
{
        int r = 0;

        FOREACH_LISTED(struct device, device, &worker->inventory->devices[DEVICE_SETTLING])
                if (r >= 0 && (!device->group || device->removed || vg_is_settled(device->group->vg)))
                        r = release_device(worker, device);
        FOREACH_GROUP(group, worker->inventory)
                if (r >= 0 && vg_is_settled(group->vg))
                        r = requests_finish_group(worker, group, group->vg->name);
        FOREACH_LISTED(struct expectation, expectation, &worker->expectations) {
                if (r < 0 || !is_over(expectation))
                        continue;
                r = finish_entry(worker, path_format(FLAGS_ENTRY_EXPECTED "%s", expectation->name).text);
                if (r >= 0)
                        expectation_drop(expectation);
        }
        if (worker->inventory->activated && !worker->reset_failed_job)
                forget_failed_waits(worker);
        return r;
}

int requests_enumerate(struct worker *worker)
{
        int r = uevents_enumerate(worker->uevents, requests_take_device, worker) ?: look_for_recorded(worker);

        return r < 0 ? log_error_errno(r, "Failed to ask udev for all devices: %m") : 0;
}
