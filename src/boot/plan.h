/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/known.h"
#include "shared/settings.h"

/* Which of the VGs that the machine is known to have are to be activated at boot, and who waits for them. Made
 * of files alone: nothing is asked, no device is opened. The same files make the same plan. */

/* Reads etc/fstab, etc/crypttab, proc/cmdline, the backups and what the initrd has left, below `root_fd`. What
 * is wrong with any of these is added to `problems`, and the rest counts; with a table that cannot be read
 * nobody knows what boot waits for, so "rest" is urgent. `seen`, sorted, are VGs that appeared: the plan then has only those
 * of the others that files name; NULL for all. Returns 0 and `*ret`, to be emptied with plan_done(), or -ENOMEM. */
int plan_make(int root_fd, const struct settings *settings, const struct configuration *configuration,
        const struct string_vector *seen, struct plan *ret, struct problems *problems)
        _nonnull_(2, 3, 5, 6) _must_check_;

/* "boot", "rest", "net", or "-" for PLAN_NONE. */
const char *plan_group_to_string(enum plan_group group);
