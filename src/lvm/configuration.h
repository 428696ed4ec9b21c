/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "lvm/system_id.h"
#include "shared/util.h"

/* A list of strings, which does not mean the same if it is empty as if it is not there. */
struct configuration_list {
        bool set;
        struct string_vector values;
};

/* What lvm.conf and lvmlocal.conf say, the latter counting more, as far as headgate has to know it before lvm2
 * runs. Read with libdevmapper's parser. A file that is missing counts as empty. So does a damaged one, as lvm2
 * itself says what is wrong with it whenever it runs. */
struct configuration {
        bool event_activation; /* global/event_activation */
        bool use_lvmlockd;     /* global/use_lvmlockd; without it lvm2 activates no LV of a shared VG */
        char *backup_dir;      /* backup/backup_dir: where lvm2 keeps the metadata of the VGs that it has seen */
        char *locking_dir;     /* global/locking_dir: where lvm2's commands keep each other out */
        struct system_id system_id;
        struct configuration_list filter;        /* devices/filter */
        struct configuration_list global_filter; /* devices/global_filter */
        struct configuration_list volume_list;   /* activation/volume_list: what may be activated at all */
        struct configuration_list auto_activation_volume_list; /* and what is by itself */
        bool scan_lvs;       /* devices/scan_lvs: whether lvm2 takes notice of PVs on LVs */
        bool no_devicesfile; /* devices/use_devicesfile=0; what it is without a setting depends on the build */
        char *devicesfile;   /* devices/devicesfile: the name of a file in etc/lvm/devices */
};

/* Reads both files from etc/lvm below `root_fd`; one that is damaged or cannot be read is added to `problems`.
 * Returns 0 and `*ret`, to be emptied with configuration_done(), or -ENOMEM. */
int configuration_read(int root_fd, struct configuration *ret, struct problems *problems)
        _nonnull_(2, 3) _must_check_;
void configuration_done(struct configuration *configuration) _nonnull_(1);
#define _cleanup_configuration_ _cleanup_(configuration_done)

/* Whether event activation is on, as lvm2 run by this process would see it: from $LVM_SYSTEM_DIR or /etc/lvm.
 * Returns 1 or 0. */
int configuration_event_activation(void);

/* Whether lvm2 takes notice of PVs on LVs, likewise; by default it does not. Returns 1 or 0. */
int configuration_scan_lvs(void);
