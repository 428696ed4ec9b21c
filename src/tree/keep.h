/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Leaves alone what systemd does not unmount before it has stopped all units, and all below: what is mounted at /,
 * /usr and /etc, what an overlay at / is made of, at and below /run/initramfs, at and below /run/nextroot, which is the root
 * file system after a soft reboot (systemd-soft-reboot.service(8)), and where fstab(5) says x-initrd.mount
 * (systemd.mount(5)). */
int tree_leave_system_alone(struct tree *tree, int root_fd) _nonnull_(1) _must_check_;
