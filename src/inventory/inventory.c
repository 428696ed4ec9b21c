/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The devices of the inventory: each is in the list of its stage, and is found by its number and by the PV that it holds. */

#include "inventory/inventory.h"

#include <systemd/sd-daemon.h>

#include "shared/util.h"

/* Buckets of each table: right for some thousand disks, and no more than 32 KiB. */
#define HASH_SIZE_HINT 4096

/* How often to ping: a small part of what headgate.service allows from one ping to the next, 30 s. */
#define PING_INTERVAL_USEC USEC_PER_SEC

void inventory_ping(struct inventory *inventory)
{
        uint64_t now = now_usec();

        if (now < inventory->last_ping_usec + PING_INTERVAL_USEC)
                return;
        inventory->last_ping_usec = now;
        (void) sd_notify(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=30000000");
}

int inventory_new(int run_fd, int lvm_run_fd, struct inventory **ret)
{
        _cleanup_inventory_ struct inventory *inventory = calloc(1, sizeof(*inventory));
        int r;

        if (!inventory)
                return -ENOMEM;

        inventory->run_fd = run_fd;
        inventory->lvm_run_fd = lvm_run_fd;
        for (size_t i = 0; i < _DEVICE_STAGE_MAX; i++)
                dm_list_init(&inventory->devices[i]);
        for (size_t i = 0; i < _VOLUME_GROUP_STATE_MAX; i++)
                dm_list_init(&inventory->groups[i]);

        inventory->devices_by_number = dm_hash_create(HASH_SIZE_HINT);
        inventory->devices_by_pvid = dm_hash_create(HASH_SIZE_HINT);
        inventory->groups_by_vgid = dm_hash_create(HASH_SIZE_HINT);
        inventory->groups_by_name = dm_hash_create(HASH_SIZE_HINT);
        inventory->groups_by_pvid = dm_hash_create(HASH_SIZE_HINT);
        inventory->groups_by_text = dm_hash_create(HASH_SIZE_HINT);
        if (!inventory->devices_by_number || !inventory->devices_by_pvid || !inventory->groups_by_vgid ||
                !inventory->groups_by_name || !inventory->groups_by_pvid || !inventory->groups_by_text)
                return -ENOMEM;

        r = inventory_load(inventory);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(inventory);
        return 0;
}

static void free_device(struct device *device)
{
        free(device->name);
        free(device->announced_name);
        free(device);
}

struct inventory *inventory_free(struct inventory *inventory)
{
        struct device *device, *next_device;
        struct managed_group *group, *next_group;

        if (!inventory)
                return NULL;

        FOREACH_DEVICE(device, next_device, inventory)
                free_device(device);
        FOREACH_GROUP(group, next_group, inventory)
                managed_group_free(group);
        struct dm_hash_table *const tables[] = {inventory->groups_by_text, inventory->devices_by_number,
                inventory->devices_by_pvid, inventory->groups_by_vgid, inventory->groups_by_name,
                inventory->groups_by_pvid};
        for (size_t i = 0; i < ELEMENTSOF(tables); i++)
                if (tables[i])
                        dm_hash_destroy(tables[i]);
        record_writer_free(inventory->writer);
        free(inventory);
        return NULL;
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
                device->stage = DEVICE_UNREAD;
                dm_list_add(&inventory->devices[DEVICE_UNREAD], &device->list);
        }

        *ret = device;
        return 0;
}

bool inventory_has_device_before(const struct inventory *inventory, enum device_stage stage)
{
        for (enum device_stage earlier = 0; earlier < stage; earlier++)
                if (!dm_list_empty(&inventory->devices[earlier]))
                        return true;
        return false;
}

bool inventory_pvs_have_reached(
        const struct inventory *inventory, const struct volume_group *vg, enum device_stage stage)
{
        for (size_t i = 0; i < vg->n_pvs; i++) {
                const struct device *device = inventory_find_device(inventory, vg->pvs[i].device);

                if (device && device->stage < stage)
                        return false;
        }
        return true;
}

void inventory_move_device(struct inventory *inventory, struct device *device, enum device_stage stage)
{
        inventory_ping(inventory);
        device->stage = stage;
        dm_list_move(&inventory->devices[stage], &device->list);
}

size_t inventory_count_groups_of_job(const struct inventory *inventory, const struct job *job)
{
        const struct managed_group *group, *next;
        size_t n = 0;

        FOREACH_GROUP_OF_JOB(group, next, inventory, job)
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
