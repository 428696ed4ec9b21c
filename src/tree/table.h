/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libmount.h>

#include "shared/macro.h"

DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table)
#define _cleanup_mount_table_ _cleanup_(mnt_unref_tablep)
DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)
#define _cleanup_mount_iterator_ _cleanup_(mnt_free_iterp)

/* Parses a file of mountinfo, swaps or fstab, which libmount tells apart, without the lines that it does not
 * understand. A file that does not exist has no lines. `*ret` is to be given back with mnt_unref_table(). */
int mount_table_read(int root_fd, const char *path, struct libmnt_table **ret) _nonnull_(2, 3) _must_check_;
