/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "plan/entries.h"
#include "shared/util.h"

/* fstab(5) and crypttab(5), as far as they name devices. Entries with noauto do not count, as nothing waits for
 * them. */

#define FSTAB_FILE "etc/fstab"
#define CRYPTTAB_FILE "etc/crypttab"

/* Both read the file below `root_fd`. A missing file has no entries; a line that makes no sense is added to
 * `problems` and left out; a file that cannot be read is added to `problems` and noted in `entries->unread`. Of
 * fstab's entries for the root and /usr, an unresolved device does not count: they are mounted by now. Return 0
 * or -ENOMEM. */
int fstab_add_entries(int root_fd, struct entries *entries, struct problems *problems)
        _nonnull_(2, 3) _must_check_;
int crypttab_add_entries(int root_fd, struct entries *entries, struct problems *problems)
        _nonnull_(2, 3) _must_check_;
