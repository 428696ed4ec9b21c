/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From devices to VGs: has devices read, and adds their contents to the inventory.
 *
 * A VG may change while the machine runs: it may be renamed, get or lose PVs or LVs, or be removed. lvm2 writes the
 * metadata of one PV after another, and each write causes an event. So each PV is entered when it is read, and the
 * VG is updated when all of them have been read. Like lvm2, this activates nothing. */

#include "worker/worker.h"

#include <inttypes.h>
#include <sys/sysmacros.h>

#include "inventory/vg-record.h"
#include "lvm/dm-devices.h"
#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"
#include "worker/vg.h"

/* If the device never was a PV, the request ends without further work. */
static void take_removed(struct worker *worker, struct device *device)
{
        struct vg_entry *group =
                device->group ?: inventory_find_group_of_pv(worker->inventory, device->recorded.pvid);

        device->removed = true;
        if (isempty(device->recorded.pvid)) {
                inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
                return;
        }
        if (group)
                inventory_lose_pv(worker->inventory, group, device->number);
        /* A duplicate of the PV may replace it now. */
        FOREACH_DEVICE(other, worker->inventory)
                if (other != device && streq(other->recorded.pvid, device->recorded.pvid))
                        inventory_read_again(worker->inventory, other);
        log_debug("%s was removed.", device->name ?: "A device with a PV");
        inventory_move_device(worker->inventory, device, DEVICE_UNRECORDED);
}

/* The PV is a duplicate: the other device is still there and still the same disk. */
static void settle_duplicate(
        struct worker *worker, struct device *device, const struct vg *vg, const struct vg_pv *pv)
{
        const struct device *other = inventory_find_device(worker->inventory, pv->device);

        /* The two disks may have swapped their numbers. */
        if (other && other->stage <= DEVICE_READING)
                device->again = true;
        /* Report a duplicate only when it appears, not after each write to it. */
        else if (device->ready)
                report_duplicate(vg, pv->pvid, pv->device_name ?: "another device", device->name);
        inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
}

static int join_group(struct worker *worker, struct device *device, struct vg_entry *group)
{
        struct vg_pv *pv = vg_find_pv(group->vg, device->pvid);
        struct expectation *expectation;
        bool appeared;
        int r = 0;

        if (!pv) {
                if (device->ready)
                        report_outdated(group->vg, device->pvid, device->name);
                inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
                return 0;
        }
        if (pv->device != 0 && pv->device != device->number &&
                inventory_is_still(worker->inventory, pv->device, pv->pvid)) {
                settle_duplicate(worker, device, group->vg, pv);
                return 0;
        }

        appeared = pv->device == 0;
        if (pv->device != device->number || !streq(pv->device_name ?: "", device->name)) {
                if (string_replace(&pv->device_name, strdup(device->name)) < 0)
                        return -ENOMEM;
                pv->device = device->number;
                inventory_note_change(worker->inventory, group);
        }
        group->activate_again |= appeared;
        device->group = group;
        expectation = expectations_find(&worker->expectations, group->vg->name);
        if (expectation && !expectation->group) {
                expectation->group = group;
                group->awaited = true;
        }
        if (appeared) {
                group->last_is_bare = device->seqno == 0;
                r = vg_take(worker, group, &(struct vg_input){.event = VG_PV_APPEARED, .pv = pv});
        }
        if (group->vg->n_pvs > 1 && vg_count(group->vg).seen == 1)
                report_seen(group, device->name);
        if (r >= 0)
                r = vg_take(worker, group,
                        &(struct vg_input){.event = !device->ready     ? VG_PV_WRITTEN
                                                    : device->appeared ? VG_PV_ANNOUNCED
                                                                       : VG_PV_FOUND});
        if (r >= 0 && device->ready && vg_has_just_failed(worker, group)) {
                group->retried = true;
                r = vg_retry(worker, group);
        }
        return MIN(r, 0);
}

/* The result of one metadata copy: its VG, or its damage. */
struct copy_result {
        struct vg_entry *group; /* NULL if the copy is damaged, or its text is no longer known */
        uint64_t seqno;         /* of the copy */
        const char *damage;     /* a sentence, or NULL */
};

static int judge_copy(struct worker *worker, const struct reader_copy *copy, struct copy_result *ret)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        int r = copy->error;

        if (r == 0 && !copy->facts) {
                ret->group = inventory_find_text(worker->inventory, &copy->text, &ret->seqno);
                return 0;
        }

        r = r ?: facts_read(copy->facts, copy->facts_size, &metadata);
        if (r == -ENOMEM && copy->error == 0)
                return r;
        if (r < 0 || !metadata) {
                ret->damage = r != -EBADMSG            ? strerror(-r)
                              : !isempty(copy->reason) ? copy->reason
                                                       : "invalid reply from the disk reader";
                return 0;
        }

        ret->seqno = metadata->seqno;
        r = inventory_add_metadata(worker->inventory, &metadata, &ret->group);
        if (r < 0)
                return r;
        if (ret->seqno < ret->group->vg->seqno)
                vg_entry_note_older(ret->group, TAKE_PTR(metadata), &copy->text);
        else
                ret->group->text = copy->text;
        return 0;
}

/* The disks with the newest metadata may have been removed. */
static int roll_back(struct worker *worker, struct vg_entry *group)
{
        int r = inventory_roll_back(worker->inventory, group);

        if (r > 0)
                log_notice("VG %s: all PVs have older metadata than before, using it (seqno %" PRIu64 ").",
                        group->vg->name, group->vg->seqno);
        return MIN(r, 0);
}

/* Finds the VG of the metadata on the device; NULL if there is none. Damaged copies are reported. */
static int judge_copies(
        struct worker *worker, struct device *device, const struct reader_result *result, struct vg_entry **ret)
{
        struct copy_result results[LABEL_METADATA_AREAS_MAX] = {}, newest = {};
        int r = 0;

        for (size_t i = 0; i < result->n_copies; i++) {
                r = judge_copy(worker, &result->copies[i], &results[i]);
                if (r < 0)
                        return r;
                /* Two copies that differ belong to the same VG, unless parts of disks were copied: the newer one
                 * counts. */
                if (results[i].group && (!newest.group || results[i].seqno > newest.seqno))
                        newest = results[i];
        }
        device->seqno = result->error < 0 ? UINT64_MAX : newest.seqno;
        r = newest.group ? roll_back(worker, newest.group) : 0;
        if (r < 0)
                return r;

        for (size_t i = 0; i < result->n_copies; i++)
                if (results[i].damage && device->ready && result->error == 0)
                        report_damaged(device->name, device->pvid, result->copies[i].name, results[i].damage,
                                newest.group);
        *ret = newest.group;
        return 0;
}

/* Forgets the former PV of the device, and removes lvm2's record of it unless the PV is on another device now.
 * `name` is the VG that waits for the PV, or NULL. */
static int forget_pv(struct worker *worker, struct device *device, const char *pvid, const char *name)
{
        dev_t recorded = online_find_pv(worker->lvm_run_fd, pvid);
        int r = 0;

        if (recorded == device->number || !inventory_is_still(worker->inventory, recorded, pvid))
                r = online_forget(worker->lvm_run_fd, pvid, name);
        r = r ?: inventory_set_pvid(worker->inventory, device, "");
        device->group = NULL;
        return r < 0 ? log_error_errno(
                               r, "Failed to remove lvm2's record of the former PV on %s: %m", device->name)
                     : 0;
}

/* The device was another PV before: its removal went unnoticed and another disk has its number, or pvcreate was run
 * on it. */
static int forget_other_pv(struct worker *worker, struct device *device, const char *pvid)
{
        const struct record_device former = device->recorded;
        struct vg_entry *group;

        if (isempty(former.pvid) || streq(former.pvid, pvid))
                return 0;
        log_debug("%s is a different PV now.", device->name);
        group = inventory_find_group_of_pv(worker->inventory, former.pvid);
        if (group && inventory_leave_group(worker->inventory, group, device->number, former.pvid) < 0)
                return log_oom();
        return forget_pv(worker, device, former.pvid, NULL);
}

/* Another disk has the device number now, perhaps with the same PV. Handle it as if the former one had been removed
 * first. */
static int note_diskseq(struct worker *worker, struct device *device)
{
        const struct record_device former = device->recorded;
        struct vg_entry *group;

        if (isempty(former.pvid) || former.diskseq == device->diskseq || former.diskseq == 0 ||
                device->diskseq == 0)
                return 0;
        log_debug("%s is a different disk now.", device->name);
        group = inventory_find_group_of_pv(worker->inventory, former.pvid);
        if (group)
                inventory_lose_pv(worker->inventory, group, device->number);
        return forget_pv(worker, device, former.pvid, group ? group->vg->name : NULL);
}

/* lvm2's record of a PV compared with the device. classify_pv() returns one of these, or a negative errno. */
enum pv_record {
        PV_RECORDED,
        PV_UNRECORDED,
        PV_STALE, /* on a removed device: lvm2 would take this one for a duplicate */
        PV_ELSEWHERE,
        PV_OF_OTHER, /* with another VG */
};

static int classify_pv(
        struct worker *worker, const struct device *device, bool unused, const struct vg_entry *group)
{
        _cleanup_free_ char *name = NULL;
        dev_t recorded = 0;
        int r = online_read_pv(worker->lvm_run_fd, device->pvid, &recorded, &name);

        if (r < 0)
                return log_error_errno(r, "Failed to read lvm2's record of %s: %m", device->name);
        if (r == ONLINE_NONE)
                return PV_UNRECORDED;
        if (recorded != device->number)
                return inventory_is_still(worker->inventory, recorded, device->pvid) ? PV_ELSEWHERE : PV_STALE;
        return unused || (group && name && !streq(name, group->vg->name)) ? PV_OF_OTHER : PV_RECORDED;
}

/* Queues the PV for pvscan unless lvm2's record is right. */
static int record_pv(struct worker *worker, struct device *device, bool unused, struct vg_entry *group)
{
        int record = classify_pv(worker, device, unused, group), r = 0;

        if (record < 0)
                return record;
        if (record == PV_UNRECORDED && group && vg_find_pv(group->vg, device->pvid))
                group->fresh = true;
        if (record == PV_STALE || record == PV_OF_OTHER)
                r = online_forget(
                        worker->lvm_run_fd, device->pvid, group && record == PV_STALE ? group->vg->name : NULL);
        if (r < 0)
                return log_error_errno(r, "Failed to remove lvm2's stale record of %s: %m", device->name);
        inventory_move_device(worker->inventory, device,
                record != PV_RECORDED && (group || device->ready) ? DEVICE_UNRECORDED : DEVICE_SETTLING);
        return 0;
}

/* `former` is the VG of the device before, `owner` the VG that lists the PV, `group` the one of the metadata that was
 * read. They differ after vgsplit, vgmerge or vgreduce; inventory_move_pv() has the PV leave the first two. */
static int take_pv(struct worker *worker, struct device *device, const struct reader_result *result)
{
        struct vg_entry *former = device->group, *owner, *group = NULL;
        int r = forget_other_pv(worker, device, result->pvid)
                        ?: inventory_set_pvid(worker->inventory, device, result->pvid);

        if (r < 0)
                return r;
        owner = inventory_find_group_of_pv(worker->inventory, device->pvid);
        r = judge_copies(worker, device, result, &group);
        /* A PV without metadata belongs to the VG that lists it, maybe only since judge_copies() updated that VG. */
        if (r >= 0 && !group && !result->unused)
                group = inventory_find_group_of_pv(worker->inventory, device->pvid);
        if (r >= 0)
                r = inventory_move_pv(worker->inventory, device, former, owner, group)
                            ?: record_pv(worker, device, result->unused, group);
        /* This PV has no newer metadata. */
        if (r >= 0 && group && device->seqno == 0)
                r = roll_back(worker, group);
        return r < 0 || !group ? r : join_group(worker, device, group);
}

int intake_prepare(struct worker *worker, struct reading *reading)
{
        inventory_hold(worker->inventory, worker->booting);
        FOREACH_LISTED(struct device, device, &worker->inventory->devices[DEVICE_UNREAD]) {
                bool announced = device->announced_name && device->announced_diskseq != 0;
                char *name = announced ? strdup(device->announced_name) : NULL;
                int r = name ? 0 : uevents_get_device_name(worker->uevents, device->number, &name);

                inventory_ping(worker->inventory);
                /* If another disk has the number by now, intake_result() finds that. */
                device->diskseq = device->announced_diskseq ?: diskseq_read(device->number);
                if (r == -ENOENT) {
                        take_removed(worker, device);
                        continue;
                }
                if (r < 0)
                        return log_error_errno(r, "Failed to look up device %u:%u in udev's database: %m",
                                major(device->number), minor(device->number));
                free(device->name);
                device->name = name;
                device->removed = false;
                inventory_move_device(worker->inventory, device, DEVICE_READING);
                r = note_diskseq(worker, device);
                if (r < 0)
                        return r;
                if (reading_add(reading, device->number, name) < 0)
                        return log_oom();
        }
        return 0;
}

int intake_result(const struct reader_result *result, void *userdata)
{
        struct worker *worker = userdata;
        struct device *device = inventory_find_device(worker->inventory, result->device);
        int r = 0;

        inventory_ping(worker->inventory);
        if (!device)
                return 0;
        device->slow = result->slow != 0;
        if (diskseq_read(device->number) != device->diskseq) {
                /* The disk was replaced while it was read, so the result may be of either one. Read it again. */
                device->again = true;
                device->announced_diskseq = 0;
                inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
                return 0;
        }
        if (result->error == -ENOENT || result->error == -ENXIO || result->error == -ENODEV ||
                result->error == -ENOMEDIUM) {
                take_removed(worker, device);
                return 0;
        }
        device->retry_usec = 0;
        if (result->error == 0)
                device->n_failed = 0;
        if (!isempty(result->pvid))
                r = take_pv(worker, device, result);
        else
                inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
        if (r < 0 || result->error == 0)
                return isempty(result->pvid) ? forget_other_pv(worker, device, "") : r;

        if (result->error != -EBADMSG) {
                /* The contents are unknown: keep the PV, as the disk was neither removed nor changed. If the reader
                 * has died, read the disk again. */
                device->again = result->error == -EPIPE;
                if (result->error == -ETIMEDOUT)
                        log_error("Timed out reading %s.", device->name);
                else if (result->error == -EFAULT)
                        log_error("Reader crashed on %s again, ignoring it.", device->name);
                else if (!device->again && inventory_retry(worker->inventory, device))
                        log_error("Failed to read %s, retrying: %s", device->name,
                                reader_describe_error(result->error));
                return 0;
        }
        report_damaged(device->name, "", "", result->reason, false);
        /* lvm2 makes no difference whether the PV was usable before. */
        if (device->group)
                inventory_lose_pv(worker->inventory, device->group, device->number);
        device->group = NULL;
        return inventory_set_pvid(worker->inventory, device, "");
}

/* ------ changed VGs ------ */

/* Removes lvm2's entries with the VG's former name, unless another VG has that name. */
static int forget_name(struct worker *worker, const struct vg_entry *group, const char *name)
{
        const struct vg_entry *other = inventory_find_named(worker->inventory, name);

        return other && (other != group || other->next_same_name) ? 0
                                                                  : online_forget_name(worker->lvm_run_fd, name);
}

static int follow_rename(struct worker *worker, struct vg_entry *group)
{
        _cleanup_free_ char *former = TAKE_PTR(group->former_name);
        int claimed, r;

        if (streq(former, group->vg->name))
                return 0;
        log_info("VG %s was renamed to %s.", former, group->vg->name);
        claimed = online_is_claimed(worker->lvm_run_fd, former);
        r = claimed > 0 && group->vg->status == VG_STATUS_ACTIVE
                    ? online_claim(worker->lvm_run_fd, group->vg->name)
                    : MIN(claimed, 0);
        r = r ?: forget_name(worker, group, former);
        if (r < 0)
                return log_error_errno(r, "Failed to rename lvm2's entries of VG %s: %m", former);
        /* The request has the former name, which nothing would find. */
        return requests_finish_group(worker, group, former);
}

static int drop_group(struct worker *worker, struct vg_entry *group)
{
        int r;

        group->state = VG_REMOVED;
        report_vg(group, VG_SAY_REMOVED);
        FOREACH_LISTED(struct expectation, expectation, &worker->expectations)
                if (expectation->group == group)
                        expectation->group = NULL;
        r = requests_finish_group(worker, group, group->vg->name);
        if (r < 0)
                return r;
        r = forget_name(worker, group, group->vg->name) ?: inventory_drop_group(worker->inventory, group);
        return r < 0 ? log_error_errno(r, "Failed to forget a VG that no longer exists: %m") : 0;
}

static int recheck(struct worker *worker, const struct dm_devices *devices, struct vg_entry *group)
{
        bool left = group->left || !inventory_has_claim(worker->inventory, group);
        int r = group->former_name ? follow_rename(worker, group) : 0;

        if (r >= 0 && group->vg->n_pvs > 1)
                r = names_write_lookup(worker->inventory, group, online_update_lookup);
        if (r >= 0)
                r = vg_take(worker, group,
                        &(struct vg_input){.event = left ? VG_REREAD_LEFT : VG_REREAD, .devices = devices});
        if (r == VG_DO_FORGET)
                return drop_group(worker, group);
        /* Dropping a VG waits until lvm2 has ended. */
        group->left &= group->needs_recheck;
        return MIN(r, 0);
}

int intake_recheck(struct worker *worker)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        struct inventory *inventory = worker->inventory;
        int r;

        if (!inventory->needs_recheck || readers_are_busy(worker->readers) ||
                inventory_has_device_before(inventory, DEVICE_READING))
                return 0;
        inventory->needs_recheck = false;
        r = vg_list_devices(&devices);
        if (r < 0)
                return r;

        FOREACH_GROUP(group, inventory) {
                if (!group->needs_recheck)
                        continue;
                /* An unresponsive device may have newer metadata. */
                if (!inventory_pvs_have_reached(inventory, group->vg, DEVICE_UNRECORDED)) {
                        inventory->needs_recheck = true;
                        continue;
                }
                group->needs_recheck = false;
                r = recheck(worker, devices, group);
                if (r < 0)
                        return r;
        }
        return 0;
}
