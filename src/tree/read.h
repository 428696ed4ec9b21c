/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Reads the storage tree of the machine, or of what test/tree/capture has copied of one: tree_add_devices(), and on top of
 * that tree_add_usage(). What comes or goes meanwhile is in the tree or not; what is not as it should be is not in it. `*ret`
 * is to be freed with tree_free(). What follows is tree_order(). Returns 0 or a negative errno. */
int tree_read(int root_fd, struct tree **ret) _nonnull_(2) _must_check_;

/* Adds all mounts and swaps to a tree that has none yet, and what the files of loop devices lie on. Skips what systemd
 * does not unmount before it has stopped all units, and all below: what is mounted at /, /usr and /etc, what an overlay
 * at / is made of, at and below /run/initramfs, at and below /run/nextroot, which is the root file system after a soft
 * reboot (systemd-soft-reboot.service(8)), and where fstab(5) says x-initrd.mount (systemd.mount(5)). Returns 0 or a
 * negative errno. */
int tree_add_usage(struct tree *tree, int root_fd) _nonnull_(1) _must_check_;

/* Reads /proc/self/mountinfo and /proc/swaps (proc(5)), and brings the tree's mounts and swaps up to date with
 * them. What is new is added, below it the devices and mounts that it holds. What is no longer there is gone,
 * as by tree_node_gone(). A mount of a file system on several devices holds all of them if it is btrfs
 * (/sys/fs/btrfs/UUID/devices), else the one that it names. `went` and `came`, which start empty, get the nodes
 * that are concerned; they are to be given back with tree_nodes_done() whatever is returned.
 *
 * Returns 0 or a negative errno; if that is not -ENOMEM, the tree is as it was. */
int tree_read_mounts(struct tree *tree, int root_fd, struct tree_nodes *went, struct tree_nodes *came)
        _nonnull_(1, 3, 4) _must_check_;

/* Adds all devices of the mounted btrfs file system that the device is one of (/sys/fs/btrfs/UUID/devices); none if it is of
 * none. Returns 0 or -ENOMEM. */
int tree_find_btrfs_devices(const struct tree *tree, int root_fd, const struct tree_node *device,
        struct tree_nodes *ret) _nonnull_(1, 3, 4) _must_check_;
