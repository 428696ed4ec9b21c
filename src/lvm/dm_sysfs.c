/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The list of device-mapper's devices as sysfs has it: /sys/block/dm-N/dev, dm/name and dm/uuid (the kernel's
 * Documentation/ABI/testing/sysfs-block-dm). */

#include "lvm/dm_devices.h"
#include "shared/kernel.h"
#include "shared/util.h"

#define BLOCK_DIRECTORY "sys/block"

static int read_attribute(int dir_fd, const char *device, const char *name, char **ret)
{
        _cleanup_free_ char *path = string_format("%s/%s", device, name);

        return path ? sysfs_read_at(dir_fd, path, ret) : -ENOMEM;
}

/* A device may go at any time; then it is none. */
static int read_device(int dir_fd, const char *device, struct dm_devices *devices)
{
        _cleanup_free_ char *number = NULL, *name = NULL, *uuid = NULL;
        dev_t parsed;
        int r;

        r = read_attribute(dir_fd, device, "dev", &number);
        if (r >= 0)
                r = read_attribute(dir_fd, device, "dm/name", &name);
        if (r >= 0)
                r = read_attribute(dir_fd, device, "dm/uuid", &uuid);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        r = parse_device_number(number, &parsed);
        if (r < 0)
                return r == -EINVAL ? 0 : r;
        return dm_devices_add(devices, parsed, name, uuid, "");
}

static int read_all(int root_fd, struct dm_devices *devices)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, BLOCK_DIRECTORY);
        int r = 0;

        if (!directory)
                return -errno;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));)
                if (skip_prefix(entry->d_name, "dm-"))
                        r = read_device(dirfd(directory), entry->d_name, devices);
        return r;
}

int dm_devices_get_unprivileged(int root_fd, struct dm_devices *ret)
{
        _cleanup_dm_devices_ struct dm_devices devices = {};
        int r;

        r = dm_devices_get(root_fd, ret);
        if (r != -EACCES && r != -EPERM)
                return r;
        r = read_all(root_fd, &devices);
        if (r < 0)
                return r;
        *ret = devices;
        devices = (struct dm_devices){};
        return 0;
}
