/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "lvm/config.h"
#include "shared/names.h"
#include "shared/util.h"

/* The VGs that the machine is known to have before any disk has appeared, and which of them boot waits for. lvm2 writes a
 * backup of a VG's metadata at every change, and the initrd records the PVs that it has found. There is no list of
 * headgate's own that could be out of date. */

enum plan_group {
        PLAN_BOOT, /* a local entry of fstab, crypttab or the command line names it, or boot_volume_groups does */
        PLAN_REST, /* no entry names it */
        PLAN_NET,  /* only entries with _netdev, or net_volume_groups, name it */
        PLAN_NONE, /* it is not to be activated */
};

struct planned_vg {
        char *name;             /* first, to be found by */
        char vgid[LVM_ID_SIZE]; /* empty if only the name is known */
        enum plan_group group;
        char *reason;       /* a sentence, or the end of one: why it is in its group, or why it is not activated */
        bool needed;        /* an entry without nofail names it, or headgate.conf does */
        const char *source; /* the file that names it, a constant; NULL if none does */
        char *unit; /* headgate-vg@NAME.service; NULL in no group, or if the name is too long for a unit's */
};

/* As many VGs as a drop-in of systemd's can name: their names make one line, which may have 1 MiB. */
#define PLAN_VGS_MAX 4096

/* Starts empty: all zeros. */
struct plan {
        struct planned_vg *vgs; /* by name */
        size_t n;
        struct strv hints;  /* see hints_read() */
        struct strv tagged; /* devices of entries whose VG no name tells, as they are written there */
        struct strv unmet;  /* see plan_find_unmet() */
};

/* Adds the VGs that have a backup in `configuration->backup_dir`, below `root_fd`, but those in `seen`, which is sorted, and
 * of which no file is read. With `seen` NULL adds all, and those of which the initrd has left PVs in run/lvm. A file that is
 * damaged or cannot be read, and what is beyond 64 MiB in all or PLAN_VGS_MAX, is added to `problems` and left
 * out: its VG is activated when its disks appear. Returns 0 or -ENOMEM. */
int known_add(int root_fd, const struct config *config, const struct strv *seen, struct plan *plan,
        struct problems *problems) _nonnull_(2, 4, 5) _must_check_;

/* Whether that is a name in `seen`, which is sorted or NULL. */
bool known_is_seen(const struct strv *seen, const char *name) _nonnull_(2);

/* Adds a VG to group "rest", unless it is there. Returns 0 and `*ret`, valid until the next one is added; -E2BIG or -ENOMEM. */
int plan_add(struct plan *plan, const char *name, struct planned_vg **ret) _nonnull_all_ _must_check_;

/* The VG with that name, or NULL. */
struct planned_vg *plan_find(const struct plan *plan, const char *name) _nonnull_all_;

/* Puts the VG into PLAN_BOOT or PLAN_NET because `source`, a constant, names `what`; unless it is in no group, in a more
 * urgent one, or in this one by an earlier claim. Returns 0 or -ENOMEM. */
int plan_claim(struct planned_vg *vg, enum plan_group group, const char *source,
        const char *what) _nonnull_all_ _must_check_;

void plan_done(struct plan *plan) _nonnull_all_;
#define _cleanup_plan_ _cleanup_(plan_done)

/* What a device is, as far as its name tells: names are all that there is before the devices have appeared. Names
 * of LVs are of lvm2's and of udev's making (lvm2, lib/activate/dev_manager.c and udev/13-dm-disk.rules.in). */

enum device_kind {
        DEVICE_OTHER,   /* certainly no LV, or nothing that one could tell the VG of */
        DEVICE_OF_NAME, /* an LV, of the VG of that name; or a device of others with a name like that */
        DEVICE_OF_ID,   /* an LV, of the VG with that identifier */
        DEVICE_TAGGED,  /* it may be any LV: its name is made of what is on it, a UUID or a label */
};

struct device_name {
        enum device_kind kind;
        char vg[LVM_NAME_SIZE]; /* the VG's name or identifier, else empty */
};

/* Looks at `device`, a path or a tag ("UUID=...") as in fstab(5). Returns 0 or -ENOMEM. */
int device_name_read(const char *device, struct device_name *ret) _nonnull_all_ _must_check_;

/* Hints: of devices whose name does not tell the VG, "UUID=...", the VG that they were of at an earlier boot. */
#define HINTS_FILE "/etc/headgate/uuids"
#define HINTS_SIZE_MAX (64U * 1024)

/* Adds the lines of the file, each a device, printable, a space and a VG. What is no such line, and a file that cannot be read or is
 * larger, is added to `problems` and left out; one behind a link or on another file system than "/" does not count. Returns 0 or
 * -ENOMEM. */
int hints_read(int root_fd, struct strv *ret, struct problems *problems) _nonnull_all_ _must_check_;

/* The VG of a device as an entry names it, or NULL. */
const char *hints_find(const struct strv *hints, const char *device) _nonnull_all_;

/* Writes the lines, if they are not those of the file. Returns 0 or a negative errno; -EROFS or -EXDEV where there can be no hints. */
int hints_write(int root_fd, const char *text) _nonnull_all_ _must_check_;

/* The kernel's name of the device that `name`, a path or a tag, stands for now by udev's links. These are followed below the root, so
 * that tests can bring a /dev of their own. Returns 0 and `*ret`, NULL before and to be freed by the caller; -ENODEV if there is
 * no such device; -EINVAL for what names no device; or another negative errno. */
int device_follow(int root_fd, const char *name, char **ret) _nonnull_all_ _must_check_;

/* The VG of the LV that `device` is now, with kind DEVICE_OF_NAME; of none with DEVICE_OTHER. Of a device that is not there, what the
 * hints have. Returns 0 or -ENOMEM. */
int device_find_vg(int root_fd, const struct strv *hints, const char *device,
        struct device_name *ret) _nonnull_all_ _must_check_;
