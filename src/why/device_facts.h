/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "reader/pv.h"
#include "view/sources.h"

/* What is known of a block device: by sysfs, by udev's database (what its rules and blkid have found), and by
 * what is on it. */
struct device_facts {
        dev_t number;
        char *path;        /* as it was asked for */
        char *kernel_name; /* "sda"; NULL if sysfs does not know it */
        uint64_t size;     /* in bytes */
        bool suspended;    /* I/O to it waits, and so it was not read */
        char *upper_map;   /* the multipath device, or the md array, that is made of it; NULL for none */
        bool upper_is_md;

        bool in_udev;          /* udev has dealt with it */
        char *fs_type;         /* ID_FS_TYPE, "LVM2_member"; NULL for none, and so for the rest */
        char *partition_table; /* ID_PART_TABLE_TYPE */
        bool multipath_path;   /* DM_MULTIPATH_DEVICE_PATH=1 */
        bool pvscan_on_lvs;    /* LVM_PVSCAN_ON_LVS=1 */
        bool rules_disabled;   /* DM_UDEV_DISABLE_OTHER_RULES_FLAG=1 */
        bool not_ready;        /* SYSTEMD_READY=0 */

        struct pv pv;
};

/* Reads all of it. Returns 0 or a negative errno. */
int device_facts_read(const struct sources *sources, const char *path, dev_t number, struct device_facts *ret)
        _nonnull_(1, 2, 4) _must_check_;

void device_facts_done(struct device_facts *facts) _nonnull_(1);
#define _cleanup_device_facts_ _cleanup_(device_facts_done)
