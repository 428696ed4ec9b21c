/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Leaves alone, with all that is below, what others than systemd and headgate take down:
 *
 *  - LVs of VGs that several machines share, as lvm2's lock managers have to know: with a lock_type
 *    (lvmlockd(8)), or clustered. By lvm2's backups of their metadata; a VG without one is taken for the
 *    machine's own. Only if lvm.conf says use_lvmlockd=1, or is damaged: otherwise lvm2 has not activated them
 *  - md arrays with "external" metadata (the kernel's Documentation/admin-guide/md.rst), which mdmon(8) keeps:
 *    mdadm has it brought up to date at the very end of a shutdown
 *
 * Before tree_order(). Returns 0 or -ENOMEM. */
int teardown_skip_foreign(struct tree *tree, int root_fd) _nonnull_(1) _must_check_;
