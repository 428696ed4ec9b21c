/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lists device-mapper devices by ioctl, or by sysfs without permission for that. Finds the active LVs of a VG, and
 * its RAIDs that lack a leg. */

#include "lvm/dm-devices.h"

#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <sys/ioctl.h>

#include "shared/dm.h"
#include "shared/kernel.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

#define CONTROL "dev/" DM_DIR "/" DM_CONTROL_NODE

/* Target types that lvm2 never lets dmeventd(8) monitor (lvm2, lib/activate/activate.c and the segment types'
 * target_monitored; 2.03.16 to 2.03.31). All others, also unknown ones, may be monitored. A device without a table
 * has no target. */
static const char *const unmonitored_targets[] = {"", "linear", "striped", "cache", "crypt", "error", "integrity",
        "snapshot-origin", "thin", "writecache", "zero"};

bool dm_target_may_be_monitored(const char *target)
{
        return !ANY(FOREACH_ELEMENT(name, unmonitored_targets), streq(target, *name));
}

struct dm_devices *dm_devices_free(struct dm_devices *devices)
{
        if (!devices)
                return NULL;
        dm_hash_destroyp(&devices->index);
        dm_pool_destroyp(&devices->pool);
        closep(&devices->control_fd);
        free(devices->devices);
        free(devices);
        return NULL;
}

static int add(struct dm_devices *devices, dev_t number, const char *name, const char *uuid)
{
        struct dm_device device = {
                .number = number,
                .name = dm_pool_strdup(devices->pool, name),
                .uuid = dm_pool_strdup(devices->pool, uuid),
                .target = "",
        };

        if (!device.name || !device.uuid || !GREEDY_REALLOC(devices->devices, devices->n + 1))
                return -ENOMEM;
        if (skip_prefix(uuid, LVM_UUID_PREFIX) &&
                !dm_split_lvm_name(devices->pool, name, &device.vg, &device.lv, &device.layer))
                return -ENOMEM;
        devices->devices[devices->n++] = device;
        return 0;
}

/* ------ the kernel's list ------ */

/* Calls the driver with the flags and the device in the header, followed by room for the reply; `size` includes
 * both. Returns the result of ioctl(). */
static int ask(int control_fd, unsigned long request, struct dm_ioctl *header, size_t size)
{
        header->version[0] = DM_VERSION_MAJOR;
        header->data_size = (uint32_t) size;
        header->data_start = sizeof(*header);
        return ioctl(control_fd, request, header);
}

/* Initial size of the list; doubled until it fits. */
#define LIST_SIZE_MIN (64U * 1024)
#define LIST_SIZE_MAX (64U * 1024 * 1024)

/* libdevmapper of Debian 12 has DM_DEVICE_LIST, but without the flag that makes the kernel add the UUIDs, and no
 * function to set it. */
static int list_devices(int control_fd, struct dm_ioctl **ret)
{
        for (size_t size = LIST_SIZE_MIN; size <= LIST_SIZE_MAX; size *= 2) {
                _cleanup_free_ struct dm_ioctl *list = calloc(1, size);

                if (!list)
                        return -ENOMEM;
                list->flags = DM_UUID_FLAG;
                if (ask(control_fd, DM_LIST_DEVICES, list, size) < 0)
                        return -errno;
                if (!(list->flags & DM_BUFFER_FULL_FLAG)) {
                        *ret = TAKE_PTR(list);
                        return 0;
                }
        }
        return -E2BIG;
}

/* Each name is followed, at the next multiple of 8 bytes, by the number of its last event, flags, and depending on
 * these a UUID (linux/dm-ioctl.h, struct dm_name_list). */
static int add_listed(const struct dm_ioctl *list, struct dm_devices *devices)
{
        const char *position = (const char *) list + list->data_start;

        for (;;) {
                const struct dm_name_list *device = (const struct dm_name_list *) (const void *) position;
                size_t offset = offsetof(struct dm_name_list, name) + strlen(device->name) + 1;
                const uint32_t *event_and_flags =
                        (const uint32_t *) (const void *) (position + ((offset + 7) & ~(size_t) 7));
                bool has_uuid = event_and_flags[1] & DM_NAME_LIST_FLAG_HAS_UUID;
                int r;

                /* An empty list is one entry without a device. */
                if (device->dev == 0)
                        return 0;
                if (event_and_flags[1] == 0)
                        return -EOPNOTSUPP;
                /* The kernel encodes device numbers in 64 bits as glibc does. */
                r = add(devices, device->dev, device->name, has_uuid ? (const char *) (event_and_flags + 2) : "");
                if (r < 0)
                        return r;
                if (device->next == 0)
                        return 0;
                position += device->next;
        }
}

static int read_kernel(int root_fd, struct dm_devices *devices)
{
        _cleanup_free_ struct dm_ioctl *list = NULL;
        int r;

        devices->control_fd = openat(root_fd, CONTROL, O_RDWR | O_CLOEXEC);
        if (devices->control_fd < 0)
                return -errno;
        r = list_devices(devices->control_fd, &list);
        return list ? add_listed(list, devices) : r;
}

/* ------ sysfs ------ */

/* The list of device-mapper devices in sysfs: /sys/class/block/dm-N/dev, dm/name and dm/uuid
 * (Documentation/ABI/testing/sysfs-block-dm of the kernel). */

static int read_attribute(int dir_fd, const char *device, const char *name, char **ret)
{
        return sysfs_read_at(dir_fd, path_format("%s/%s", device, name).text, ret);
}

static int read_sysfs(int root_fd, struct dm_devices *devices)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, "sys/class/block");

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        FOREACH_ENTRY(kernel_name, directory) {
                _cleanup_free_ char *text = NULL, *name = NULL, *uuid = NULL;
                dev_t number;
                int r;

                if (!skip_prefix(kernel_name, "dm-"))
                        continue;
                r = read_attribute(dirfd(directory), kernel_name, "dev", &text)
                        ?: read_attribute(dirfd(directory), kernel_name, "dm/name", &name)
                        ?: read_attribute(dirfd(directory), kernel_name, "dm/uuid", &uuid)
                        ?: parse_device_number(text, &number)
                        ?: add(devices, number, name, uuid);
                /* The device may have been removed meanwhile. */
                if (r == -ENOMEM)
                        return r;
        }
        return 0;
}

/* ------ the list ------ */

int dm_devices_get_at(int root_fd, struct dm_devices **ret)
{
        _cleanup_dm_devices_ struct dm_devices *devices = calloc(1, sizeof(*devices));
        int r;

        if (!devices)
                return -ENOMEM;
        devices->control_fd = -EBADF;
        devices->pool = dm_pool_create("devices", 4096);
        devices->index = dm_hash_create(1024);
        if (!devices->pool || !devices->index)
                return -ENOMEM;
        r = read_kernel(root_fd, devices);
        if (r == -ENOENT || r == -ENODEV || r == -ENXIO || r == -EACCES || r == -EPERM) {
                closep(&devices->control_fd);
                devices->control_fd = r;
                r = read_sysfs(root_fd, devices);
        }
        if (r < 0)
                return r;
        /* Thin LVs share a device below them, which is active even if the pool LV itself, on top of it, is not. */
        FOREACH_DM_DEVICE(device, devices)
                if (!dm_hash_insert_binary(devices->index, &device->number, sizeof(device->number), device) ||
                        (device->vg && !streq(device->layer, "tpool") &&
                                !dm_hash_insert(devices->index, device->uuid, device)))
                        return -ENOMEM;
        *ret = TAKE_PTR(devices);
        return 0;
}

/* Room for one target; the kernel reports its type even if the rest does not fit. */
#define TABLE_SIZE 1024U

int dm_devices_read_details(struct dm_devices *devices)
{
        _cleanup_free_ struct dm_ioctl *table = NULL;

        if (devices->control_fd < 0)
                return devices->control_fd == -EACCES || devices->control_fd == -EPERM ? devices->control_fd : 0;
        table = calloc(1, TABLE_SIZE);
        if (!table)
                return -ENOMEM;

        FOREACH_ARRAY(device, devices->devices, devices->n) {
                const struct dm_target_spec *target;

                /* The table rather than the status, for which a thin pool would commit its metadata. */
                *table = (struct dm_ioctl){.dev = device->number, .flags = DM_STATUS_TABLE_FLAG | DM_NOFLUSH_FLAG};
                target = (const struct dm_target_spec *) (table + 1);
                if (ask(devices->control_fd, DM_TABLE_STATUS, table, TABLE_SIZE) < 0)
                        continue;
                device->suspended = table->flags & DM_SUSPEND_FLAG;
                device->read_only = table->flags & DM_READONLY_FLAG;
                if (table->target_count == 0 || table->data_start != sizeof(struct dm_ioctl))
                        continue;
                device->target = dm_pool_strndup(devices->pool, target->target_type, sizeof(target->target_type));
                if (!device->target)
                        return -ENOMEM;
        }
        return 0;
}

bool dm_devices_read_lowers(
        const struct dm_devices *devices, dev_t number, dev_t ret[static DM_LOWERS_MAX], size_t *ret_n)
{
        struct {
                struct dm_ioctl header;
                struct dm_target_deps deps;
                uint64_t numbers[DM_LOWERS_MAX];
        } table = {.header.dev = number};

        if (!devices || devices->control_fd < 0 ||
                ask(devices->control_fd, DM_TABLE_DEPS, &table.header, sizeof(table)) < 0 ||
                (table.header.flags & (DM_INACTIVE_PRESENT_FLAG | DM_BUFFER_FULL_FLAG)))
                return false;
        *ret_n = MIN(table.deps.count, DM_LOWERS_MAX);
        for (size_t i = 0; i < *ret_n; i++)
                ret[i] = table.numbers[i];
        return true;
}

int dm_devices_get(struct dm_devices **ret)
{
        _cleanup_close_ int root_fd = root_open();

        return root_fd < 0 ? root_fd : dm_devices_get_at(root_fd, ret);
}

const struct dm_device *dm_devices_find(const struct dm_devices *devices, dev_t number)
{
        return devices ? dm_hash_lookup_binary(devices->index, &number, sizeof(number)) : NULL;
}

/* ------ active LVs ------ */

/* Suffixes of an LV's UUID on the devices of a pool. */
static const char *const layers[] = {"", "-pool", "-tpool", "-vpool"};

/* Limit of layers below an LV; lvm2 makes fewer. */
#define LAYERS_MAX 16

/* Whether a device in `slaves`, a directory in sysfs, or one below it was removed. The directory of a removed disk
 * disappears; the link to it stays while the disk is in use. */
static bool has_lost(int dir_fd, const char *slaves, unsigned int layer)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(dir_fd, slaves);
        bool lost = false;

        FOREACH_ENTRY(name, directory)
                if (faccessat(dirfd(directory), path_format("%s/dev", name).text, F_OK, 0) < 0)
                        lost |= errno == ENOENT;
                else if (!lost && layer < LAYERS_MAX)
                        lost = has_lost(dirfd(directory), path_format("%s/slaves", name).text, layer + 1);
        return lost;
}

/* Returns the device of an LV, or NULL. */
static const struct dm_device *find_device(
        const struct dm_devices *devices, const struct vg *vg, const struct vg_lv *lv)
{
        const struct dm_device *device = NULL;
        char uuid[LVM_UUID_LENGTH + sizeof("-tpool")];
        char *layer = stpcpy(stpcpy(stpcpy(uuid, LVM_UUID_PREFIX), vg->vgid), lv->lvid);

        for (size_t i = 0; !device && i < ELEMENTSOF(layers); i++) {
                strcpy(layer, layers[i]);
                device = dm_hash_lookup(devices->index, uuid);
        }
        return device;
}

/* Reads DM_ACTIVE_PRESENT_FLAG and others. A killed vgchange leaves a device without a table; sysfs does not show
 * these. -ENXIO: it was removed since it was listed. After another error it is what the list says. */
static uint32_t read_flags(const struct dm_devices *devices, const struct dm_device *device)
{
        struct dm_ioctl status = {.dev = device->number};

        if (devices->control_fd < 0)
                return DM_ACTIVE_PRESENT_FLAG;
        if (ask(devices->control_fd, DM_DEV_STATUS, &status, sizeof(status)) >= 0)
                return status.flags;
        return errno == ENXIO ? 0 : DM_ACTIVE_PRESENT_FLAG;
}

void dm_devices_mark_active(const struct dm_devices *devices, struct vg *vg)
{
        _cleanup_close_ int root_fd = vg->lost_pv ? root_open() : -EBADF;

        FOREACH_LV(lv, vg) {
                const struct dm_device *device = find_device(devices, vg, lv);
                uint32_t flags = device ? read_flags(devices, device) : 0;

                lv->stranded =
                        device && root_fd >= 0 && has_lost(root_fd, sysfs_path(device->number, "slaves").text, 0);
                lv->active = !lv->stranded && flags & DM_ACTIVE_PRESENT_FLAG;
                lv->suspended = lv->active && flags & DM_SUSPEND_FLAG;
        }
}

/* ------ RAIDs ------ */

/* States of a leg in the kernel's status: 'D' failed, '-' no device. Others are 'A' and 'a', in sync and not. */
#define LACKING "D-"

/* Whether the device is a RAID that lacks a leg. Returns 0, 1 or -ENOMEM. A device that was just removed lacks
 * nothing. */
static int is_lacking(const struct dm_device *device)
{
        _cleanup_dm_task_ struct dm_task *task = dm_task_new(DM_DEVICE_STATUS, device->number);
        _cleanup_dm_pool_ struct dm_pool *pool = dm_pool_create("raid", 1024);
        char *type = NULL, *parameters = NULL;
        struct dm_status_raid *raid;
        uint64_t start, length;

        if (!task || !pool || !dm_task_no_open_count(task) || !dm_task_no_flush(task))
                return -ENOMEM;
        if (!dm_task_run(task))
                return 0;
        /* A RAID LV has a single target. */
        (void) dm_get_next_target(task, NULL, &start, &length, &type, &parameters);
        if (!type || !streq(type, "raid") || !parameters)
                return 0;
        return dm_get_status_raid(pool, parameters, &raid) && strpbrk(raid->dev_health, LACKING);
}

int raid_describe_refresh(const struct dm_devices *list, const struct vg *vg, char **ret)
{
        _cleanup_strv_ struct strv names = {};
        _cleanup_free_ char *asked = NULL;
        bool hidden = false;
        int r;

        if (!list || list->control_fd < 0)
                return -EOPNOTSUPP;

        FOREACH_DM_DEVICE(device, list) {
                _cleanup_free_ char *shown = NULL;

                if (!device->vg || strncmp(device->uuid + strlen(LVM_UUID_PREFIX), vg->vgid, LVM_ID_LENGTH) != 0)
                        continue;
                r = is_lacking(device);
                if (r < 0)
                        return r;
                if (r == 0)
                        continue;
                /* For example the data LV of a thin pool. lvchange(8) does not accept names of hidden LVs. */
                hidden |= strlen(device->uuid) != LVM_UUID_LENGTH;
                shown = logical_volume_name_to_show(device->lv);
                if (!shown || strv_take(&names, string_format("%s/%s", vg->name, shown)) < 0)
                        return -ENOMEM;
        }
        if (names.n == 0)
                return 0;

        asked = hidden ? strdup(vg->name) : strv_join(&names, " ");
        *ret = asked ? string_format("%s --refresh %s", hidden ? "vgchange" : "lvchange", asked) : NULL;
        return *ret ? 1 : -ENOMEM;
}

bool raid_is_whole_again(const struct dm_devices *list, const struct vg *vg)
{
        _cleanup_free_ char *refresh = NULL;

        return !vg_is_incomplete(vg) && raid_describe_refresh(list, vg, &refresh) == 0;
}
