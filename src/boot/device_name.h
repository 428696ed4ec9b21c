/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"
#include "shared/names.h"

/* What a device is, as far as its name tells: names are all that there is before the devices have appeared. Names
 * of LVs are of lvm2's and of udev's making (lvm2, lib/activate/dev_manager.c and udev/13-dm-disk.rules.in). */

enum device_kind {
        DEVICE_OTHER,      /* certainly no LV, or nothing that one could tell the VG of */
        DEVICE_OF_NAME,    /* an LV, of the VG of that name; or a device of others with a name like that */
        DEVICE_OF_ID,      /* an LV, of the VG with that identifier */
        DEVICE_UNRESOLVED, /* it may be any LV: what it is named by, only the device itself will tell */
};

struct device_name {
        enum device_kind kind;
        char volume_group[LVM_NAME_SIZE]; /* the VG's name or identifier, else empty */
};

/* Looks at `device`, a path or a tag ("UUID=...") as in fstab(5). Returns 0 or -ENOMEM. */
int device_name_read(const char *device, struct device_name *ret) _nonnull_(1, 2) _must_check_;
