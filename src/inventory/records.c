/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What of the inventory is in the records, for the next worker. */

#include "inventory/inventory.h"

#include <fcntl.h>

#include "shared/log.h"
#include "shared/util.h"

/* A disk that does not answer, or a VG that takes long, must not keep all others waiting. */
#define FINDING_OUT_MAX_USEC (30 * USEC_PER_SEC)

/* ------ from the records ------ */

/* Of several VGs that name a PV, the one that it was seen in; else the one that was written down last. */
static int index_pvs(struct inventory *inventory, struct managed_group *group)
{
        for (size_t i = 0; i < group->vg->n_pvs; i++) {
                const struct volume_group_pv *pv = &group->vg->pvs[i];
                const struct managed_group *other = dm_hash_lookup(inventory->groups_by_pvid, pv->pvid);
                int r;

                if (other && pv->device == 0 && volume_group_find_pv(other->vg, pv->pvid)->device != 0)
                        continue;
                r = inventory_claim_pv(inventory, group, pv->pvid);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A record without the worker's state has the public one, and flags. */
static enum vg_state recall_state(const struct volume_group *vg)
{
        const char *words = vg->worker_state ?: volume_group_state_to_string(vg->state);
        enum vg_state state = VG_WAITING;

        if (!vg->worker_state && vg->lost_after_active)
                return vg->overdue ? VG_LOST_OVERDUE : VG_LOST;
        if (!vg->worker_state && vg->state == VOLUME_GROUP_WAITING && vg->overdue)
                return VG_OVERDUE;
        while (state < VG_FAILED && !streq(vg_state_to_string(state), words))
                state++;
        return state;
}

static int load_group(struct volume_group *vg, void *userdata)
{
        struct inventory *inventory = userdata;
        struct managed_group *group;
        int r;

        r = inventory_add_group(inventory, vg, &group);
        if (r < 0)
                return r;
        group->state = recall_state(vg);
        group->unchecked = true;
        /* The worker that had asked lvm2 is no more. */
        if (vg->state == VOLUME_GROUP_ACTIVATING)
                inventory_take(inventory, group, VG_WORKER_LOST);
        r = index_pvs(inventory, group);
        /* The caller frees it. */
        if (r < 0)
                group->vg = NULL;
        else if (!vg_state_is_settled(group->state))
                inventory_check(inventory, group);
        return r;
}

static int load_device(struct inventory *inventory, const struct record_entry *record)
{
        struct record_device known;
        struct device *device;
        int r;

        r = record_entry_parse_device(record, &known);
        if (r == -EBADMSG) {
                log_warning("The record of device %s in /run/headgate/" RECORD_FILE " is damaged.", record->key);
                inventory->records_lost = true;
        }
        if (r <= 0)
                return r == -EBADMSG ? 0 : r;
        r = inventory_get_device(inventory, known.number, &device);
        if (r < 0)
                return r;
        device->recorded = known;
        inventory_move_device(inventory, device, DEVICE_KNOWN);
        return 0;
}

static int load(struct inventory *inventory, const struct record_file *file)
{
        const struct record_entry *record;
        int r;

        dm_list_iterate_items(record, &file->records) {
                r = load_device(inventory, record);
                if (r < 0)
                        return r;
        }
        r = volume_groups_parse(file, load_group, inventory);
        inventory->records_lost |= r > 0;
        return MIN(r, 0);
}

int inventory_load(struct inventory *inventory)
{
        _cleanup_record_file_ struct record_file *file = NULL;
        const char *fault = NULL;
        int r;

        r = record_file_read(inventory->run_fd, &file);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT)
                fault = record_file_describe_error(r);
        else if (r >= 0 && !record_file_is_of_this_boot(file))
                fault = "of another boot";
        if (fault) {
                inventory->records_lost = true;
                record_file_warn(fault);
        }
        r = r < 0 || fault ? record_file_retire_former(inventory->run_fd) : load(inventory, file);
        if (r < 0)
                return r;
        inventory->lost_usec = now_usec();
        /* What is damaged is replaced with the first step. */
        inventory->changed |= inventory->records_lost;
        return record_writer_new(inventory->run_fd, inventory->records_lost ? NULL : file, &inventory->writer);
}

/* ------ to the records ------ */

static int put_groups(struct inventory *inventory, bool unchanged_too)
{
        struct managed_group *group, *next;

        FOREACH_GROUP(group, next, inventory) {
                _cleanup_free_ char *text = NULL;
                int r;

                if (!group->changed && !unchanged_too)
                        continue;
                inventory_ping(inventory);
                r = volume_group_print(group->vg, &text);
                if (r >= 0)
                        r = record_writer_put(inventory->writer, group->vg->vgid, text);
                if (r < 0)
                        return r;
                group->changed = false;
        }
        return 0;
}

static int put_devices(struct inventory *inventory)
{
        const struct device *device, *next;
        int r;

        FOREACH_DEVICE(device, next, inventory)
                if (device->recorded.pvid[0] != '\0') {
                        r = record_writer_put_device(inventory->writer, &device->recorded);
                        if (r < 0)
                                return r;
                }
        return 0;
}

uint64_t inventory_finding_out_until(const struct inventory *inventory)
{
        uint64_t until = inventory->lost_usec + FINDING_OUT_MAX_USEC;

        if (!inventory->records_lost || record_writer_appends(inventory->writer) || now_usec() >= until ||
                (!inventory_has_device_before(inventory, DEVICE_SETTLING) &&
                        dm_list_empty(&inventory->groups[VOLUME_GROUP_COMPLETE])))
                return 0;
        return until;
}

int inventory_save(struct inventory *inventory)
{
        int r = 0;

        if (!inventory->changed)
                return 0;
        if (record_writer_appends(inventory->writer)) {
                r = put_groups(inventory, false);
                if (r >= 0)
                        r = record_writer_commit(inventory->writer);
        }
        if (r >= 0 && record_writer_begin_anew(inventory->writer)) {
                r = put_devices(inventory);
                if (r >= 0)
                        r = put_groups(inventory, true);
                if (r >= 0)
                        r = record_writer_commit(inventory->writer);
        }
        inventory->changed = r < 0;
        return r;
}
