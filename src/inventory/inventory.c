/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The inventory, from the records of an earlier worker to those for the next one, and its devices: each is in the list of its
 * stage, and is found by its number and by the PV that it holds. */

#include "inventory/inventory.h"

#include <systemd/sd-daemon.h>

#include "shared/dm.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"

/* Buckets of each table: right for some thousand disks, and no more than 32 KiB. */
#define HASH_SIZE_HINT 4096

/* How often to ping: a small part of what headgate.service allows from one ping to the next, 30 s. */
#define PING_INTERVAL_USEC USEC_PER_SEC

/* By then multipathd has seen a second path, or there is none. */
#define HOLD_MAX_USEC (3 * USEC_PER_SEC)

/* A disk that does not answer, or a VG that takes long, must not keep all others waiting. */
#define FINDING_OUT_MAX_USEC (30 * USEC_PER_SEC)

void inventory_ping(struct inventory *inventory)
{
        inventory->now_usec = now_usec();
        if (inventory->now_usec < inventory->last_ping_usec + PING_INTERVAL_USEC && inventory->last_ping_usec > 0)
                return;
        inventory->last_ping_usec = inventory->now_usec;
        inventory->clock_usec = now_realtime_usec() - inventory->now_usec;
        (void) sd_notify(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=30000000");
}

/* ------ from the records of an earlier worker ------ */

/* Of several VGs that name a PV, the one that it was seen in; else the one that was written down last. */
static int index_pvs(struct inventory *inventory, struct managed_group *group)
{
        FOREACH_PV(pv, group->vg) {
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

static int load_group(struct volume_group *vg, void *userdata)
{
        /* A record without the worker's state has the public one. */
        int state = vg_state_from_string(vg->worker_state ?: volume_group_state_to_string(vg->state)), r;
        struct inventory *inventory = userdata;
        struct managed_group *group;

        r = inventory_add_group(inventory, vg, &group);
        if (r < 0)
                return r;
        group->state = state < 0 ? VG_FAILED : (enum vg_state) state;
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
        int r;

        FOREACH_RECORD(record, file) {
                r = load_device(inventory, record);
                if (r < 0)
                        return r;
        }
        r = volume_groups_parse(file, load_group, inventory);
        inventory->records_lost |= r > 0;
        return MIN(r, 0);
}

static int load_records(struct inventory *inventory)
{
        _cleanup_record_file_ struct record_file *file = NULL;
        const char *fault = NULL;
        bool first;
        int r;

        r = record_file_read(inventory->run_fd, &file);
        if (r == -ENOMEM)
                return r;
        /* Every worker writes records, and there was one if boot has finished. */
        first = r == -ENOENT && flags_is_set(inventory->run_fd, FLAGS_BOOT_FINISHED) <= 0;
        if (r < 0 && !first)
                fault = record_file_describe_error(r);
        else if (r >= 0 && !record_file_is_of_this_boot(file))
                fault = "of another boot";
        if (fault) {
                inventory->records_lost = true;
                record_file_warn(fault);
        }
        r = r < 0 || fault ? 0 : load(inventory, file);
        if (r < 0)
                return r;
        inventory->lost_usec = inventory->now_usec;
        /* What is damaged is replaced with the first step, and what is missing is written. */
        inventory->changed |= inventory->records_lost || first;
        return record_writer_new(inventory->run_fd, inventory->records_lost ? NULL : file, &inventory->writer);
}

/* ------ making and freeing ------ */

int inventory_new(int run_fd, int lvm_run_fd, struct inventory **ret)
{
        _cleanup_inventory_ struct inventory *inventory = calloc(1, sizeof(*inventory));
        int r;

        if (!inventory)
                return -ENOMEM;

        inventory_ping(inventory);
        inventory->retry_usec = USEC_INFINITY;
        inventory->run_fd = run_fd;
        inventory->lvm_run_fd = lvm_run_fd;
        for (size_t i = 0; i < _DEVICE_STAGE_MAX; i++)
                dm_list_init(&inventory->devices[i]);
        for (size_t i = 0; i < _VOLUME_GROUP_STATE_MAX; i++)
                dm_list_init(&inventory->groups[i]);

        struct dm_hash_table **const tables[] = {&inventory->groups_by_text, &inventory->devices_by_number,
                &inventory->devices_by_pvid, &inventory->groups_by_vgid, &inventory->groups_by_name,
                &inventory->groups_by_pvid};
        for (size_t i = 0; i < ELEMENTSOF(tables); i++) {
                *tables[i] = dm_hash_create(HASH_SIZE_HINT);
                if (!*tables[i])
                        return -ENOMEM;
        }

        r = load_records(inventory);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(inventory);
        return 0;
}

static void free_device(struct device *device)
{
        free(device->name);
        free(device->announced_name);
        free(device->path.wwid);
        free(device);
}

struct inventory *inventory_free(struct inventory *inventory)
{
        if (!inventory)
                return NULL;

        FOREACH_DEVICE(device, inventory)
                free_device(device);
        FOREACH_GROUP(group, inventory)
                managed_group_free(group);
        struct dm_hash_table *tables[] = {inventory->groups_by_text, inventory->devices_by_number,
                inventory->devices_by_pvid, inventory->groups_by_vgid, inventory->groups_by_name,
                inventory->groups_by_pvid};
        for (size_t i = 0; i < ELEMENTSOF(tables); i++)
                dm_hash_destroyp(&tables[i]);
        record_writer_free(inventory->writer);
        free(inventory);
        return NULL;
}

/* ------ devices ------ */

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

bool inventory_pvs_have_reached(
        const struct inventory *inventory, const struct volume_group *vg, enum device_stage stage)
{
        const struct device *device;

        return !ANY(FOREACH_PV(pv, vg),
                (device = inventory_find_device(inventory, pv->device)) && device->stage < stage);
}

bool device_is_of_complete(const struct device *device)
{
        return device->group && device->group->vg->state != VOLUME_GROUP_WAITING;
}

bool device_is_urgent(const struct device *device)
{
        return device->removed || device->slow || (device_is_of_complete(device) && device->group->awaited);
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

        if (!device->ready || device->recorded.pvid[0] != '\0' || inventory->now_usec >= device->held_until_usec)
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
                if (device->path.kind == PATH_MARKED && device->recorded.pvid[0] == '\0')
                        inventory_move_device(inventory, device, DEVICE_SETTLING);
                else if (inventory_is_undecided(inventory, device)) {
                        log_debug("Holding %s (WWID %s), which multipathd may make a path.",
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
        inventory->retry_usec = MIN(inventory->retry_usec, device->retry_usec);
        return device->n_failed++ == 0;
}

static void end_retries(struct inventory *inventory)
{
        uint64_t now = inventory->now_usec;

        if (now < inventory->retry_usec)
                return;
        inventory->retry_usec = USEC_INFINITY;
        FOREACH_DEVICE(device, inventory)
                if (device->retry_usec > now)
                        inventory->retry_usec = MIN(inventory->retry_usec, device->retry_usec);
                else if (device->retry_usec > 0) {
                        device->retry_usec = 0;
                        device->ready |= device->retry_ready;
                        inventory_read_again(inventory, device);
                }
}

uint64_t inventory_end_holds(struct inventory *inventory)
{
        uint64_t earliest;

        end_retries(inventory);
        earliest = inventory->retry_usec;
        FOREACH_LISTED(struct device, device, &inventory->devices[DEVICE_HELD])
                if (inventory->now_usec < device->held_until_usec)
                        earliest = MIN(earliest, device->held_until_usec);
                else
                        inventory_move_device(inventory, device, DEVICE_UNREAD);
        return earliest;
}

struct device *inventory_find_device_of_pv(const struct inventory *inventory, const char *pvid)
{
        return dm_hash_lookup(inventory->devices_by_pvid, pvid);
}

int inventory_set_pvid(struct inventory *inventory, struct device *device, const char *pvid)
{
        const struct record_device former = device->recorded;

        if (device->pvid[0] != '\0' && !streq(device->pvid, pvid) &&
                inventory_find_device_of_pv(inventory, device->pvid) == device)
                dm_hash_remove(inventory->devices_by_pvid, device->pvid);
        snprintf(device->pvid, sizeof(device->pvid), "%s", pvid);
        if (pvid[0] != '\0' && !inventory_find_device_of_pv(inventory, pvid) &&
                inventory_prefer_device(inventory, device) < 0)
                return -ENOMEM;

        device->recorded = (struct record_device){.number = device->number, .diskseq = device->diskseq};
        memcpy(device->recorded.pvid, device->pvid, sizeof(device->pvid));
        if (streq(former.pvid, device->pvid) && (pvid[0] == '\0' || former.diskseq == device->diskseq))
                return 0;
        inventory->changed = true;
        return record_writer_put_device(inventory->writer, &device->recorded);
}

int inventory_prefer_device(struct inventory *inventory, struct device *device)
{
        return dm_hash_insert(inventory->devices_by_pvid, device->pvid, device) ? 0 : -ENOMEM;
}

bool inventory_is_still(const struct inventory *inventory, dev_t number, const char *pvid)
{
        const struct device *device = inventory_find_device(inventory, number);
        uint64_t present;

        if (!device || device->removed || !streq(device->recorded.pvid, pvid) || !diskseq_device_exists(number))
                return false;
        present = diskseq_read(number);
        return device->recorded.diskseq == 0 || present == 0 || present == device->recorded.diskseq;
}

void inventory_drop_device(struct inventory *inventory, struct device *device)
{
        (void) inventory_set_pvid(inventory, device, "");
        dm_hash_remove_binary(inventory->devices_by_number, &device->number, sizeof(device->number));
        dm_list_del(&device->list);
        free_device(device);
}

/* ------ to the records ------ */

static int put_groups(struct inventory *inventory, bool unchanged_too)
{
        FOREACH_GROUP(group, inventory) {
                _cleanup_free_ char *text = NULL;
                int r;

                if (!group->changed && !unchanged_too)
                        continue;
                r = volume_group_print(group->vg, &text)
                            ?: record_writer_put(inventory->writer, group->vg->vgid, text);
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
                if (r >= 0 && device->recorded.pvid[0] != '\0')
                        r = record_writer_put_device(inventory->writer, &device->recorded);
        return r;
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
        if (record_writer_appends(inventory->writer))
                r = put_groups(inventory, false) ?: record_writer_commit(inventory->writer);
        if (r >= 0 && record_writer_begin_anew(inventory->writer))
                r = put_devices(inventory)
                        ?: put_groups(inventory, true)
                        ?: record_writer_commit(inventory->writer);
        inventory->changed = r < 0;
        return r;
}
