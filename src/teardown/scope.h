/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/config.h"
#include "tree/tree.h"

/* Which of the nodes that are there are to be taken down. At shutdown there are two units for it, as what is on
 * the network has to go before the network does. */
enum teardown_scope {
        TEARDOWN_LOCAL,
        TEARDOWN_NETWORK,
        TEARDOWN_ALL,
};

/* Skips what is out of scope, and in any case what teardown_skip_foreign() does. After tree_read(),
 * before tree_order(). Returns 0 or -ENOMEM.
 *
 * A node that lies on a network disk and on a local one is on the network, and what is below it on the local side
 * is not: that becomes free when the former is gone, for which TEARDOWN_LOCAL does not wait, as a network that
 * hangs must not hold up local disks. If it comes too early for such a node, that is left to systemd-shutdown. */
int teardown_scope_apply(struct tree *tree, enum teardown_scope scope) _nonnull_all_ _must_check_;

/* The unit in whose scope a node is, of a tree that a scope was applied to. */
static inline const char *teardown_unit_of(const struct tree_node *node)
{
        return node->on_network ? "headgate-teardown-net.service" : "headgate-teardown.service";
}

/* Skips, with all that is below, what others than systemd and headgate take down:
 *
 *  - LVs of VGs that several machines share, as lvm2's lock managers have to know: with a lock_type
 *    (lvmlockd(8)), or clustered. By lvm2's backups of their metadata; a VG without one is taken for the
 *    machine's own. Only if lvm.conf says use_lvmlockd=1, or is damaged: otherwise lvm2 has not activated them
 *  - md arrays with "external" metadata (the kernel's Documentation/admin-guide/md.rst), which mdmon(8) keeps:
 *    mdadm has it brought up to date at the very end of a shutdown
 *
 * `problems` are those of reading the configuration. Before tree_order(). Returns 0 or -ENOMEM. */
int teardown_skip_foreign(struct tree *tree, const struct config *config,
        const struct problems *problems) _nonnull_all_ _must_check_;

/* What somebody wants to have taken down on a machine that goes on running. With a node goes all that lies on it:
 * LUKS on an LV, the LVs of a VG whose PV it is. What lies on a mount or a swap does not, as nobody ends these;
 * they are in the way. Below it, what is only there for it: the legs of a raid LV, a thin pool's data, and also
 * an origin's snapshots, as with lvm2. PVs, and all else that is below, stay.
 *
 *     selection_add...() and selection_refuse() as often as needed, selection_finish()
 *
 * After that tree_node.selected says whether a node is to go, or was to and is skipped. Before tree_order(). */

/* One node, which need not be one that can be removed: with a disk goes all that lies on it. Returns whether there is
 * something among all that that could be removed. */
bool selection_add(struct tree *tree, struct tree_node *node) _nonnull_all_;

/* All LVs of a VG. Returns whether it has one in the tree. */
bool selection_add_vg(struct tree *tree, const char *vg) _nonnull_all_;

/* All that is not skipped and on which no mount and no swap lies, however indirectly, nor on a snapshot of it; but loop devices
 * of files only where an LV lies on them. */
void selection_add_unused(struct tree *tree) _nonnull_all_;

/* Has a node stay: skipped because of `reason`, which is kept, as well as what lies on it, which would go for nothing, and
 * the hidden LVs that it consists of. */
void selection_refuse(struct tree_node *node, const char *reason) _nonnull_all_;

/* Selects what is below, and skips what is not selected, each node by itself. Also refuses an origin and
 * its snapshots, if something on one of these stays, a mount, a swap or what was refused, as lvm2 does. */
void selection_finish(struct tree *tree) _nonnull_all_;
