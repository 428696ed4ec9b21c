/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

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
int teardown_scope_apply(struct tree *tree, int root_fd, enum teardown_scope scope) _nonnull_(1) _must_check_;

/* The unit in whose scope a node is, of a tree that a scope was applied to. */
const char *teardown_unit_of(const struct tree_node *node) _nonnull_(1);

/* Skips, with all that is below, what others than systemd and headgate take down:
 *
 *  - LVs of VGs that several machines share, as lvm2's lock managers have to know: with a lock_type
 *    (lvmlockd(8)), or clustered. By lvm2's backups of their metadata; a VG without one is taken for the
 *    machine's own. Only if lvm.conf says use_lvmlockd=1, or is damaged: otherwise lvm2 has not activated them
 *  - md arrays with "external" metadata (the kernel's Documentation/admin-guide/md.rst), which mdmon(8) keeps:
 *    mdadm has it brought up to date at the very end of a shutdown
 *
 * Before tree_order(). Returns 0 or -ENOMEM. */
int teardown_skip_foreign(struct tree *tree, int root_fd) _nonnull_(1) _must_check_;
