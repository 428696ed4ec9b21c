/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Adds what sysfs does not say of LVs, once all devices and their edges are there: which nodes are PVs, and
 * that an origin holds its snapshots. The kernel would let go of a snapshot at any time, but what is written to
 * the origin after that would be missing in it, and it would have lost its meaning when it is activated again. */
int tree_add_lvm(struct tree *tree) _nonnull_(1) _must_check_;
