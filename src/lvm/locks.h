/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>

#include "shared/macro.h"

/* lvm2's locks of VGs, for whoever changes what lvm2 believes to be alone with. As lvm2 takes them itself (lvm2,
 * lib/locking/file_locking.c and lib/misc/lvm-flock.c): flock(2) on the file V_NAME in a directory, which is made
 * for it and removed with it. */

struct volume_group_locks {
        char *directory;
        struct dm_hash_table *locks; /* by the VG's name */
};

/* `directory` is global/locking_dir of lvm.conf, and is made if it does not exist. Returns 0 or a negative
 * errno. */
int volume_group_locks_init(struct volume_group_locks *locks, const char *directory) _nonnull_(1, 2) _must_check_;

/* Takes the lock of a VG against everybody else. While somebody has it, tries again until `until_usec`, as by
 * now_usec(). Returns 1 if it has been taken now; 0 if it had been before, or cannot be taken; or -ENOMEM. */
int volume_group_locks_take(struct volume_group_locks *locks, const char *name, uint64_t until_usec)
        _nonnull_(1, 2) _must_check_;

/* What came of the last try: 0, a negative errno, -EAGAIN if somebody else has the lock; or -ENOENT for a VG that
 * was not tried. */
int volume_group_locks_get(const struct volume_group_locks *locks, const char *name) _nonnull_(1, 2);

/* Gives all of them back. */
void volume_group_locks_done(struct volume_group_locks *locks) _nonnull_(1);
#define _cleanup_volume_group_locks_ _cleanup_(volume_group_locks_done)
