/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"
#include "shared/names.h"

/* lvm2's devices file: which devices lvm2 may use at all. Source of the format: lvmdevices(8) and lvm2,
 * lib/device/device_id.c: one line for each device, of words "IDTYPE=sys_wwid IDNAME=... DEVNAME=/dev/sda
 * PVID=..."; a PVID of "." is that of a device that is no PV. Comments begin with "#". */

enum {
        DEVICES_FILE_LISTED = 0,
        DEVICES_FILE_NOT_LISTED = 1,
        DEVICES_FILE_NONE = 2, /* there is no such file, and lvm2 may use all devices */
};

/* Whether lvm2 is to make the file `name` at the first boot of an image: its vgchange -aay of the VG that / lies on starts that
 * (lvm2 2.03.24, tools/vgchange.c), also if all LVs are active. */
bool devices_file_is_to_be_made(int root_fd, const char *name) _nonnull_(2);

/* Whether the file `name` in etc/lvm/devices below `root_fd` lists the PV. Returns one of the above, or a negative
 * errno. */
int devices_file_find_pv(int root_fd, const char *name, const char pvid[LVM_ID_SIZE]) _nonnull_(2, 3) _must_check_;
