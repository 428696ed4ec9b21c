/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/intake.h"

#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"

void intake_complete(struct worker *worker, struct managed_group *group)
{
        struct expectation *expectation = expectations_find(worker->expectations, group->volume_group->name);

        /* Whatever its backup says of PVs that are to come. */
        if (expectation)
                expectations_take(worker->expectations, expectation);
        group->volume_group->complete_usec = now_usec();
        /* Another time: it did not take from then till now. */
        if (group->volume_group->settled_usec > group->volume_group->first_seen_usec)
                group->volume_group->first_seen_usec = group->volume_group->complete_usec;
        inventory_set_state(worker->inventory, group, VOLUME_GROUP_COMPLETE);
        report_complete(group->volume_group);
}

void intake_tell_loss(struct managed_group *group)
{
        struct volume_group *volume_group = group->volume_group;

        if (!group->lost_pv || volume_group->state != VOLUME_GROUP_WAITING)
                return;
        group->lost_pv = false;
        if (volume_group_count_seen(volume_group) < volume_group->n_pvs)
                report_incomplete(volume_group);
}

static void lose_pv(struct worker *worker, struct managed_group *group, dev_t number)
{
        inventory_lose_pv(worker->inventory, group, number);
        intake_tell_loss(group);
}

static void settle_device(struct worker *worker, struct device *device)
{
        inventory_move_device(worker->inventory, device, DEVICE_SETTLING);
}

/* If the device was never known to hold a PV, there is nothing to forget: the request is dropped. */
static int take_gone(struct worker *worker, struct device *device)
{
        struct managed_group *group = device->group;
        char pvid[LVM_ID_SIZE];

        if (inventory_recall_pvid(worker->inventory, device->number, pvid) < 0) {
                settle_device(worker, device);
                return 0;
        }

        if (!group && inventory_find_group_of_pv(worker->inventory, pvid, &group) < 0)
                group = NULL;
        if (group)
                lose_pv(worker, group, device->number);
        log_debug("%s has gone.", device->name ?: "A device with a PV");
        device->gone = true;
        inventory_move_device(worker->inventory, device, DEVICE_UNRECORDED);
        return 0;
}

/* Once all PVs are seen, lvm2 is asked, unless it was asked before and nothing has happened since. */
static void judge_group(struct worker *worker, struct managed_group *group, bool news)
{
        struct volume_group *volume_group = group->volume_group;

        if (volume_group_count_seen(volume_group) < volume_group->n_pvs) {
                /* Newer metadata may have come, with one PV more. */
                if (volume_group->state == VOLUME_GROUP_COMPLETE)
                        inventory_set_state(worker->inventory, group, VOLUME_GROUP_WAITING);
                return;
        }

        /* As with lvm2's own rule, an event for a VG that was deactivated since, or did not come up, has it tried
         * anew. */
        if (volume_group->state == VOLUME_GROUP_WAITING ||
                (news && volume_group_is_settled(volume_group) &&
                        online_is_claimed(worker->lvm_run_fd, volume_group->name) == 0))
                intake_complete(worker, group);
}

/* Whether `device` may be the PV, no other device being it. */
static bool is_only_device_of_pv(
        const struct worker *worker, const struct device *device, const struct volume_group_pv *pv)
{
        const struct device *other;

        if (pv->device == 0 || pv->device == device->number)
                return true;
        other = inventory_find_device(worker->inventory, pv->device);
        /* One that is not in memory was there when the VG's file was read, and nobody has said that it went. */
        return other && (other->gone || !streq(other->pvid, pv->pvid));
}

static void note_awaited(struct worker *worker, struct managed_group *group)
{
        struct expectation *expectation = expectations_find(worker->expectations, group->volume_group->name);

        if (!expectation || expectation->group)
                return;
        expectation->group = group;
        group->awaited = true;
}

static int join_group(struct worker *worker, struct device *device, struct managed_group *group)
{
        struct volume_group_pv *pv = volume_group_find_pv(group->volume_group, device->pvid);
        char *name;

        if (!pv) {
                report_outdated(group->volume_group, device->pvid, device->name);
                settle_device(worker, device);
                return 0;
        }
        if (!is_only_device_of_pv(worker, device, pv)) {
                report_duplicate(group->volume_group, pv->pvid, pv->device_name ?: "another device", device->name);
                settle_device(worker, device);
                return 0;
        }

        name = strdup(device->name);
        if (!name)
                return -ENOMEM;
        free(pv->device_name);
        pv->device_name = name;
        pv->device = device->number;
        device->group = group;
        inventory_note_change(worker->inventory, group);
        note_awaited(worker, group);
        if (group->volume_group->n_pvs > 1 && volume_group_count_seen(group->volume_group) == 1)
                report_seen(group->volume_group, device->name);
        judge_group(worker, group, device->news);
        return 0;
}

/* What one copy of the metadata tells: a VG, or why it does not. */
struct verdict {
        struct managed_group *group; /* NULL if the copy is damaged, or in a text that was known and is no more */
        const char *damage;          /* NULL if it is not damaged */
        char *name;                  /* of the VG, as far as a damaged text tells, or NULL */
};

static int judge_copy(struct worker *worker, const struct reader_copy *copy, struct verdict *ret)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        const char *reason = copy->reason;
        int r;

        if (copy->error == 0 && !copy->text) {
                ret->group = inventory_find_text(worker->inventory, copy->size, copy->checksum);
                return 0;
        }

        r = copy->error == 0 ? metadata_parse(copy->text, &metadata, &reason) : copy->error;
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                ret->damage = r == -EBADMSG ? reason : strerror(-r);
                r = copy->text ? metadata_guess_name(copy->text, &ret->name) : 0;
                return r == -ENOMEM ? r : 0;
        }

        r = inventory_add_metadata(worker->inventory, metadata, &ret->group);
        return r < 0 ? r : inventory_add_text(worker->inventory, copy->size, copy->checksum, ret->group);
}

/* Which VG the metadata on the device tells of; NULL if none does. Damaged copies are reported. */
static int judge_copies(struct worker *worker, const struct device *device, const struct reader_result *result,
        struct managed_group **ret)
{
        struct verdict verdicts[LABEL_METADATA_AREAS_MAX] = {};
        struct managed_group *group = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < result->n_copies; i++) {
                r = judge_copy(worker, &result->copies[i], &verdicts[i]);
                /* Two copies that differ tell of the same VG, unless somebody copied parts of disks: the newer one
                 * counts. */
                if (verdicts[i].group &&
                        (!group || verdicts[i].group->volume_group->seqno > group->volume_group->seqno))
                        group = verdicts[i].group;
        }

        for (size_t i = 0; i < result->n_copies; i++) {
                if (r >= 0 && verdicts[i].damage)
                        report_damaged(
                                device->name, device->pvid, verdicts[i].name, verdicts[i].damage, group != NULL);
                free(verdicts[i].name);
        }
        *ret = group;
        return r;
}

/* Another disk has come as the same device before anybody noticed that the first one went. */
static int forget_former_pv(struct worker *worker, const struct device *device, const char *pvid)
{
        struct managed_group *group;
        char former[LVM_ID_SIZE];

        if (inventory_recall_pvid(worker->inventory, device->number, former) < 0 || streq(former, pvid))
                return 0;
        if (inventory_find_group_of_pv(worker->inventory, former, &group) < 0)
                return online_forget(worker->lvm_run_fd, former, NULL);
        lose_pv(worker, group, device->number);
        return online_forget(worker->lvm_run_fd, former, group->volume_group->name);
}

static int take_pv(struct worker *worker, struct device *device, const struct reader_result *result)
{
        struct managed_group *group = NULL;
        dev_t recorded;
        int r;

        device->group = NULL;
        r = forget_former_pv(worker, device, result->pvid);
        if (r < 0)
                return log_error_errno(r, "Failed to forget what %s was before: %m", device->name);
        r = inventory_set_pvid(worker->inventory, device, result->pvid);
        if (r < 0)
                return r;

        r = judge_copies(worker, device, result, &group);
        if (r < 0)
                return r;
        if (!group && inventory_find_group_of_pv(worker->inventory, device->pvid, &group) < 0)
                group = NULL;

        /* Where lvm2 recorded it as a device that is no more, it would take this one for a duplicate. */
        r = online_read_pv(worker->lvm_run_fd, device->pvid, &recorded);
        if (r == ONLINE_FOUND && recorded != device->number && !inventory_device_exists(recorded)) {
                r = online_forget(worker->lvm_run_fd, device->pvid, group ? group->volume_group->name : NULL);
                if (r < 0)
                        return log_error_errno(r, "Failed to remove lvm2's stale record of %s: %m", device->name);
        }

        inventory_move_device(worker->inventory, device,
                r == ONLINE_FOUND && recorded == device->number ? DEVICE_SETTLING : DEVICE_UNRECORDED);
        return group ? join_group(worker, device, group) : 0;
}

static bool means_gone(int error)
{
        return error == -ENOENT || error == -ENXIO || error == -ENODEV || error == -ENOMEDIUM;
}

/* The device is there and holds no PV that we can use. Whether it did before is all the same to lvm2, which is not
 * told. */
static int take_no_pv(struct worker *worker, struct device *device)
{
        if (device->group)
                lose_pv(worker, device->group, device->number);
        device->group = NULL;
        settle_device(worker, device);
        return inventory_set_pvid(worker->inventory, device, "");
}

int intake_prepare(struct worker *worker, enum device_stage stage)
{
        struct device *device, *next;

        dm_list_iterate_items_safe(device, next, &worker->inventory->devices[stage]) {
                char *name;
                int r;

                r = uevents_get_device_name(worker->uevents, device->number, &name);
                if (r == -ENOENT)
                        r = take_gone(worker, device);
                else if (r >= 0) {
                        free(device->name);
                        device->name = name;
                        device->gone = false;
                        inventory_move_device(worker->inventory, device, DEVICE_READING);
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

int intake_result(struct worker *worker, const struct reader_result *result)
{
        struct device *device = inventory_find_device(worker->inventory, result->device);

        if (!device)
                return 0;
        if (means_gone(result->error))
                return take_gone(worker, device);
        if (result->error == 0 && result->pvid[0] != '\0')
                return take_pv(worker, device, result);

        if (result->error == -EBADMSG)
                report_damaged(device->name, "", NULL, result->reason, false);
        else if (result->error == -EPIPE) {
                /* The reader died, not the device. Looking again is all that can be done. */
                device->again = true;
        } else if (result->error < 0)
                (void) log_error_errno(result->error, "Failed to read %s, leaving it alone: %m", device->name);
        return take_no_pv(worker, device);
}
