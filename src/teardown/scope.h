/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/config.h"
#include "tree/tree.h"

/* The nodes to remove at shutdown. There are two units, since storage on network disks has to be removed before the network is
 * stopped. */
enum teardown_scope {
        TEARDOWN_LOCAL,
        TEARDOWN_NETWORK,
        TEARDOWN_ALL,
};

/* Skips nodes out of scope, and calls teardown_skip_foreign(). Call it after tree_read() and before tree_order(). Returns 0 or
 * -ENOMEM.
 *
 * A node on both a network disk and a local disk is on the network; the nodes below it on the local side are not. TEARDOWN_LOCAL
 * does not wait for such a node, since a hanging network must not delay local disks. If it is not removed in time, the local
 * side is left to systemd-shutdown. */
int teardown_scope_apply(struct tree *tree, enum teardown_scope scope) _nonnull_all_ _must_check_;

/* The unit that removes a node, of a tree after teardown_scope_apply(). */
static inline const char *teardown_unit_of(const struct tree_node *node)
{
        return node->on_network ? "headgate-teardown-net.service" : "headgate-teardown.service";
}

/* Skips nodes that other programs than systemd and headgate remove, and all nodes below them:
 *
 *  - LVs of shared VGs, which lvm2's lock managers handle: with a lock_type (lvmlockd(8)), or clustered, by lvm2's metadata
 *    backups. A VG without a backup counts as not shared. Only if lvm.conf has use_lvmlockd=1 or is damaged, since otherwise
 *    lvm2 has not activated shared VGs.
 *  - md arrays with "external" metadata (the kernel's Documentation/admin-guide/md.rst), which mdmon(8) manages: mdadm updates
 *    it at the very end of a shutdown.
 *
 * `problems` are those of reading the configuration. Call it before tree_order(). Returns 0 or -ENOMEM. */
int teardown_skip_foreign(struct tree *tree, const struct config *config,
        const struct problems *problems) _nonnull_all_ _must_check_;

/* A selection of nodes to remove on a running machine. All nodes on a selected node are selected: LUKS on an LV, the LVs of the
 * VG of a PV. Nodes on a mount or swap are not, since headgate does not end these; they make the node stay. Below a selected
 * node, only its hidden LVs are selected, and an origin's snapshots, as in lvm2. PVs and other lower nodes stay.
 *
 *     selection_add...() and selection_refuse() as often as needed, selection_finish()
 *
 * After that, tree_node.selected is set for nodes to remove, and for selected nodes that are skipped. Without memory,
 * tree.error is set. Call these before tree_order(). */

/* Selects all LVs of a VG, or without one a node, and all nodes on these. The node itself need not be removable, a disk for
 * instance. Either may be NULL. Returns whether any of them is removable. */
bool selection_add(struct tree *tree, const struct tree_node *node, const char *vg) _nonnull_(1);

/* Selects all nodes that are not skipped and have no mount or swap on them, however indirectly, nor on a snapshot of them. Loop
 * devices on files are selected only if an LV is on them. */
void selection_add_unused(struct tree *tree) _nonnull_all_;

/* Skips a node because of `reason`, which is kept. Also skips all nodes on it, since removing these alone is useless, and its
 * hidden LVs. */
void selection_refuse(struct tree_node *node, const char *reason) _nonnull_all_;

/* Selects hidden LVs below selected nodes, and skips all nodes that are not selected. As lvm2, refuses an origin and its
 * snapshots if a node on one of these stays: a mount, a swap or a refused node. */
void selection_finish(struct tree *tree) _nonnull_all_;
