/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The devices of the inventory: each is in the list of its stage, and is found by number and by PV. Also the
 * inventory's clock. */

#include "inventory/inventory.h"

#include <systemd/sd-daemon.h>

#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"

/* How often to ping: a small part of WatchdogSec= of headgate.service, 30 s. */
#define PING_INTERVAL_USEC USEC_PER_SEC

/* Within this time multipathd finds a second path, if there is one. */
#define HOLD_MAX_USEC (3 * USEC_PER_SEC)

void inventory_ping(struct inventory *inventory)
{
        inventory->now_usec = now_usec();
        if (inventory->now_usec < inventory->last_ping_usec + PING_INTERVAL_USEC && inventory->last_ping_usec > 0)
                return;
        inventory->last_ping_usec = inventory->now_usec;
        inventory->clock_usec = now_realtime_usec() - inventory->now_usec;
        (void) sd_notify(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=30000000");
}

void device_free(struct device *device)
{
        free(device->name);
        free(device->announced_name);
        free(device->path.wwid);
        free(device);
}

struct device *inventory_find_device(const struct inventory *inventory, dev_t number)
{
        return dm_hash_lookup_binary(inventory->devices_by_number, &number, sizeof(number));
}

int inventory_get_device(struct inventory *inventory, dev_t number, struct device **ret)
{
        struct device *device = inventory_find_device(inventory, number);

        inventory_ping(inventory);
        if (!device) {
                device = calloc(1, sizeof(*device));
                if (!device)
                        return -ENOMEM;
                device->number = number;
                if (!dm_hash_insert_binary(inventory->devices_by_number, &number, sizeof(number), device)) {
                        free(device);
                        return -ENOMEM;
                }
                device->held_until_usec = inventory->now_usec + HOLD_MAX_USEC;
                device->stage = DEVICE_UNREAD;
                dm_list_add(&inventory->devices[DEVICE_UNREAD], &device->list);
        }

        *ret = device;
        return 0;
}

bool inventory_has_device_before(const struct inventory *inventory, enum device_stage stage)
{
        return ANY(for (enum device_stage earlier = 0; earlier < stage; earlier++),
                !dm_list_empty(&inventory->devices[earlier]));
}

bool inventory_pvs_have_reached(const struct inventory *inventory, const struct vg *vg, enum device_stage stage)
{
        const struct device *device;

        return !ANY(FOREACH_PV(pv, vg),
                (device = inventory_find_device(inventory, pv->device)) && device->stage < stage);
}

bool device_vg_is_complete(const struct device *device)
{
        return device->group && device->group->vg->status != VG_STATUS_WAITING;
}

bool device_is_urgent(const struct device *device)
{
        return device->removed || device->slow || (device_vg_is_complete(device) && device->group->awaited);
}

void inventory_move_device(struct inventory *inventory, struct device *device, enum device_stage stage)
{
        device->stage = stage;
        dm_list_move(&inventory->devices[stage], &device->list);
}

size_t inventory_count_groups_of_job(const struct inventory *inventory, const struct job *job)
{
        size_t n = 0;

        FOREACH_GROUP_OF_JOB(group, inventory, job)
                n++;
        return n;
}

void inventory_read_again(struct inventory *inventory, struct device *device)
{
        if (device->stage >= DEVICE_SETTLING)
                inventory_move_device(inventory, device, DEVICE_UNREAD);
        else if (device->stage > DEVICE_UNREAD)
                device->again = true;
}

void inventory_note_disk(const struct inventory *inventory, struct device *device, uint64_t diskseq)
{
        if (diskseq != device->announced_diskseq)
                device->held_until_usec = inventory->now_usec + HOLD_MAX_USEC;
        device->announced_diskseq = diskseq;
}

bool inventory_is_undecided(const struct inventory *inventory, const struct device *device)
{
        const struct storage_path *path = &device->path;

        if (!device->ready || !isempty(device->recorded.pvid) || inventory->now_usec >= device->held_until_usec)
                return false;
        if (path->kind != PATH_OF_TWINS)
                return path->kind == PATH_OF_FABRIC;
        FOREACH_DEVICE(other, inventory)
                if (other->path.kind != PATH_NEVER && other->path.disk != path->disk &&
                        streq(other->path.wwid, path->wwid))
                        return true;
        return false;
}

void inventory_hold(struct inventory *inventory, bool booting)
{
        struct dm_list *unread = &inventory->devices[DEVICE_UNREAD];
        _cleanup_close_ int root_fd = root_open();

        if (!multipath_finds_new(root_fd, booting))
                return;
        FOREACH_LISTED(struct device, device, unread) {
                inventory_ping(inventory);
                storage_path_read(root_fd, device->number, &device->path);
        }
        FOREACH_LISTED(struct device, device, unread)
                if (device->path.kind == PATH_MARKED && isempty(device->recorded.pvid))
                        inventory_move_device(inventory, device, DEVICE_SETTLING);
                else if (inventory_is_undecided(inventory, device)) {
                        log_debug("Holding %s (WWID %s), it may become a path of a multipath device.",
                                device->announced_name ?: "a device", device->path.wwid);
                        inventory_move_device(inventory, device, DEVICE_HELD);
                }
}

#define RETRY_USEC (1 * USEC_PER_SEC)
#define RETRIES_MAX 7U

bool inventory_retry(struct inventory *inventory, struct device *device)
{
        if (device->n_failed >= RETRIES_MAX)
                return false;
        device->retry_usec = inventory->now_usec + (RETRY_USEC << device->n_failed);
        device->retry_ready = device->ready;
        return device->n_failed++ == 0;
}

uint64_t inventory_end_holds(struct inventory *inventory)
{
        uint64_t now = inventory->now_usec, earliest;

        inventory->retry_usec = USEC_INFINITY;
        FOREACH_DEVICE(device, inventory)
                if (device->retry_usec > now)
                        inventory->retry_usec = MIN(inventory->retry_usec, device->retry_usec);
                else if (device->retry_usec > 0) {
                        device->retry_usec = 0;
                        device->ready |= device->retry_ready;
                        inventory_read_again(inventory, device);
                }
        earliest = inventory->retry_usec;
        FOREACH_LISTED(struct device, device, &inventory->devices[DEVICE_HELD])
                if (now < device->held_until_usec)
                        earliest = MIN(earliest, device->held_until_usec);
                else
                        inventory_move_device(inventory, device, DEVICE_UNREAD);
        return earliest;
}

struct device *inventory_find_device_of_pv(const struct inventory *inventory, const char *pvid)
{
        FOREACH_DEVICE(device, inventory)
                if (!device->removed && streq(device->pvid, pvid))
                        return device;
        return NULL;
}

int inventory_set_pvid(struct inventory *inventory, struct device *device, const char *pvid)
{
        const struct record_device former = device->recorded;

        device->recorded = (struct record_device){.number = device->number, .diskseq = device->diskseq};
        snprintf(device->recorded.pvid, sizeof(device->recorded.pvid), "%s", pvid);
        memcpy(device->pvid, device->recorded.pvid, sizeof(device->pvid));
        if (streq(former.pvid, pvid) && (isempty(pvid) || former.diskseq == device->diskseq))
                return 0;
        inventory->changed = true;
        return record_writer_put_device(inventory->writer, &device->recorded);
}

bool inventory_is_still(const struct inventory *inventory, dev_t number, const char *pvid)
{
        const struct device *device = inventory_find_device(inventory, number);
        struct path in_sysfs = path_format("/%s", sysfs_path(number, "").text);
        uint64_t present;

        if (!device || device->removed || !streq(device->recorded.pvid, pvid) || access(in_sysfs.text, F_OK) < 0)
                return false;
        present = diskseq_read(number);
        return device->recorded.diskseq == 0 || present == 0 || present == device->recorded.diskseq;
}

void inventory_drop_device(struct inventory *inventory, struct device *device)
{
        (void) inventory_set_pvid(inventory, device, "");
        dm_hash_remove_binary(inventory->devices_by_number, &device->number, sizeof(device->number));
        dm_list_del(&device->list);
        device_free(device);
}
