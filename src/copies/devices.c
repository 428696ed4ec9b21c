/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "copies/devices.h"

#include <libudev.h>

#include "lvm/configuration.h"

static bool has(struct udev_device *device, const char *property, const char *value)
{
        const char *found = udev_device_get_property_value(device, property);

        return found && streq(found, value);
}

static bool is_lv(struct udev_device *device)
{
        const char *uuid = udev_device_get_property_value(device, "DM_UUID");

        return uuid && skip_prefix(uuid, "LVM-");
}

static int add(struct udev *udev, const char *path, struct string_vector *names)
{
        struct udev_device *device = udev_device_new_from_syspath(udev, path);
        const char *name = device ? udev_device_get_devnode(device) : NULL;
        int r = 0;

        if (name && !has(device, "DM_MULTIPATH_DEVICE_PATH", "1") &&
                (!is_lv(device) || configuration_scan_lvs() > 0))
                r = string_vector_add(names, name);
        udev_device_unref(device);
        return r;
}

int copies_find_devices(struct string_vector *names)
{
        struct udev *udev = udev_new();
        struct udev_enumerate *enumerate = udev ? udev_enumerate_new(udev) : NULL;
        struct udev_list_entry *entry;
        int r = enumerate ? 0 : -ENOMEM;

        if (r >= 0)
                r = udev_enumerate_add_match_subsystem(enumerate, "block");
        if (r >= 0)
                r = udev_enumerate_add_match_property(enumerate, "ID_FS_TYPE", "LVM2_member");
        if (r >= 0)
                r = udev_enumerate_scan_devices(enumerate);
        udev_list_entry_foreach(entry, r >= 0 ? udev_enumerate_get_list_entry(enumerate) : NULL) {
                r = add(udev, udev_list_entry_get_name(entry), names);
                if (r < 0)
                        break;
        }
        udev_enumerate_unref(enumerate);
        udev_unref(udev);
        return r;
}
