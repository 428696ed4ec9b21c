/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Adds the nodes that a name on the command line stands for: a VG, VG/LV, the kernel's or device-mapper's name of
 * a device, or the path of a device, mount point or swap. Where a VG and a device have the same name, it is both.
 * Of a tree that was captured elsewhere only the names in it count. Returns 0; -ENOENT if it is not known; or
 * -ENOMEM. */
int tree_target_find(const struct tree *tree, const char *name, struct tree_nodes *ret)
        _nonnull_(1, 2, 3) _must_check_;

/* One line on standard error about a name that is not known: that it is a VG or LV of which nothing is active, by
 * lvm2's backups below `root_fd`; or else the name that was probably meant. */
void tree_target_log_unknown(const struct tree *tree, int root_fd, const char *name) _nonnull_(1, 3);
