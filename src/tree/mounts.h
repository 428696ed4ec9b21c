/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Reads /proc/self/mountinfo and /proc/swaps (proc(5)), and brings the tree's mounts and swaps up to date with
 * them. What is new is added, below it the devices and mounts that it holds. What is no longer there is gone,
 * as by tree_node_gone(). A mount of a file system on several devices holds all of them if it is btrfs
 * (/sys/fs/btrfs/UUID/devices), else the one that it names. `went` and `came`, which start empty, get the nodes
 * that are concerned; they are to be given back with tree_nodes_done() whatever is returned.
 *
 * Returns 0 or a negative errno; if that is not -ENOMEM, the tree is as it was. */
int tree_read_mounts(struct tree *tree, int root_fd, struct tree_nodes *went, struct tree_nodes *came)
        _nonnull_(1, 3, 4) _must_check_;
