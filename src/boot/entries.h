/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/known.h"

/* What boot waits for: the devices that fstab(5), crypttab(5) and the kernel's command line name, in this order. On the
 * command line these are root=, mount.usr= and resume=, rd.lvm.lv= and rd.lvm.vg=, systemd.mount-extra= and
 * systemd.swap-extra=. Entries with noauto do not count, as nothing waits for them. */

#define FSTAB_FILE "/etc/fstab"

/* Has the entries in the files below `root_fd` claim the VGs of the plan. Where one may be of any VG, sets `rest_urgent`;
 * but not of what is in use by now: of fstab the root and /usr, of the command line what the initrd has dealt with. A missing
 * file has no entries; a line that makes no sense is added to `problems` and left out; so is a file that cannot be read,
 * which may name any VG. Returns 0 or -ENOMEM. */
int entries_claim(int root_fd, struct plan *plan, struct problems *problems) _nonnull_(2, 3) _must_check_;
