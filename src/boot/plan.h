/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/known.h"
#include "shared/macro.h"
#include "shared/names.h"
#include "shared/settings.h"

/* Which of the VGs that the machine is known to have are to be activated at boot, and who waits for them. Made
 * of files alone: nothing is asked, no device is opened. The same files make the same plan. */

/* Reads etc/fstab, etc/crypttab, proc/cmdline, the backups and what the initrd has left, below `root_fd`. What
 * is wrong with any of these is added to `problems`, and the rest counts. `seen`, sorted, are VGs that appeared: the plan
 * then has only those of the others that files name; NULL for all. Returns 0 and `*ret`, to be emptied with plan_done(), or
 * -ENOMEM. */
int plan_make(int root_fd, const struct settings *settings, const struct config *config, const struct strv *seen,
        struct plan *ret, struct problems *problems) _nonnull_(2, 3, 5, 6) _must_check_;

/* "boot", "rest", "net", or "-" for PLAN_NONE. */
const char *plan_group_to_string(enum plan_group group);

/* ------ the parts of that, for tests ------ */

/* What boot waits for: the devices that crypttab(5), fstab(5) and the kernel's command line name, in this order. On the
 * command line these are root=, mount.usr= and resume=, rd.lvm.lv= and rd.lvm.vg=, systemd.mount-extra= and
 * systemd.swap-extra=. Entries with noauto do not count, as nothing waits for them. */

#define FSTAB_FILE "/etc/fstab"
#define CRYPTTAB_FILE "/etc/crypttab"

/* Finds out of which VG the devices are that entries name by UUID or label, and keeps that for the next boot, see hints_write(). Of one
 * that is not there now, what was known stays. Returns 0 or a negative errno. */
int plan_remember(int root_fd) _must_check_;

/* A sentence about the first entry that names a device as an LV of the VG, where there is no such device; NULL without one. */
const char *plan_find_unmet(const struct plan *plan, const char *vg) _nonnull_all_;

/* A line of crypttab. Starts empty. */
struct crypttab_entry {
        unsigned int line;
        char *name;        /* of the device in /dev/mapper */
        char *device;      /* that is unlocked, as it is written there */
        char *kernel_name; /* of that; NULL if it is not there */
};

/* The first line of crypttab below `root_fd` with that name, or that unlocks the device with that kernel name; NULL for any. Without one,
 * or a file that can be read, `*ret` stays as it is. Returns 0 or -ENOMEM. */
int crypttab_find(int root_fd, const char *name, const char *kernel_name, struct crypttab_entry *ret)
        _nonnull_(4) _must_check_;
void crypttab_entry_done(struct crypttab_entry *entry) _nonnull_all_;
#define _cleanup_crypttab_entry_ _cleanup_(crypttab_entry_done)

/* Has the entries in the files below `root_fd` claim the VGs of the plan, and adds those that only an entry knows, by the name of an
 * LV that is not there, unless they are in `seen`, see plan_make(). A missing file has no entries; a line that makes no sense is
 * added to `problems` and left out, and so is a file that cannot be read. Returns 0 or -ENOMEM. */
int entries_claim(int root_fd, const struct strv *seen, struct plan *plan, struct problems *problems)
        _nonnull_(3, 4) _must_check_;
