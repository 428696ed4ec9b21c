/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "lvm/config.h"
#include "shared/names.h"
#include "shared/util.h"

/* The VGs that are known before any disk has appeared, and which of them boot waits for. The sources are lvm2's
 * metadata backups, written at every change, and PVs recorded by the initrd; headgate has no list of its own that
 * could be out of date. */

enum plan_group {
        PLAN_BOOT, /* a local entry of fstab, crypttab or the command line names it, or boot_volume_groups does */
        PLAN_UNNAMED, /* no entry names it */
        PLAN_NET,     /* only entries with _netdev, or net_volume_groups, name it */
        PLAN_NONE,    /* must not be activated */
};

struct planned_vg {
        char *name;             /* the key, first for bsearch() */
        char vgid[LVM_ID_SIZE]; /* empty if only the name is known */
        enum plan_group group;
        char *reason;       /* why it is in its group, or is not activated: a sentence, or the end of one */
        bool needed;        /* an entry without nofail names it, or headgate.conf does */
        const char *source; /* the file that names it, a constant; NULL if none does */
        char *unit;         /* headgate-vg@NAME.service; NULL without a group, or if the name is too long */
};

/* The limit of names in a drop-in: systemd allows 1 MiB for the line of names. */
#define PLAN_VGS_MAX 4096

/* Initialize with zeros. */
struct plan {
        struct planned_vg *vgs; /* by name */
        size_t n;
        struct strv hints;  /* see hints_read() */
        struct strv tagged; /* devices of entries, as written, whose names do not contain a VG */
        struct strv unmet;  /* see plan_find_unmet() */
};

/* Adds the VGs with a backup in `configuration->backup_dir`, below `root_fd`, except those in `seen`, which is
 * sorted; no file of these is read. With `seen` NULL adds all, and those whose PVs the initrd has left in run/lvm.
 * Damaged or unreadable files, and everything beyond 64 MiB or PLAN_VGS_MAX, are added to `problems` and skipped;
 * these VGs are activated when their disks appear. Returns 0 or -ENOMEM. */
int known_add(int root_fd, const struct config *config, const struct strv *seen, struct plan *plan,
        struct problems *problems) _nonnull_(2, 4, 5) _must_check_;

/* Whether `seen`, which is sorted, has that name; false if it is NULL. */
bool known_is_seen(const struct strv *seen, const char *name) _nonnull_(2);

/* Adds a VG to group "rest", unless it exists. Returns 0 and `*ret`, valid until the next one is added; -E2BIG or
 * -ENOMEM. */
int plan_add(struct plan *plan, const char *name, struct planned_vg **ret) _nonnull_all_ _must_check_;

/* Returns the VG with that name, or NULL. */
struct planned_vg *plan_find(const struct plan *plan, const char *name) _nonnull_all_;

/* Moves the VG to PLAN_BOOT or PLAN_NET because `source`, a constant, names `what`. A VG in PLAN_NONE stays there, and one in a
 * more urgent group, or claimed for this one before. Returns 0 or -ENOMEM. */
int plan_claim(struct planned_vg *vg, enum plan_group group, const char *source,
        const char *what) _nonnull_all_ _must_check_;

void plan_done(struct plan *plan) _nonnull_all_;
#define _cleanup_plan_ _cleanup_(plan_done)

/* The kind of a device, from its name alone, as devices have not appeared yet. lvm2 and udev make the names of LVs
 * (lvm2, lib/activate/dev_manager.c and udev/13-dm-disk.rules.in). */

enum device_kind {
        DEVICE_OTHER,   /* not an LV, or its VG is unknown */
        DEVICE_OF_NAME, /* an LV of the VG of that name, or another device with such a name */
        DEVICE_OF_ID,   /* an LV, of the VG with that identifier */
        DEVICE_TAGGED,  /* perhaps an LV: the name is the UUID or label of its contents */
};

struct device_name {
        enum device_kind kind;
        char vg[LVM_NAME_SIZE]; /* name or identifier of the VG, or "" */
};

/* Parses `device`, a path or a tag ("UUID=...") as in fstab(5). Returns 0 or -ENOMEM. */
int device_name_read(const char *device, struct device_name *ret) _nonnull_all_ _must_check_;

/* Hints: the VG at an earlier boot of each device whose name does not contain it, "UUID=...". */
#define HINTS_FILE "/etc/headgate/uuids"
#define HINTS_SIZE_MAX (64U * 1024)

/* Reads the lines of the file, each a printable device, a space and a VG. Invalid lines, and an unreadable or too
 * large file, are added to `problems` and skipped. A file behind a link, or on another file system than "/", does
 * not count. Returns 0 or -ENOMEM. */
int hints_read(int root_fd, struct strv *ret, struct problems *problems) _nonnull_all_ _must_check_;

/* Returns the VG of a device as written in an entry, or NULL. */
const char *hints_find(const struct strv *hints, const char *device) _nonnull_all_;

/* Writes the lines, unless the file has them already. Returns 0 or a negative errno; -EROFS or -EXDEV if there can
 * be no hints. */
int hints_write(int root_fd, const char *text) _nonnull_all_ _must_check_;

/* Follows udev's links from `name`, a path or a tag, to the kernel's name of the device, below the root, as tests
 * have a /dev of their own. Returns 0 and `*ret`, NULL before and to be freed by the caller; -ENODEV if there is no
 * such device; -EINVAL if it names no device; or another negative errno. */
int device_follow(int root_fd, const char *name, char **ret) _nonnull_all_ _must_check_;

/* Finds the VG of the LV `device`, with kind DEVICE_OF_NAME; DEVICE_OTHER for any other device. For a missing
 * device, uses the hints. Returns 0 or -ENOMEM. */
int device_find_vg(int root_fd, const struct strv *hints, const char *device,
        struct device_name *ret) _nonnull_all_ _must_check_;
