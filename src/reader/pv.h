/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-device.h>

#include "lvm/metadata.h"
#include "reader/reader.h"

/* The LVM structures on a device, as read by headgate. */
struct pv {
        bool suspended; /* I/O to the device waits, so it was not read */
        int error;      /* 0, or a negative errno if the device is unreadable, see reader_describe_error() */
        char *damage;   /* the damage of label or metadata; NULL for none */
        uint32_t md_disks,
                md_role; /* of a member of an md array (superblock 1.2): number of disks, and its role; else 0 */
        bool found;      /* there is a label, and the following fields are set */
        bool unused;     /* a metadata area is in use and empty: the PV belongs to no VG */
        char pvid[LVM_ID_SIZE];
        struct vg *metadata; /* the newest undamaged copy; NULL for none */
};

/* Reads the device `number`, or an image if that is 0, at `path`, in another process. By sysfs below `root_fd`, does not read a
 * suspended device, whose reader would hang until it is resumed. An unresponsive device times out after 3 seconds, with the
 * error -ETIMEDOUT; a disk that another host has reserved, by the kernel's log, has -EBADE. Returns 0 or -ENOMEM. Everything else
 * is in `*ret`, to be freed with pv_done(). */
int pv_read(int root_fd, dev_t number, const char *path, struct pv *ret) _nonnull_all_ _must_check_;

/* Enumerates block devices whose ID_FS_TYPE in udev's database is `fs_type`, "LVM2_member" for PVs. Returns 0, with
 * `*ret` to be unreferenced by the caller, or a negative errno, -EOPNOTSUPP below a chosen root. */
int devices_with_signature_new(const char *fs_type, sd_device_enumerator **ret) _nonnull_all_ _must_check_;
#define FOREACH_UDEV_DEVICE(device, enumerator)                                                                   \
        for (sd_device *device = sd_device_enumerator_get_device_first(enumerator); device;                       \
                device = sd_device_enumerator_get_device_next(enumerator))

void pv_done(struct pv *pv) _nonnull_all_;
#define _cleanup_pv_ _cleanup_(pv_done)
