/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/inventory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "shared/util.h"
#include "worker/links.h"
#include "worker/liveness.h"

#define MEMBERS_DIRECTORY "members"
#define DEVICES_DIRECTORY "devices"

/* Buckets of each table: right for some thousand disks, and no more than 32 KiB. */
#define HASH_SIZE_HINT 4096

static int open_or_make_directory(int run_fd, const char *name)
{
        int fd;

        if (mkdirat(run_fd, name, 0700) < 0 && errno != EEXIST)
                return -errno;
        fd = openat(run_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int inventory_new(int run_fd, int lvm_run_fd, struct inventory **ret)
{
        _cleanup_inventory_ struct inventory *inventory = calloc(1, sizeof(*inventory));

        if (!inventory)
                return -ENOMEM;

        inventory->run_fd = run_fd;
        inventory->lvm_run_fd = lvm_run_fd;
        inventory->vgs_fd = inventory->members_fd = inventory->devices_fd = -EBADF;
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

        inventory->vgs_fd = open_or_make_directory(run_fd, VOLUME_GROUP_DIRECTORY);
        if (inventory->vgs_fd < 0)
                return inventory->vgs_fd;
        inventory->members_fd = open_or_make_directory(run_fd, MEMBERS_DIRECTORY);
        if (inventory->members_fd < 0)
                return inventory->members_fd;
        inventory->devices_fd = open_or_make_directory(run_fd, DEVICES_DIRECTORY);
        if (inventory->devices_fd < 0)
                return inventory->devices_fd;

        *ret = TAKE_PTR(inventory);
        return 0;
}

static void free_device(struct device *device)
{
        free(device->name);
        free(device);
}

struct inventory *inventory_free(struct inventory *inventory)
{
        if (!inventory)
                return NULL;

        for (size_t i = 0; i < _DEVICE_STAGE_MAX; i++) {
                struct device *device, *next;

                dm_list_iterate_items_safe(device, next, &inventory->devices[i])
                        free_device(device);
        }
        for (size_t i = 0; i < _VOLUME_GROUP_STATE_MAX; i++) {
                struct managed_group *group, *next;

                dm_list_iterate_items_safe(group, next, &inventory->groups[i])
                        managed_group_free(group);
        }
        struct dm_hash_table *const tables[] = {inventory->groups_by_text, inventory->devices_by_number,
                inventory->devices_by_pvid, inventory->groups_by_vgid, inventory->groups_by_name,
                inventory->groups_by_pvid};
        for (size_t i = 0; i < ELEMENTSOF(tables); i++)
                if (tables[i])
                        dm_hash_destroy(tables[i]);
        closep(&inventory->vgs_fd);
        closep(&inventory->members_fd);
        closep(&inventory->devices_fd);
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

        liveness_note_step(&inventory->told_usec);
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
        const struct inventory *inventory, const struct volume_group *volume_group, enum device_stage stage)
{
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                const struct device *device = inventory_find_device(inventory, volume_group->pvs[i].device);

                if (device && device->stage < stage)
                        return false;
        }
        return true;
}

void inventory_move_device(struct inventory *inventory, struct device *device, enum device_stage stage)
{
        liveness_note_step(&inventory->told_usec);
        device->stage = stage;
        dm_list_move(&inventory->devices[stage], &device->list);
}

size_t inventory_count_groups_of_job(const struct inventory *inventory, const struct job *job)
{
        const struct managed_group *group;
        size_t n = 0;

        dm_list_iterate_items(group, &inventory->groups[VOLUME_GROUP_ACTIVATING])
                n += group->job == job;
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

static char *device_link_name(dev_t number)
{
        return string_format("%u:%u", major(number), minor(number));
}

int inventory_link_device(const struct inventory *inventory, const struct device *device)
{
        _cleanup_free_ char *name = device_link_name(device->number);
        _cleanup_free_ char *target = device->diskseq > 0
                                              ? string_format("%s.%" PRIu64, device->pvid, device->diskseq)
                                              : strdup(device->pvid);

        return name && target ? link_make(inventory->devices_fd, name, target) : -ENOMEM;
}

int inventory_set_pvid(struct inventory *inventory, struct device *device, const char *pvid)
{
        _cleanup_free_ char *name = NULL;
        int r;

        if (pvid[0] != '\0' && streq(device->pvid, pvid))
                return 0;
        name = device_link_name(device->number);
        if (!name)
                return -ENOMEM;

        if (device->pvid[0] != '\0' && !streq(device->pvid, pvid) &&
                inventory_find_device_of_pv(inventory, device->pvid) == device)
                dm_hash_remove(inventory->devices_by_pvid, device->pvid);
        snprintf(device->pvid, sizeof(device->pvid), "%s", pvid);

        if (pvid[0] == '\0')
                return link_remove(inventory->devices_fd, name);
        if (!inventory_find_device_of_pv(inventory, pvid)) {
                r = inventory_prefer_device(inventory, device);
                if (r < 0)
                        return r;
        }
        return inventory_note_link(inventory, inventory_link_device(inventory, device));
}

int inventory_prefer_device(struct inventory *inventory, struct device *device)
{
        return dm_hash_insert(inventory->devices_by_pvid, device->pvid, device) ? 0 : -ENOMEM;
}

int inventory_recall_pvid(
        const struct inventory *inventory, dev_t number, char ret[LVM_ID_SIZE], uint64_t *ret_diskseq)
{
        _cleanup_free_ char *name = device_link_name(number);
        char target[LINK_TARGET_SIZE];
        char *dot;
        int r;

        r = name ? link_read(inventory->devices_fd, name, target) : -ENOMEM;
        if (r < 0)
                return r;
        *ret_diskseq = 0;
        dot = strchr(target, '.');
        if (dot) {
                *dot = '\0';
                r = parse_u64(dot + 1, ret_diskseq);
        }
        if (r < 0 || !lvm_id_is_valid(target))
                return -EBADMSG;
        memcpy(ret, target, LVM_ID_SIZE);
        return 0;
}

int inventory_for_each_recorded(
        const struct inventory *inventory, inventory_number_function function, void *userdata)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(inventory->devices_fd, ".");
        int r = 0;

        if (!directory)
                return -errno;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));) {
                unsigned int major_number, minor_number;

                if (sscanf(entry->d_name, "%u:%u", &major_number, &minor_number) == 2)
                        r = function(makedev(major_number, minor_number), userdata);
        }
        return r;
}

bool inventory_is_still(const struct inventory *inventory, dev_t number, const char *pvid)
{
        const struct device *device = inventory_find_device(inventory, number);
        uint64_t diskseq, present;
        char seen[LVM_ID_SIZE];

        if (!diskseq_device_exists(number) || (device && device->gone) ||
                inventory_recall_pvid(inventory, number, seen, &diskseq) < 0)
                return false;
        present = diskseq_read(number);
        return streq(seen, pvid) && (diskseq == 0 || present == 0 || present == diskseq);
}

void inventory_drop_device(struct inventory *inventory, struct device *device)
{
        (void) inventory_set_pvid(inventory, device, "");
        dm_hash_remove_binary(inventory->devices_by_number, &device->number, sizeof(device->number));
        dm_list_del(&device->list);
        free_device(device);
}
