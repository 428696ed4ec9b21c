/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-device.h>

#include "lvm/metadata.h"
#include "reader/reader.h"

/* What is on a device, by headgate's own reader of LVM's structures. */
struct pv {
        int error; /* 0, or the negative errno with which the device cannot be read, see reader_describe_error() */
        char *damage; /* how label or metadata are damaged; NULL if they are not */
        uint32_t md_disks,
                md_role; /* of a member of an md array, by its superblock 1.2: how many it has, and which it is; 0 of others */
        bool found;  /* there is a label, and what follows is set */
        bool unused; /* a metadata area is in use and empty: the PV belongs to no VG */
        char pvid[LVM_ID_SIZE];
        struct vg *metadata; /* the newest copy that is not damaged; NULL if there is none */
};

/* Reads the device or image `path`, in another process. A device that does not answer is given up after 3 seconds, with the
 * error -ETIMEDOUT. Returns 0 or -ENOMEM: all else is in `*ret`, which is to be emptied with pv_done(). */
int pv_read(const char *path, struct pv *ret) _nonnull_all_ _must_check_;

/* Walks the block devices on which udev has found that (ID_FS_TYPE), "LVM2_member" for PVs. Returns 0, with `*ret` to be unreferenced by
 * the caller, or a negative errno. */
int devices_with_signature_new(const char *fs_type, sd_device_enumerator **ret) _nonnull_all_ _must_check_;
#define FOREACH_UDEV_DEVICE(device, enumerator)                                                                   \
        for (sd_device *device = sd_device_enumerator_get_device_first(enumerator); device;                       \
                device = sd_device_enumerator_get_device_next(enumerator))

void pv_done(struct pv *pv) _nonnull_all_;
#define _cleanup_pv_ _cleanup_(pv_done)
