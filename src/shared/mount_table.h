/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libmount.h>

#include "shared/macro.h"

/* The lines of mountinfo, swaps or fstab, which libmount tells apart, without those that it does not understand.
 * Starts empty: all zeros. */
struct mount_table {
        struct libmnt_table *table;
        struct libmnt_fs **entries; /* in the order of the lines; the table's */
        size_t n;
};

/* Returns 1; 0 if there is no such file, and then there are no lines; or a negative errno. */
int mount_table_read(int dir_fd, const char *path, struct mount_table *ret) _nonnull_(2, 3) _must_check_;
void mount_table_done(struct mount_table *table) _nonnull_(1);
#define _cleanup_mount_table_ _cleanup_(mount_table_done)

#define FOREACH_MOUNT(entry, list)                                                                                \
        for (struct libmnt_fs **entry##_at = (list)->entries, *entry;                                             \
                entry##_at != (list)->entries + (list)->n && ((entry = *entry##_at), true); entry##_at++)
