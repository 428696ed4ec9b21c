/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Reads the storage tree of the machine, or of what test/tree/capture has copied of one, and skips what
 * the running system cannot do without: tree_read_devices(), tree_read_mounts(), tree_protect_system().
 * What comes or goes meanwhile is in the tree or not; what is not as it should be is not in it. `*ret` is to be
 * freed with tree_free(). What follows is tree_order(). */
int tree_read(int root_fd, struct tree **ret) _nonnull_(2) _must_check_;

/* Skips what systemd does not unmount before it has stopped all units, and all below: what is mounted at /, /usr and
 * /etc, what an overlay at / is made of, at and below /run/initramfs, at and below /run/nextroot, which is the root
 * file system after a soft reboot (systemd-soft-reboot.service(8)), and where fstab(5) says x-initrd.mount
 * (systemd.mount(5)). */
int tree_protect_system(struct tree *tree, int root_fd) _nonnull_(1) _must_check_;
