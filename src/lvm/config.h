/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "shared/macro.h"
#include "shared/names.h"
#include "shared/util.h"

/* The host's own system ID: a VG that has another one belongs to another host, and lvm2 does not touch it. See
 * lvmsystemid(7). */
struct system_id {
        bool known;        /* whether it could be told from files; if not, leave the VG to lvm2 */
        char *id;          /* NULL if the host has none */
        struct strv extra; /* other hosts' IDs that are as good */
};

/* What lvm2 makes of a text that is to be a system ID: letters, digits and "._-+" of it, beginning with a
 * letter or digit, 128 at most. Empty if nothing is left, or if it begins with "localhost". Returns a string to
 * be freed by the caller, or NULL without memory. */
char *system_id_from_text(const char *text) _nonnull_all_ _must_check_;

/* Whether lvm2 would keep its hands off a VG with that system ID, which may be NULL. */
bool system_id_is_foreign(const struct system_id *host, const char *id) _nonnull_(1);

/* A list of strings, which does not mean the same if it is empty as if it is not there. */
struct config_list {
        bool set;
        struct strv values;
};

enum list_naming {
        LIST_NAMES,        /* also if there is no list */
        LIST_NAMES_BY_TAG, /* perhaps: lvm2 has to tell */
        LIST_DOES_NOT_NAME,
};

/* Whether one of the lists of what may be activated names the LV; `lv` may be NULL, for any LV of the VG. How lvm2 reads them is
 * in lvm.conf(5): "vg", "vg/lv", "@tag", "@*". */
enum list_naming config_list_find(const struct config_list *list, const char *vg, const char *lv) _nonnull_(1, 2);

/* What lvm.conf and lvmlocal.conf say, the latter counting more, as far as headgate has to know it before lvm2
 * runs. Read with libdevmapper's parser. A file that is missing counts as empty. So does a damaged one, as lvm2
 * itself says what is wrong with it whenever it runs. */
struct config {
        bool event_activation;      /* global/event_activation */
        bool udev_sync, udev_rules; /* activation/udev_sync and udev_rules: whether udev makes the links of LVs */
        bool use_lvmlockd;          /* global/use_lvmlockd; without it lvm2 activates no LV of a shared VG */
        char *backup_dir;  /* backup/backup_dir: where lvm2 keeps the metadata of the VGs that it has seen */
        char *archive_dir; /* backup/archive_dir: and as it was before each change */
        char *locking_dir; /* global/locking_dir: where lvm2's commands keep each other out */
        struct system_id system_id;
        struct config_list filter;                      /* devices/filter */
        struct config_list global_filter;               /* devices/global_filter */
        struct config_list volume_list;                 /* activation/volume_list: what may be activated at all */
        struct config_list auto_activation_volume_list; /* and what is by itself */
        bool scan_lvs;       /* devices/scan_lvs: whether lvm2 takes notice of PVs on LVs */
        int use_devicesfile; /* devices/use_devicesfile; -1 without a setting: the default depends on the build */
        char *devicesfile;   /* devices/devicesfile: the name of a file in etc/lvm/devices */
};

/* Reads both files from etc/lvm below `root_fd`; one that is damaged or cannot be read is added to `problems`.
 * Returns 0 and `*ret`, to be emptied with config_done(), or -ENOMEM. */
int config_read(int root_fd, struct config *ret, struct problems *problems) _nonnull_all_ _must_check_;
void config_done(struct config *config) _nonnull_all_;
#define _cleanup_config_ _cleanup_(config_done)

/* One boolean setting as lvm2 run by this process would see it: from $LVM_SYSTEM_DIR or /etc/lvm. `otherwise` is lvm2's default, also
 * for want of memory. */
bool config_ask(const char *path, bool otherwise) _nonnull_all_;

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
bool devices_file_is_to_be_made(int root_fd, const char *name) _nonnull_all_;

/* Whether the file `name` in etc/lvm/devices below `root_fd` lists the PV. Returns one of the above, or a negative
 * errno. */
int devices_file_find_pv(int root_fd, const char *name, const char pvid[LVM_ID_SIZE]) _nonnull_all_ _must_check_;

/* What differs between the versions of lvm2, as far as headgate has to heed it. lvm2 is asked for nothing: its
 * version is told by that of libdevmapper, which comes from the same source (lvm2, VERSION and VERSION_DM). */

/* Whether pvscan, being shown a device, knows it by no names but those that it is called by and those in $DEVLINKS,
 * which it reads if it is shown one device only: lvm2 2.03.19 and later (lvm2, tools/pvscan.c). Before that, it
 * looks for links itself if a filter accepts some, whatever it is shown. */
bool lvm_version_takes_links_from_udev(void);
