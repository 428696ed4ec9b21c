/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/inventory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lvm/online.h"
#include "shared/util.h"

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
        inventory->groups_by_pvid = dm_hash_create(HASH_SIZE_HINT);
        inventory->groups_by_text = dm_hash_create(HASH_SIZE_HINT);
        if (!inventory->devices_by_number || !inventory->devices_by_pvid || !inventory->groups_by_vgid ||
                !inventory->groups_by_pvid || !inventory->groups_by_text)
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

static void free_group(struct managed_group *group)
{
        volume_group_free(group->volume_group);
        free(group->refusal);
        free(group->text);
        free(group);
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
                        free_group(group);
        }
        struct dm_hash_table *const tables[] = {inventory->groups_by_text, inventory->devices_by_number,
                inventory->devices_by_pvid, inventory->groups_by_vgid, inventory->groups_by_pvid};
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

void inventory_move_device(struct inventory *inventory, struct device *device, enum device_stage stage)
{
        device->stage = stage;
        dm_list_move(&inventory->devices[stage], &device->list);
}

struct device *inventory_find_device_of_pv(const struct inventory *inventory, const char *pvid)
{
        return dm_hash_lookup(inventory->devices_by_pvid, pvid);
}

/* The links are read by what came after a restart; a link that says something else is replaced. */
static int make_link(int dir_fd, const char *name, const char *target)
{
        if (symlinkat(target, dir_fd, name) >= 0)
                return 0;
        if (errno != EEXIST)
                return -errno;
        if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
                return -errno;
        return symlinkat(target, dir_fd, name) < 0 ? -errno : 0;
}

static int read_link(int dir_fd, const char *name, char ret[LVM_ID_SIZE])
{
        char target[LVM_ID_SIZE];
        ssize_t n = readlinkat(dir_fd, name, target, sizeof(target));

        if (n < 0)
                return -errno;
        if (n != LVM_ID_LENGTH)
                return -EBADMSG;
        memcpy(ret, target, LVM_ID_LENGTH);
        ret[LVM_ID_LENGTH] = '\0';
        return 0;
}

static char *device_link_name(dev_t number)
{
        return string_format("%u:%u", major(number), minor(number));
}

int inventory_set_pvid(struct inventory *inventory, struct device *device, const char *pvid)
{
        _cleanup_free_ char *name = NULL;

        if (streq(device->pvid, pvid))
                return 0;
        name = device_link_name(device->number);
        if (!name)
                return -ENOMEM;

        if (device->pvid[0] != '\0' && inventory_find_device_of_pv(inventory, device->pvid) == device)
                dm_hash_remove(inventory->devices_by_pvid, device->pvid);
        snprintf(device->pvid, sizeof(device->pvid), "%s", pvid);

        if (pvid[0] == '\0')
                return unlinkat(inventory->devices_fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
        if (!inventory_find_device_of_pv(inventory, pvid) &&
                !dm_hash_insert(inventory->devices_by_pvid, pvid, device))
                return -ENOMEM;
        return make_link(inventory->devices_fd, name, pvid);
}

int inventory_recall_pvid(const struct inventory *inventory, dev_t number, char ret[LVM_ID_SIZE])
{
        _cleanup_free_ char *name = device_link_name(number);

        return name ? read_link(inventory->devices_fd, name, ret) : -ENOMEM;
}

void inventory_drop_device(struct inventory *inventory, struct device *device)
{
        (void) inventory_set_pvid(inventory, device, "");
        dm_hash_remove_binary(inventory->devices_by_number, &device->number, sizeof(device->number));
        dm_list_del(&device->list);
        free_device(device);
}

void inventory_note_change(struct inventory *inventory, struct managed_group *group)
{
        group->changed = inventory->changed = true;
}

void inventory_set_state(struct inventory *inventory, struct managed_group *group, enum volume_group_state state)
{
        group->volume_group->state = state;
        inventory_note_change(inventory, group);
        dm_list_move(&inventory->groups[state], &group->list);
}

static int index_pvs(struct inventory *inventory, struct managed_group *group)
{
        for (size_t i = 0; i < group->volume_group->n_pvs; i++)
                if (!dm_hash_insert(inventory->groups_by_pvid, group->volume_group->pvs[i].pvid, group))
                        return -ENOMEM;
        return 0;
}

/* Lets a PV that comes after a restart lead to its VG. */
static int link_members(const struct inventory *inventory, const struct volume_group *volume_group)
{
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                int r = make_link(inventory->members_fd, volume_group->pvs[i].pvid, volume_group->vgid);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_group(struct inventory *inventory, struct volume_group *volume_group, struct managed_group **ret)
{
        struct managed_group *group = calloc(1, sizeof(*group));
        int r;

        if (!group)
                return -ENOMEM;

        group->volume_group = volume_group;
        dm_list_add(&inventory->groups[volume_group->state], &group->list);
        if (dm_hash_insert(inventory->groups_by_vgid, volume_group->vgid, group))
                r = index_pvs(inventory, group);
        else
                r = -ENOMEM;

        /* Once it is in a list it is freed with the inventory. Without memory the worker ends anyway. */
        if (r >= 0)
                *ret = group;
        return r;
}

bool inventory_device_exists(dev_t number)
{
        _cleanup_free_ char *path = string_format("/sys/dev/block/%u:%u", major(number), minor(number));

        return path && access(path, F_OK) == 0;
}

static void forget_text(struct inventory *inventory, struct managed_group *group)
{
        if (group->text)
                dm_hash_remove(inventory->groups_by_text, group->text);
        free(group->text);
        group->text = NULL;
}

void inventory_lose_pv(struct inventory *inventory, struct managed_group *group, dev_t number)
{
        struct volume_group *volume_group = group->volume_group;

        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                if (volume_group->pvs[i].device != number)
                        continue;
                volume_group->pvs[i].device = 0;
                volume_group->first_seen_usec = now_usec();
                volume_group->overdue = false;
                forget_text(inventory, group);
                group->lost_pv |= volume_group->state != VOLUME_GROUP_WAITING;
                /* One that lvm2 is at work on is judged when lvm2 is done. */
                if (volume_group->state != VOLUME_GROUP_ACTIVATING)
                        inventory_set_state(inventory, group, VOLUME_GROUP_WAITING);
                inventory_note_change(inventory, group);
        }
}

int inventory_find_group(struct inventory *inventory, const char *vgid, struct managed_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        struct managed_group *group;
        int r;

        group = dm_hash_lookup(inventory->groups_by_vgid, vgid);
        if (group) {
                *ret = group;
                return 0;
        }

        r = volume_group_load(inventory->vgs_fd, vgid, &volume_group);
        if (r < 0)
                return r;
        /* The file's name is the key under which we look for it again. */
        if (!streq(volume_group->vgid, vgid))
                return -EBADMSG;

        /* What lvm2 was asked for by a worker that is no more is not known to have been done. */
        if (volume_group->state == VOLUME_GROUP_ACTIVATING)
                volume_group->state = VOLUME_GROUP_COMPLETE;

        r = add_group(inventory, volume_group, &group);
        if (r < 0)
                return r;
        TAKE_PTR(volume_group);

        /* Disks may have left while no worker was there. */
        for (size_t i = 0; i < group->volume_group->n_pvs; i++) {
                dev_t number = group->volume_group->pvs[i].device;

                if (number != 0 && !inventory_device_exists(number))
                        inventory_lose_pv(inventory, group, number);
        }
        *ret = group;
        return 0;
}

int inventory_find_group_of_pv(struct inventory *inventory, const char *pvid, struct managed_group **ret)
{
        struct managed_group *group = dm_hash_lookup(inventory->groups_by_pvid, pvid);
        char vgid[LVM_ID_SIZE];
        int r;

        if (group && volume_group_find_pv(group->volume_group, pvid)) {
                *ret = group;
                return 0;
        }

        r = read_link(inventory->members_fd, pvid, vgid);
        if (r < 0)
                return r;
        return inventory_find_group(inventory, vgid, ret);
}

/* A PV without metadata may have come, and be known to us or to lvm2 alone, long before the VG was. */
static void find_pvs_seen_before(struct inventory *inventory, struct managed_group *group)
{
        for (size_t i = 0; i < group->volume_group->n_pvs; i++) {
                struct volume_group_pv *pv = &group->volume_group->pvs[i];
                struct device *device = inventory_find_device_of_pv(inventory, pv->pvid);
                dev_t number;

                if (device && !device->gone) {
                        device->group = group;
                        pv->device = device->number;
                } else if (pv->device == 0 &&
                           online_read_pv(inventory->lvm_run_fd, pv->pvid, &number) == ONLINE_FOUND &&
                           !inventory_find_device(inventory, number) && inventory_device_exists(number))
                        pv->device = number;
        }
}

int inventory_add_metadata(
        struct inventory *inventory, const struct metadata *metadata, struct managed_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        struct managed_group *group;
        int r;

        r = inventory_find_group(inventory, metadata->vgid, &group);
        if (r >= 0) {
                *ret = group;
                if (metadata->seqno <= group->volume_group->seqno)
                        return 0;
                r = volume_group_update(group->volume_group, metadata);
                if (r >= 0)
                        r = index_pvs(inventory, group);
                if (r < 0)
                        return r;
        } else if (r == -ENOENT || r == -EBADMSG) {
                r = volume_group_new(metadata, &volume_group);
                if (r < 0)
                        return r;
                volume_group->first_seen_usec = now_usec();
                r = add_group(inventory, volume_group, &group);
                if (r < 0)
                        return r;
                TAKE_PTR(volume_group);
                *ret = group;
        } else
                return r;

        find_pvs_seen_before(inventory, group);
        inventory_note_change(inventory, group);
        return link_members(inventory, group->volume_group);
}

static char *text_key(uint64_t size, uint32_t checksum)
{
        return string_format("%" PRIu64 "/%" PRIu32, size, checksum);
}

struct managed_group *inventory_find_text(const struct inventory *inventory, uint64_t size, uint32_t checksum)
{
        _cleanup_free_ char *key = text_key(size, checksum);

        return key ? dm_hash_lookup(inventory->groups_by_text, key) : NULL;
}

int inventory_add_text(struct inventory *inventory, uint64_t size, uint32_t checksum, struct managed_group *group)
{
        char *key = text_key(size, checksum);

        if (!key)
                return -ENOMEM;
        forget_text(inventory, group);
        group->text = key;
        return dm_hash_insert(inventory->groups_by_text, key, group) ? 0 : -ENOMEM;
}

void inventory_mark_text(struct inventory *inventory, uint64_t size, uint32_t checksum)
{
        static struct managed_group no_group;
        _cleanup_free_ char *key = text_key(size, checksum);

        if (key)
                (void) dm_hash_insert(inventory->groups_by_text, key, &no_group);
}

int inventory_save(struct inventory *inventory)
{
        int result = 0;

        if (!inventory->changed)
                return 0;
        inventory->changed = false;

        for (size_t state = 0; state < _VOLUME_GROUP_STATE_MAX; state++) {
                struct managed_group *group;

                dm_list_iterate_items(group, &inventory->groups[state]) {
                        int r;

                        if (!group->changed)
                                continue;
                        r = volume_group_save(inventory->vgs_fd, group->volume_group);
                        if (r >= 0) {
                                group->changed = false;
                                continue;
                        }
                        inventory->changed = true;
                        if (result >= 0)
                                result = r;
                }
        }
        return result;
}
