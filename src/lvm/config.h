/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "shared/macro.h"
#include "shared/names.h"
#include "shared/util.h"

/* The host's system ID: a VG with another one belongs to another host, and lvm2 does not touch it. See
 * lvmsystemid(7). */
struct system_id {
        bool known;        /* found in files; if false, lvm2 has to decide */
        char *id;          /* NULL if the host has none */
        struct strv extra; /* other IDs, accepted if the host has one */
};

/* Makes a system ID of a text as lvm2 does: keeps letters, digits and "._-+", from the first letter or digit on,
 * 128 characters at most. Empty if nothing is left, or if it begins with "localhost". The caller frees the result;
 * NULL without memory. */
char *system_id_from_text(const char *text) _nonnull_all_ _must_check_;

/* Whether lvm2 would refuse a VG with that system ID, which may be NULL, as foreign. */
bool system_id_is_foreign(const struct system_id *host, const char *id) _nonnull_(1);

/* A list of strings. An empty list differs from a missing one. */
struct config_list {
        bool set;
        struct strv values;
};

enum list_naming {
        LIST_NAMES,        /* or there is no list */
        LIST_NAMES_BY_TAG, /* perhaps: only lvm2 knows */
        LIST_DOES_NOT_NAME,
};

/* Whether a list of LVs to activate names the LV; `lv` may be NULL for any LV of the VG. The syntax is in
 * lvm.conf(5): "vg", "vg/lv", "@tag", "@*". */
enum list_naming config_list_find(const struct config_list *list, const char *vg, const char *lv) _nonnull_(1, 2);

/* The settings of lvm.conf and lvmlocal.conf that headgate needs before lvm2 runs; the latter overrides the former.
 * Read with libdevmapper's parser. A missing file counts as empty. So does a damaged one, which lvm2 reports
 * whenever it runs. */
struct config {
        bool event_activation; /* global/event_activation */
        bool udev_sync,
                udev_rules; /* activation/udev_sync and udev_rules: whether udev creates the links of LVs */
        bool use_lvmlockd;  /* global/use_lvmlockd; without it lvm2 activates no LV of a shared VG */
        char *backup_dir;   /* backup/backup_dir: backups of metadata */
        char *archive_dir;  /* backup/archive_dir: metadata before each change */
        char *locking_dir;  /* global/locking_dir: locks of lvm2's commands */
        struct system_id system_id;
        struct config_list filter;                      /* devices/filter */
        struct config_list global_filter;               /* devices/global_filter */
        struct config_list volume_list;                 /* activation/volume_list: what may be activated at all */
        struct config_list auto_activation_volume_list; /* LVs to autoactivate */
        bool host_tags; /* tags: this host may have some. Then only lvm2 knows which LVs may be activated: without a
                         * volume_list those with such a tag, and lvm_TAG.conf, not read here, may have other lists */
        bool scan_lvs;  /* devices/scan_lvs: whether lvm2 uses PVs on LVs */
        int use_devicesfile; /* devices/use_devicesfile; -1 without a setting: the default depends on the build */
        char *devicesfile;   /* devices/devicesfile: the name of a file in etc/lvm/devices */
};

/* Reads both files from etc/lvm below `root_fd`; damaged or unreadable ones are added to `problems`. Returns 0 and
 * `*ret`, to be freed with config_done(), or -ENOMEM. */
int config_read(int root_fd, struct config *ret, struct problems *problems) _nonnull_all_ _must_check_;
void config_done(struct config *config) _nonnull_all_;
#define _cleanup_config_ _cleanup_(config_done)

/* Returns a boolean setting as lvm2 would see it when run by this process: from $LVM_SYSTEM_DIR or /etc/lvm.
 * `default_value` is lvm2's default, also returned without memory. */
bool config_ask(const char *path, bool default_value) _nonnull_all_;

/* lvm2's devices file, which lists the devices that lvm2 may use. Source of the format: lvmdevices(8) and lvm2,
 * lib/device/device_id.c. Each device has a line of words "IDTYPE=sys_wwid IDNAME=... DEVNAME=/dev/sda PVID=...";
 * the PVID "." is that of a device without PV. Comments begin with "#". */

/* Whether lvm2 has to create the file `name` at the first boot of an image. vgchange -aay of the VG of / starts
 * that, even if all LVs are active (lvm2 2.03.24, tools/vgchange.c). */
bool devices_file_is_to_be_made(int root_fd, const char *name) _nonnull_all_;

/* Whether there is a file `name` in etc/lvm/devices below `root_fd`, and it does not list the PV; false if it is unreadable. Without
 * the file, lvm2 may use all devices. */
bool devices_file_lacks_pv(int root_fd, const char *name, const char pvid[LVM_ID_SIZE]) _nonnull_all_;

/* Differences between versions of lvm2. The version is that of libdevmapper, which is built from the same source
 * (lvm2, VERSION and VERSION_DM), so that lvm2 need not run. */

/* Whether pvscan knows a device only by the names in its arguments and in $DEVLINKS, which it reads for a single
 * device: lvm2 2.03.19 and later (lvm2, tools/pvscan.c). Earlier versions look for links themselves if a filter may
 * match them. */
bool lvm_version_takes_links_from_udev(void);
