/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The inventory as a whole: loads it from the records of an earlier worker, and saves it for the next one. */

#include "inventory/inventory.h"

#include "shared/dm.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"

/* Buckets of each table, for some thousand disks; 32 KiB at most. */
#define HASH_SIZE_HINT 4096

/* An unresponsive disk or a slow VG must not delay all others. */
#define FINDING_OUT_MAX_USEC (30 * USEC_PER_SEC)

/* ------ loading ------ */

/* If several VGs list a PV, the one in which it was seen counts; else the last one in the file. */
static int index_pvs(struct inventory *inventory, struct vg_entry *group)
{
        FOREACH_PV(pv, group->vg) {
                const struct vg_entry *other = dm_hash_lookup(inventory->groups_by_pvid, pv->pvid);
                int r;

                if (other && pv->device == 0 && vg_find_pv(other->vg, pv->pvid)->device != 0)
                        continue;
                r = inventory_claim_pv(inventory, group, pv->pvid);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int load_device(struct inventory *inventory, const struct record_entry *record)
{
        struct record_device known;
        struct device *device;
        int r = record_entry_parse_device(record, &known);

        if (r == -EBADMSG)
                log_warning("Record of device %s in /run/headgate/" RECORD_FILE " is damaged, ignoring it.",
                        record->key);
        if (r <= 0)
                return r;
        r = inventory_get_device(inventory, known.number, &device);
        if (r < 0)
                return r;
        device->recorded = known;
        inventory_move_device(inventory, device, DEVICE_KNOWN);
        return 0;
}

static int load_group(struct inventory *inventory, const struct record_entry *record)
{
        _cleanup_vg_ struct vg *vg = NULL;
        struct vg_entry *group;
        int r = record_entry_parse_vg(record, &vg);

        if (r <= 0)
                return r;
        r = inventory_add_group(inventory, vg, &group);
        if (r < 0)
                return r;
        group->state = (enum vg_state) vg_state_from_string(TAKE_PTR(vg)->worker_state);
        group->unchecked = true;
        /* The worker that started vgchange has ended. */
        if (group->vg->status == VG_STATUS_ACTIVATING)
                inventory_take(inventory, group, VG_WORKER_LOST);
        r = index_pvs(inventory, group);
        if (r >= 0 && !vg_state_is_settled(group->state))
                inventory_check(inventory, group);
        return r;
}

static int load(struct inventory *inventory, const struct record_file *file)
{
        /* inventory_check() of a VG needs all devices. */
        static int (*const loaders[])(struct inventory *, const struct record_entry *) = {load_device, load_group};

        FOREACH_ELEMENT(load_record, loaders)
                FOREACH_RECORD(record, file) {
                        int r = (*load_record)(inventory, record);

                        if (r < 0 && r != -EBADMSG)
                                return r;
                        inventory->records_lost |= r < 0;
                }
        return 0;
}

static int load_records(struct inventory *inventory, int run_fd)
{
        _cleanup_record_file_ struct record_file *file = NULL;
        bool first;
        int r = record_file_read(run_fd, &file);

        if (r == -ENOMEM)
                return r;
        if (r >= 0 && !record_file_is_of_this_boot(file))
                r = -ESTALE;
        /* Every worker writes records, and a worker has run if boot has finished. */
        first = r == -ENOENT && flags_is_set(run_fd, FLAGS_BOOT_FINISHED) <= 0;
        inventory->records_lost = r < 0 && !first;
        if (inventory->records_lost)
                record_file_warn(r);
        r = r < 0 ? 0 : load(inventory, file);
        if (r < 0)
                return r;
        inventory->lost_usec = inventory->now_usec;
        /* The first step replaces damaged records, and writes missing ones. */
        inventory->changed |= inventory->records_lost || first;
        return record_writer_new(run_fd, inventory->records_lost ? NULL : file, &inventory->writer);
}

/* ------ creating and freeing ------ */

int inventory_new(int run_fd, int lvm_run_fd, struct inventory **ret)
{
        _cleanup_inventory_ struct inventory *inventory = calloc(1, sizeof(*inventory));
        int r;

        if (!inventory)
                return -ENOMEM;

        inventory_ping(inventory);
        inventory->retry_usec = USEC_INFINITY;
        inventory->lvm_run_fd = lvm_run_fd;
        FOREACH_ELEMENT(list, inventory->devices)
                dm_list_init(list);
        FOREACH_ELEMENT(list, inventory->groups)
                dm_list_init(list);

        struct dm_hash_table **const tables[] = {&inventory->devices_by_number, &inventory->groups_by_vgid,
                &inventory->groups_by_name, &inventory->groups_by_pvid};
        FOREACH_ELEMENT(table, tables) {
                **table = dm_hash_create(HASH_SIZE_HINT);
                if (!**table)
                        return -ENOMEM;
        }

        r = load_records(inventory, run_fd);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(inventory);
        return 0;
}

struct inventory *inventory_free(struct inventory *inventory)
{
        if (!inventory)
                return NULL;

        FOREACH_DEVICE(device, inventory)
                device_free(device);
        FOREACH_GROUP(group, inventory)
                vg_entry_free(group);
        struct dm_hash_table *tables[] = {inventory->devices_by_number, inventory->groups_by_vgid,
                inventory->groups_by_name, inventory->groups_by_pvid};
        FOREACH_ELEMENT(table, tables)
                dm_hash_destroyp(table);
        record_writer_free(inventory->writer);
        free(inventory);
        return NULL;
}

/* ------ saving ------ */

static int put_groups(struct inventory *inventory, bool unchanged_too)
{
        FOREACH_GROUP(group, inventory) {
                _cleanup_free_ char *text = NULL;
                int r;

                if (!group->changed && !unchanged_too)
                        continue;
                r = vg_print(group->vg, &text) ?: record_writer_put(inventory->writer, group->vg->vgid, text);
                if (r < 0)
                        return r;
                group->changed = false;
        }
        return 0;
}

static int put_devices(struct inventory *inventory)
{
        int r = 0;

        FOREACH_DEVICE(device, inventory)
                if (r >= 0 && !isempty(device->recorded.pvid))
                        r = record_writer_put_device(inventory->writer, &device->recorded);
        return r;
}

uint64_t inventory_finding_out_until(const struct inventory *inventory)
{
        uint64_t until = inventory->lost_usec + FINDING_OUT_MAX_USEC;

        if (!inventory->records_lost || record_writer_appends(inventory->writer) || now_usec() >= until ||
                (!inventory_has_device_before(inventory, DEVICE_SETTLING) &&
                        dm_list_empty(&inventory->groups[VG_STATUS_COMPLETE])))
                return 0;
        return until;
}

int inventory_save(struct inventory *inventory)
{
        int r = 0;

        if (!inventory->changed)
                return 0;
        if (record_writer_appends(inventory->writer))
                r = put_groups(inventory, false) ?: record_writer_commit(inventory->writer);
        if (r >= 0 && record_writer_begin_anew(inventory->writer))
                r = put_devices(inventory)
                        ?: put_groups(inventory, true)
                        ?: record_writer_commit(inventory->writer);
        inventory->changed = r < 0;
        return r;
}
