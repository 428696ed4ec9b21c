/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Finds out, once everything is in the tree, what can go in which order: `step` and `cycle` of each node, and
 * `component`, the storage tree that it belongs to. Two nodes are of one tree if one holds the other, however
 * indirectly, or if they are LVs of one VG. What only has in common that it is mounted below something that is
 * not to be removed, such as /, is not. And the name of each of these: the VG in it, "vg0 and 2 more" if there are
 * several, in the order of the alphabet; without one, the disk, or what else there is at the bottom. Once for a tree. */
int tree_order(struct tree *tree) _nonnull_(1) _must_check_;
