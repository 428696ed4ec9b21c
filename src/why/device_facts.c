/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What headgate why knows of a device, read from sysfs, udev's database and the device itself. */

#include "why/device_facts.h"

#include <libudev.h>

#include "shared/kernel.h"

/* sysfs counts in these, whatever the device does. */
#define SECTOR_SIZE 512

/* ------ sysfs ------ */

static int read_number(const struct sources *sources, dev_t number, const char *name, uint64_t *ret)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = sysfs_read_attribute(sources->root_fd, number, name, &text);
        if (r <= 0 || parse_u64(text, ret) < 0)
                *ret = 0;
        return MIN(r, 0);
}

/* A multipath device or an md array. */
static int judge_holder(const struct sources *sources, const char *name, struct device_facts *facts)
{
        _cleanup_free_ char *attribute = string_format("holders/%s/dm/uuid", name);
        _cleanup_free_ char *uuid = NULL;
        bool is_md = skip_prefix(name, "md");
        int r;

        r = attribute ? sysfs_read_attribute(sources->root_fd, facts->number, attribute, &uuid) : -ENOMEM;
        if (r < 0)
                return r;
        if (!is_md && (!uuid || !skip_prefix(uuid, "mpath-")))
                return 0;
        facts->upper_is_md = is_md;
        return string_replace(&facts->upper_map, strdup(name));
}

static int read_holders(const struct sources *sources, struct device_facts *facts)
{
        _cleanup_free_ char *path = sysfs_path(facts->number, "holders");
        _cleanup_closedir_ DIR *directory = path ? open_directory_at(sources->root_fd, path) : NULL;
        int r = path ? 0 : -ENOMEM;

        for (const struct dirent *entry; r >= 0 && directory && (entry = readdir(directory));)
                if (entry->d_name[0] != '.')
                        r = judge_holder(sources, entry->d_name, facts);
        return r;
}

static int read_sysfs(const struct sources *sources, struct device_facts *facts)
{
        uint64_t value;
        int r;

        r = sysfs_read_name(sources->root_fd, facts->number, &facts->kernel_name);
        if (r >= 0)
                r = read_number(sources, facts->number, "size", &value);
        if (r < 0)
                return r;
        facts->size = value * SECTOR_SIZE;
        r = read_number(sources, facts->number, "dm/suspended", &value);
        facts->suspended = value == 1;
        return r < 0 ? r : read_holders(sources, facts);
}

/* ------ udev ------ */

static int copy_property(struct udev_device *device, const char *name, char **ret)
{
        const char *value = udev_device_get_property_value(device, name);

        return value ? string_replace(ret, strdup(value)) : 0;
}

static bool property_is(struct udev_device *device, const char *name, const char *value)
{
        const char *found = udev_device_get_property_value(device, name);

        return found && streq(found, value);
}

static int read_properties(struct udev_device *device, struct device_facts *facts)
{
        int r;

        facts->in_udev = udev_device_get_is_initialized(device) > 0;
        facts->multipath_path = property_is(device, "DM_MULTIPATH_DEVICE_PATH", "1");
        facts->pvscan_on_lvs = property_is(device, "LVM_PVSCAN_ON_LVS", "1");
        facts->rules_disabled = property_is(device, "DM_UDEV_DISABLE_OTHER_RULES_FLAG", "1");
        facts->not_ready = property_is(device, "SYSTEMD_READY", "0");
        r = copy_property(device, "ID_FS_TYPE", &facts->fs_type);
        return r < 0 ? r : copy_property(device, "ID_PART_TABLE_TYPE", &facts->partition_table);
}

static int read_udev(struct device_facts *facts)
{
        struct udev *udev = udev_new();
        struct udev_device *device = udev ? udev_device_new_from_devnum(udev, 'b', facts->number) : NULL;
        int r = udev ? 0 : -ENOMEM;

        if (device)
                r = read_properties(device, facts);
        udev_device_unref(device);
        udev_unref(udev);
        return r;
}

int device_facts_read(const struct sources *sources, const char *path, dev_t number, struct device_facts *ret)
{
        _cleanup_device_facts_ struct device_facts facts = {.number = number, .path = strdup(path)};
        int r;

        if (!facts.path)
                return -ENOMEM;
        r = read_sysfs(sources, &facts);
        if (r >= 0)
                r = read_udev(&facts);
        if (r >= 0 && !facts.suspended)
                r = pv_read(path, &facts.pv);
        if (r < 0)
                return r;
        *ret = facts;
        facts = (struct device_facts){};
        return 0;
}

void device_facts_done(struct device_facts *facts)
{
        free(facts->path);
        free(facts->kernel_name);
        free(facts->upper_map);
        free(facts->fs_type);
        free(facts->partition_table);
        pv_done(&facts->pv);
        *facts = (struct device_facts){};
}
