/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The VGs of the inventory and their PVs. */

#include "inventory/inventory.h"

#include "lvm/online.h"
#include "shared/util.h"

/* ------ states ------ */

/* The states as named in headgated(8), each with the status that commands show. */
static const struct {
        const char *words;
        enum vg_status status;
        bool overdue;
        bool lost_after_active;
} states[_VG_STATE_MAX] = {
        [VG_WAITING] = {"waiting", VG_STATUS_WAITING},
        [VG_OVERDUE] = {"waiting, overdue", VG_STATUS_WAITING, .overdue = true},
        [VG_LOST] = {"waiting, lost", VG_STATUS_WAITING, .lost_after_active = true},
        [VG_LOST_OVERDUE] = {"waiting, lost and overdue", VG_STATUS_WAITING, true, true},
        [VG_COMPLETE] = {"complete", VG_STATUS_COMPLETE},
        [VG_COMPLETE_ALONE] = {"complete, alone", VG_STATUS_COMPLETE},
        [VG_DUE] = {"complete, due", VG_STATUS_COMPLETE, .overdue = true},
        [VG_DEGRADED_DUE] = {"complete, due again", VG_STATUS_COMPLETE, .overdue = true},
        [VG_ACTIVATING] = {"activating", VG_STATUS_ACTIVATING},
        [VG_ACTIVATING_DEGRADED] = {"activating degraded", VG_STATUS_ACTIVATING, .overdue = true},
        [VG_ACTIVE] = {"active", VG_STATUS_ACTIVE},
        [VG_DEGRADED] = {"degraded", VG_STATUS_DEGRADED, .overdue = true},
        [VG_DEGRADED_RETRY] = {"degraded, retry", VG_STATUS_DEGRADED},
        [VG_DEGRADED_COMPLETE] = {"degraded, complete", VG_STATUS_DEGRADED},
        [VG_SKIPPED] = {"skipped", VG_STATUS_SKIPPED},
        [VG_FAILED] = {"failed", VG_STATUS_FAILED},
        [VG_REMOVED] = {"removed"},
};

const char *vg_state_to_string(enum vg_state state)
{
        return states[state].words;
}

int vg_state_from_string(const char *words)
{
        for (int state = 0; state < _VG_STATE_SETTABLE; state++)
                if (streq(states[state].words, words))
                        return state;
        return -EBADMSG;
}

void vg_state_enter(struct vg *vg, enum vg_state state)
{
        if (state == VG_REMOVED)
                return;
        vg->worker_state = states[state].words;
        vg->status = states[state].status;
        vg->overdue = states[state].overdue;
        vg->lost_after_active = states[state].lost_after_active;
}

/* ------ VGs ------ */

void vg_entry_free(struct vg_entry *group)
{
        vg_free(group->vg);
        free(group->refusal);
        free(group->former_name);
        vg_free(group->older);
        free(group);
}

void vg_entry_forget_refusal(struct vg_entry *group, dev_t number)
{
        if (group->refused != number)
                return;
        free(TAKE_PTR(group->refusal));
        group->refused = 0;
}

int vg_entry_note_refusal(struct vg_entry *group, dev_t number, char *refusal)
{
        group->refused = number;
        return string_replace(&group->refusal, refusal);
}

void inventory_note_change(struct inventory *inventory, struct vg_entry *group)
{
        group->changed = inventory->changed = true;
}

void inventory_enter(struct inventory *inventory, struct vg_entry *group, const struct vg_step *step)
{
        struct vg *vg = group->vg;
        enum vg_state former = group->state;

        group->state = step->state;
        vg_state_enter(vg, step->state);
        vg->clock_usec = inventory->clock_usec;
        if (step->effects & VG_EFFECT_DEADLINE)
                vg->first_seen_usec = inventory->now_usec;
        /* Keep it during activation: RAIDs may still be degraded if the PV is lost again. */
        if (vg_state_is_waiting(step->state) && former != VG_ACTIVATING)
                vg->degraded_usec = 0;
        if (vg->status != VG_STATUS_ACTIVATING)
                group->job = NULL;
        group->lost_pv |= step->report == VG_SAY_LOST;
        vg->lost_pv |= step->report == VG_SAY_LOST;
        inventory->lost_pvs |= group->lost_pv && vg->status == VG_STATUS_WAITING;
        inventory_note_change(inventory, group);
        dm_list_del(&group->list);
        (group->awaited ? dm_list_add_h : dm_list_add)(&inventory->groups[vg->status], &group->list);
}

void inventory_take(struct inventory *inventory, struct vg_entry *group, enum vg_event event)
{
        const struct vg_facts facts = {.pvs = VG_PVS_SOME};
        struct vg_step step = vg_next(group->state, event, &facts);

        inventory_enter(inventory, group, &step);
}

void inventory_recheck(struct inventory *inventory, struct vg_entry *group)
{
        group->needs_recheck = inventory->needs_recheck = true;
}

/* ------ texts ------ */

static bool is_text(const struct text_id *text, const struct text_id *other)
{
        return text->size > 0 && text->size == other->size && text->checksum == other->checksum;
}

static void forget_older(struct vg_entry *group)
{
        group->older_text = (struct text_id){};
        group->older = vg_free(group->older);
}

void vg_entry_note_older(struct vg_entry *group, struct vg *metadata, const struct text_id *text)
{
        _cleanup_vg_ struct vg *owned = metadata;

        if (group->older && group->older->seqno >= metadata->seqno)
                return;
        SWAP(group->older, owned);
        group->older_text = *text;
}

struct vg_entry *inventory_find_text(
        const struct inventory *inventory, const struct text_id *text, uint64_t *ret_seqno)
{
        FOREACH_GROUP(group, inventory) {
                bool is_older = is_text(text, &group->older_text);

                if (!is_older && !is_text(text, &group->text))
                        continue;
                *ret_seqno = is_older ? group->older->seqno : group->vg->seqno;
                return group;
        }
        return NULL;
}

/* ------ names: VGs with the same name are linked ------ */

struct vg_entry *inventory_find_named(const struct inventory *inventory, const char *name)
{
        return dm_hash_lookup(inventory->groups_by_name, name);
}

/* Add the VG to the index of names, or remove it, after and before its name changes. Both return 0 or -ENOMEM. */
static int name_group(struct inventory *inventory, struct vg_entry *group)
{
        const char *name = group->vg->name;

        group->next_same_name = inventory_find_named(inventory, name);
        return dm_hash_insert(inventory->groups_by_name, name, group) ? 0 : -ENOMEM;
}

static int unname_group(struct inventory *inventory, struct vg_entry *group)
{
        const char *name = group->vg->name;
        struct vg_entry *first = inventory_find_named(inventory, name), **place = &first;

        while (*place != group)
                place = &(*place)->next_same_name;
        *place = TAKE_PTR(group->next_same_name);
        if (first)
                return dm_hash_insert(inventory->groups_by_name, name, first) ? 0 : -ENOMEM;
        dm_hash_remove(inventory->groups_by_name, name);
        return 0;
}

/* ------ PVs and their VGs ------ */

int inventory_claim_pv(struct inventory *inventory, struct vg_entry *group, const char *pvid)
{
        return dm_hash_insert(inventory->groups_by_pvid, pvid, group) ? 0 : -ENOMEM;
}

bool inventory_has_claim(const struct inventory *inventory, const struct vg_entry *group)
{
        return ANY(FOREACH_PV(pv, group->vg), dm_hash_lookup(inventory->groups_by_pvid, pv->pvid) == group);
}

/* Detaches its PVs from the VG. */
static void disclaim_pvs(struct inventory *inventory, const struct vg_entry *group)
{
        FOREACH_PV(pv, group->vg)
                if (dm_hash_lookup(inventory->groups_by_pvid, pv->pvid) == group)
                        dm_hash_remove(inventory->groups_by_pvid, pv->pvid);
}

int inventory_add_group(struct inventory *inventory, struct vg *vg, struct vg_entry **ret)
{
        struct vg_entry *group = calloc(1, sizeof(*group));

        if (!group)
                return -ENOMEM;

        group->vg = vg;
        if (!dm_hash_insert(inventory->groups_by_vgid, vg->vgid, group) || name_group(inventory, group) < 0) {
                dm_hash_remove(inventory->groups_by_vgid, vg->vgid);
                free(group);
                return -ENOMEM;
        }
        dm_list_add(&inventory->groups[vg->status], &group->list);
        *ret = group;
        return 0;
}

/* Disks may have been replaced while no worker ran. Checked on first use, so that a worker starts quickly. */
struct vg_entry *inventory_check(struct inventory *inventory, struct vg_entry *group)
{
        if (group && group->unchecked) {
                group->unchecked = false;
                inventory_lose_absent_pvs(inventory, group);
        }
        return group;
}

struct vg_entry *inventory_find_group(struct inventory *inventory, const char *vgid)
{
        return inventory_check(inventory, dm_hash_lookup(inventory->groups_by_vgid, vgid));
}

struct vg_entry *inventory_find_group_of_pv(struct inventory *inventory, const char *pvid)
{
        struct vg_entry *group = dm_hash_lookup(inventory->groups_by_pvid, pvid);

        return group && vg_find_pv(group->vg, pvid) ? inventory_check(inventory, group) : NULL;
}

static void forget_pv(struct inventory *inventory, struct vg_entry *group, struct vg_pv *pv)
{
        vg_entry_forget_refusal(group, pv->device);
        pv->device = 0;
        pv->late_usec = 0;
        group->text = (struct text_id){};
        forget_older(group);
        inventory_note_change(inventory, group);
}

void inventory_lose_pv(struct inventory *inventory, struct vg_entry *group, dev_t number)
{
        FOREACH_PV(pv, group->vg) {
                if (pv->device != number)
                        continue;
                forget_pv(inventory, group, pv);
                group->vg->lost_pv = group->may_be_gone = inventory->lost_pvs = true;
                inventory_take(inventory, group, VG_PV_REMOVED);
        }
}

void inventory_lose_absent_pvs(struct inventory *inventory, struct vg_entry *group)
{
        FOREACH_PV(pv, group->vg)
                if (pv->device != 0 && !inventory_is_still(inventory, pv->device, pv->pvid))
                        inventory_lose_pv(inventory, group, pv->device);
}

/* Queues the PV to be read again, to find its VG. */
static int reread_pv(struct inventory *inventory, struct vg_entry *group, const struct vg_pv *pv)
{
        struct device *device;
        int r = inventory_get_device(inventory, pv->device, &device);

        if (r < 0)
                return r;
        /* If it has left this VG, take_pv() has to know that. */
        if (!device->group)
                device->group = group;
        inventory_read_again(inventory, device);
        return 0;
}

int inventory_leave_group(struct inventory *inventory, struct vg_entry *group, dev_t number, const char *pvid)
{
        struct vg_pv *pv = vg_find_pv(group->vg, pvid);
        int r = 0;

        if (!pv || (pv->device != number && pv->device != 0))
                return 0;
        forget_pv(inventory, group, pv);
        group->left = true;
        inventory_recheck(inventory, group);
        FOREACH_PV(other, group->vg)
                if (r >= 0 && other->device != 0)
                        r = reread_pv(inventory, group, other);
        return r;
}

int inventory_move_pv(struct inventory *inventory, struct device *device, struct vg_entry *former,
        struct vg_entry *owner, struct vg_entry *group)
{
        int r = group && vg_find_pv(group->vg, device->pvid) ? inventory_claim_pv(inventory, group, device->pvid)
                                                             : 0;

        if (r >= 0 && former && former != group)
                r = inventory_leave_group(inventory, former, device->number, device->pvid);
        if (r >= 0 && owner && owner != group)
                r = inventory_leave_group(inventory, owner, device->number, device->pvid);
        device->group = NULL;
        return r;
}

/* A PV without metadata may have appeared, and be known to headgate or to lvm2 alone, long before the VG was. */
static void find_pv_seen_before(struct inventory *inventory, struct vg_entry *group, struct vg_pv *pv)
{
        struct device *device = inventory_find_device_of_pv(inventory, pv->pvid);
        dev_t number;

        if (device && (!device->group || device->group == group)) {
                device->group = group;
                pv->device = device->number;
        } else if (!device) {
                number = online_find_pv(inventory->lvm_run_fd, pv->pvid);
                if (inventory_is_still(inventory, number, pv->pvid))
                        pv->device = number;
        }
}

/* The metadata of this VG lists the PVs now. PVs that were in another VG are read again. */
static int take_over_pvs(struct inventory *inventory, struct vg_entry *group)
{
        inventory_note_change(inventory, group);
        FOREACH_PV(pv, group->vg) {
                struct vg_entry *former = inventory_find_group_of_pv(inventory, pv->pvid);
                const struct vg_pv *before = former && former != group ? vg_find_pv(former->vg, pv->pvid) : NULL;
                int r = (before && before->device != 0 ? reread_pv(inventory, former, before) : 0)
                                ?: inventory_claim_pv(inventory, group, pv->pvid);

                if (r < 0)
                        return r;
                if (before)
                        inventory_recheck(inventory, former);
                if (pv->device == 0)
                        find_pv_seen_before(inventory, group, pv);
        }
        return 0;
}

static int update_group(struct inventory *inventory, struct vg_entry *group, struct vg *metadata)
{
        struct vg *vg = group->vg;

        /* take_over_pvs() claims those again that it still has. */
        disclaim_pvs(inventory, group);
        if (!group->former_name && !streq(vg->name, metadata->name)) {
                group->former_name = strdup(vg->name);
                if (!group->former_name)
                        return -ENOMEM;
        }
        /* A reason from the old metadata is no longer valid. */
        if (vg->skip_reason && vg->reason && streq(vg->reason, vg->skip_reason))
                free(TAKE_PTR(vg->reason));
        inventory_recheck(inventory, group);
        return unname_group(inventory, group)
                ?: vg_update(vg, metadata)
                ?: name_group(inventory, group)
                ?: take_over_pvs(inventory, group);
}

/* Whether a present device has, or may have, metadata of the VG that is newer than `seqno`. */
static int has_newer_metadata(struct inventory *inventory, struct vg_entry *group, uint64_t seqno)
{
        const struct vg *vg = group->vg;

        FOREACH_PV(pv, vg) {
                const struct device *device = inventory_find_device(inventory, pv->device);

                if (device && !device->removed &&
                        (device->seqno > seqno || (device->seqno == 0 && device->stage <= DEVICE_READING)))
                        return true;
                if (pv->device != 0 && (!device || (!device->name && device->seqno == 0)))
                        return reread_pv(inventory, group, pv) ?: true;
        }
        return false;
}

int inventory_roll_back(struct inventory *inventory, struct vg_entry *group)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        int r;

        if (!group->older)
                return 0;
        r = has_newer_metadata(inventory, group, group->older->seqno);
        if (r != 0)
                return MIN(r, 0);
        metadata = TAKE_PTR(group->older);
        group->text = TAKE_STRUCT(group->older_text);
        r = update_group(inventory, group, metadata);
        return r < 0 ? r : 1;
}

int inventory_add_metadata(struct inventory *inventory, struct vg **metadata, struct vg_entry **ret)
{
        struct vg *vg = *metadata;
        int r;

        *ret = inventory_find_group(inventory, vg->vgid);
        if (*ret) {
                if (vg->seqno <= (*ret)->vg->seqno)
                        return 0;
                forget_older(*ret);
                return update_group(inventory, *ret, vg);
        }
        vg->first_seen_usec = inventory->now_usec;
        vg->clock_usec = inventory->clock_usec;
        r = inventory_add_group(inventory, vg, ret);
        if (r < 0)
                return r;
        *metadata = NULL;
        return take_over_pvs(inventory, *ret);
}

int inventory_drop_group(struct inventory *inventory, struct vg_entry *group)
{
        struct vg *vg = group->vg;
        int r;

        FOREACH_DEVICE(device, inventory)
                if (device->group == group)
                        device->group = NULL;
        disclaim_pvs(inventory, group);
        inventory->changed = true;
        r = record_writer_put(inventory->writer, vg->vgid, "") ?: unname_group(inventory, group);

        dm_hash_remove(inventory->groups_by_vgid, vg->vgid);
        dm_list_del(&group->list);
        vg_entry_free(group);
        return r;
}
