/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Reads the storage tree of the machine, or of what test/tree/capture has copied of one, and leaves alone what
 * the running system cannot do without: tree_read_devices(), tree_read_mounts(), tree_leave_system_alone().
 * What comes or goes meanwhile is in the tree or not; what is not as it should be is not in it. `*ret` is to be
 * freed with tree_free(). What follows is tree_order(). */
int tree_read(int root_fd, struct tree **ret) _nonnull_(2) _must_check_;
