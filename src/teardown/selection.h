/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* What somebody wants to have taken down on a machine that goes on running. With a node goes all that lies on it:
 * LUKS on an LV, the LVs of a VG whose PV it is. What lies on a mount or a swap does not, as nobody ends these;
 * they are in the way. Below it, what is only there for it: the legs of a raid LV, a thin pool's data, and also
 * an origin's snapshots, as with lvm2. PVs, and all else that is below, stay.
 *
 *     selection_init(), then selection_add...() and selection_refuse() as often as needed, selection_finish()
 *
 * Before tree_order(). Unless said otherwise, functions return 0 or -ENOMEM. */
struct selection {
        struct tree *tree;
        bool *selected; /* by tree_node.index */
};

int selection_init(struct selection *selection, struct tree *tree) _nonnull_(1, 2) _must_check_;

/* One node, which need not be one that can be removed: with a disk goes all that lies on it. Returns 1; 0 if there
 * is nothing of all that that could be removed; or -ENOMEM. */
int selection_add(struct selection *selection, struct tree_node *node) _nonnull_(1, 2) _must_check_;

/* All LVs of a VG. Returns 1; 0 if it has none in the tree; or -ENOMEM. */
int selection_add_vg(struct selection *selection, const char *vg) _nonnull_(1, 2) _must_check_;

/* All that is not left alone and on which no mount and no swap lies, however indirectly, nor on a snapshot of
 * it. */
int selection_add_unused(struct selection *selection) _nonnull_(1) _must_check_;

/* Has a node stay: left alone for that reason, as well as what lies on it, which would go for nothing, and the
 * hidden LVs that it consists of. */
int selection_refuse(struct tree_node *node, const char *reason) _nonnull_(1, 2) _must_check_;

/* Selects what is below, and leaves alone what is not selected, each node by itself. Also refuses an origin and
 * its snapshots, if something is mounted or swapped to on one of these, as lvm2 does. */
int selection_finish(struct selection *selection) _nonnull_(1) _must_check_;

/* Whether the node is to go, or was to and is left alone. */
bool selection_has(const struct selection *selection, const struct tree_node *node) _nonnull_(1, 2);

void selection_done(struct selection *selection) _nonnull_(1);
#define _cleanup_selection_ _cleanup_(selection_done)
