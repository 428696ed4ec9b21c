/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/known.h"
#include "lvm/vg.h"
#include "shared/macro.h"
#include "shared/names.h"
#include "shared/settings.h"

/* The plan of boot: which known VGs to activate, and what waits for them. Made from files alone, without opening
 * devices or running programs, so the same files give the same plan. */

/* Reads etc/fstab, etc/crypttab, proc/cmdline, the backups and the PVs from the initrd, below `root_fd`. Errors in
 * these are added to `problems`. `seen`, sorted, are VGs that have appeared: the plan has only those others that
 * files name; NULL for all. Returns 0 and `*ret`, to be freed with plan_done(), or -ENOMEM. */
int plan_make(int root_fd, const struct settings *settings, const struct config *config, const struct strv *seen,
        struct plan *ret, struct problems *problems) _nonnull_(2, 3, 5, 6) _must_check_;

/* "boot", "rest", "net", or "-" for PLAN_NONE. */
const char *plan_group_to_string(enum plan_group group);

/* ------ its parts, for tests ------ */

/* Entries: the devices that boot waits for, named by crypttab(5), fstab(5) and the kernel's command line, in this
 * order. On the command line these are root=, mount.usr= and resume=, rd.lvm.lv= and rd.lvm.vg=,
 * systemd.mount-extra= and systemd.swap-extra=. Nothing waits for entries with noauto, which do not count. */

#define FSTAB_FILE "/etc/fstab"
#define CRYPTTAB_FILE "/etc/crypttab"

/* Finds the VGs of devices that entries name by UUID or label, and stores them for the next boot, see
 * hints_write(). A missing device keeps its former hint. Returns 0 or a negative errno. */
int plan_remember(int root_fd) _must_check_;

/* Returns a sentence about the first entry that names a missing LV of the VG; NULL without one. */
const char *plan_find_unmet(const struct plan *plan, const struct vg *vg) _nonnull_all_;

/* A line of crypttab. Initialize with zeros. */
struct crypttab_entry {
        char *text;         /* the memory of the next two */
        const char *name;   /* in /dev/mapper */
        const char *device; /* the encrypted device, as written in the file */
        char *kernel_name;  /* of that device; NULL if it is missing */
        unsigned int line;
};

/* Finds the first line of crypttab below `root_fd` with that name, or with a device of that kernel name; NULL for
 * any. Without one, or a readable file, `*ret` is unchanged. Returns 0 or -ENOMEM. */
int crypttab_find(int root_fd, const char *name, const char *kernel_name, struct crypttab_entry *ret)
        _nonnull_(4) _must_check_;
void crypttab_entry_done(struct crypttab_entry *entry) _nonnull_all_;
#define _cleanup_crypttab_entry_ _cleanup_(crypttab_entry_done)

/* Moves the VGs of the plan to groups by the entries in the files below `root_fd`. Adds VGs that only an entry
 * names, by an LV that is missing, unless they are in `seen`, see plan_make(). A missing file has no entries;
 * invalid lines and unreadable files are added to `problems` and skipped. Returns 0 or -ENOMEM. */
int entries_claim(int root_fd, const struct strv *seen, struct plan *plan, struct problems *problems)
        _nonnull_(3, 4) _must_check_;
