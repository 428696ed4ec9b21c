/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Adds what sysfs does not say of LVs, once all devices and their edges are there: which nodes are PVs, and
 * that an origin holds its snapshots. The kernel would let go of a snapshot at any time, but what is written to
 * the origin after that would be missing in it, and it would have lost its meaning when it is activated again. */
int tree_add_lvm(struct tree *tree) _nonnull_(1) _must_check_;

/* Whether both are LVs of one VG: by its identifier, as there can be two of the same name. */
bool tree_are_in_one_vg(const struct tree_node *a, const struct tree_node *b) _nonnull_(1, 2);

/* Whether it is an LV that is only there for others of its VG, which lvm2 activates and deactivates with them: a
 * part of one, or a layer between them. */
bool tree_lv_is_hidden(const struct tree_node *node) _nonnull_(1);
