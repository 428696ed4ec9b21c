/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Device-mapper's devices: by ioctl, by sysfs for who may not ask for that, or from a file in tests. */

#include "lvm/dm_devices.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/dm-ioctl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "shared/kernel.h"
#include "shared/util.h"

#define LIST_FILE "proc/dm-devices"
#define BLOCK_DIRECTORY "sys/class/block"
#define CONTROL "dev/" DM_DIR "/" DM_CONTROL_NODE

void dm_devices_done(struct dm_devices *devices)
{
        for (size_t i = 0; i < devices->n; i++) {
                free(devices->devices[i].name);
                free(devices->devices[i].uuid);
                free(devices->devices[i].target);
        }
        free(devices->devices);
        if (devices->live)
                close(devices->control_fd);
        *devices = (struct dm_devices){};
}

int dm_devices_add(
        struct dm_devices *devices, dev_t number, const char *name, const char *uuid, const char *target)
{
        struct dm_device device = {
                .number = number, .name = strdup(name), .uuid = strdup(uuid), .target = strdup(target)};

        if (!device.name || !device.uuid || !device.target || !GREEDY_REALLOC(devices->devices, devices->n + 1)) {
                free(device.name);
                free(device.uuid);
                free(device.target);
                return -ENOMEM;
        }
        devices->devices[devices->n++] = device;
        return 0;
}

/* ------ a captured list ------ */

/* "-" is nothing, \xNN a byte. In place, as the result is never longer. */
static const char *unmangle(char *text)
{
        char *to = text;

        if (streq(text, "-"))
                return "";
        for (const char *from = text; *from != '\0';) {
                unsigned int byte;
                int length = 0;

                /* %2x would take one digit, too. */
                if (sscanf(from, "\\x%2x%n", &byte, &length) == 1 && length == (int) strlen("\\xNN")) {
                        *to++ = (char) byte;
                        from += length;
                } else {
                        *to++ = *from++;
                }
        }
        *to = '\0';
        return text;
}

/* A line that is not like the others is skipped. */
static int add_line(struct dm_devices *devices, char *line)
{
        char *words[5] = {NULL},
             *position = line; /* number, name, UUID, target; and the state, which may be missing */
        dev_t number;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                words[i] = strtok_r(i == 0 ? line : NULL, " ", &position);
        if (!words[3])
                return 0;
        r = parse_device_number(words[0], &number);
        if (r >= 0)
                r = dm_devices_add(devices, number, unmangle(words[1]), unmangle(words[2]), unmangle(words[3]));
        if (r >= 0)
                devices->devices[devices->n - 1].suspended = words[4] && streq(words[4], "suspended");
        return r == -EINVAL ? 0 : r;
}

static int read_list(int root_fd, struct dm_devices *devices)
{
        _cleanup_free_ char *text = NULL;
        char *rest;
        int r;

        r = read_file_at(root_fd, LIST_FILE, &text, NULL);
        rest = text;
        for (char *line; r >= 0 && (line = strsep(&rest, "\n"));)
                r = add_line(devices, line);
        return r;
}

/* ------ the kernel's list ------ */

/* First guess of the size of the list; it is doubled until all fits. */
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
                *list = (struct dm_ioctl){
                        .version = {DM_VERSION_MAJOR, 0, 0},
                        .data_size = (uint32_t) size,
                        .data_start = sizeof(struct dm_ioctl),
                        .flags = DM_UUID_FLAG,
                };
                if (ioctl(control_fd, DM_LIST_DEVICES, list) < 0)
                        return -errno;
                if (!(list->flags & DM_BUFFER_FULL_FLAG)) {
                        *ret = TAKE_PTR(list);
                        return 0;
                }
        }
        return -E2BIG;
}

/* Behind each name, at the next multiple of 8 bytes, are the number of its last event and flags, and if these say
 * so a UUID (linux/dm-ioctl.h, struct dm_name_list). */
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
                /* The kernel's encoding of a number in 64 bits is glibc's, too. */
                r = dm_devices_add(devices, device->dev, device->name,
                        has_uuid ? (const char *) (event_and_flags + 2) : "", "");
                if (r < 0)
                        return r;
                if (device->next == 0)
                        return 0;
                position += device->next;
        }
}

int dm_devices_get(int root_fd, struct dm_devices *ret)
{
        _cleanup_dm_devices_ struct dm_devices devices = {};
        _cleanup_free_ struct dm_ioctl *list = NULL;
        int r;

        r = read_list(root_fd, &devices);
        if (r == -ENOENT) {
                devices.control_fd = openat(root_fd, CONTROL, O_RDWR | O_CLOEXEC);
                devices.live = devices.control_fd >= 0;
                r = devices.live || errno == ENOENT || errno == ENODEV || errno == ENXIO ? 0 : -errno;
        }
        if (r >= 0 && devices.live) {
                r = list_devices(devices.control_fd, &list);
                if (list)
                        r = add_listed(list, &devices);
        }
        if (r < 0)
                return r;

        *ret = TAKE_STRUCT(devices);
        return 0;
}

/* Room for one target, whose type the kernel says even if nothing else fits. */
#define TABLE_SIZE 1024U

int dm_devices_read_details(struct dm_devices *devices)
{
        _cleanup_free_ struct dm_ioctl *table = NULL;

        if (!devices->live)
                return 0;
        table = calloc(1, TABLE_SIZE);
        if (!table)
                return -ENOMEM;

        for (size_t i = 0; i < devices->n; i++) {
                struct dm_device *device = &devices->devices[i];
                const struct dm_target_spec *target;
                char *type;

                *table = (struct dm_ioctl){
                        .version = {DM_VERSION_MAJOR, 0, 0},
                        .data_size = TABLE_SIZE,
                        .data_start = sizeof(struct dm_ioctl),
                        .dev = device->number,
                        /* The table, not the status, for which thin pools would commit their metadata. */
                        .flags = DM_STATUS_TABLE_FLAG | DM_NOFLUSH_FLAG,
                };
                target = (const struct dm_target_spec *) (table + 1);
                if (ioctl(devices->control_fd, DM_TABLE_STATUS, table) < 0)
                        continue;
                device->suspended = table->flags & DM_SUSPEND_FLAG;
                device->read_only = table->flags & DM_READONLY_FLAG;
                if (table->target_count == 0 || table->data_start != sizeof(struct dm_ioctl))
                        continue;
                type = strndup(target->target_type, sizeof(target->target_type));
                if (!type)
                        return -ENOMEM;
                free(device->target);
                device->target = type;
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
        } table = {
                .header.version = {DM_VERSION_MAJOR, 0, 0},
                .header.data_size = sizeof(table),
                .header.data_start = offsetof(typeof(table), deps),
                .header.dev = number,
        };

        if (!devices->live || ioctl(devices->control_fd, DM_TABLE_DEPS, &table) < 0 ||
                (table.header.flags & (DM_INACTIVE_PRESENT_FLAG | DM_BUFFER_FULL_FLAG)))
                return false;
        *ret_n = MIN(table.deps.count, (uint32_t) DM_LOWERS_MAX);
        for (size_t i = 0; i < *ret_n; i++)
                ret[i] = table.numbers[i];
        return true;
}

/* ------ sysfs ------ */

/* The list of device-mapper's devices as sysfs has it: /sys/class/block/dm-N/dev, dm/name and dm/uuid (the kernel's
 * Documentation/ABI/testing/sysfs-block-dm). */

static int read_attribute(int dir_fd, const char *device, const char *name, char **ret)
{
        _cleanup_free_ char *path = string_format("%s/%s", device, name);

        return path ? sysfs_read_at(dir_fd, path, ret) : -ENOMEM;
}

int dm_devices_get_by_sysfs(int root_fd, struct dm_devices *ret)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, BLOCK_DIRECTORY);
        _cleanup_dm_devices_ struct dm_devices devices = {};

        if (!directory)
                return -errno;
        for (const struct dirent *entry; (entry = readdir(directory));) {
                _cleanup_free_ char *text = NULL, *name = NULL, *uuid = NULL;
                dev_t number;
                int r;

                if (!skip_prefix(entry->d_name, "dm-"))
                        continue;
                r = read_attribute(dirfd(directory), entry->d_name, "dev", &text);
                if (r >= 0)
                        r = read_attribute(dirfd(directory), entry->d_name, "dm/name", &name);
                if (r >= 0)
                        r = read_attribute(dirfd(directory), entry->d_name, "dm/uuid", &uuid);
                if (r >= 0)
                        r = parse_device_number(text, &number);
                if (r >= 0)
                        r = dm_devices_add(&devices, number, name, uuid, "");
                /* A device may go at any time; then it is none. */
                if (r == -ENOMEM)
                        return r;
        }
        *ret = TAKE_STRUCT(devices);
        return 0;
}

int dm_devices_get_unprivileged(int root_fd, struct dm_devices *ret)
{
        int r = dm_devices_get(root_fd, ret);

        return r == -EACCES || r == -EPERM ? dm_devices_get_by_sysfs(root_fd, ret) : r;
}
