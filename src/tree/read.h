/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/dm-devices.h"
#include "tree/tree.h"

/* Reads a storage tree, of this machine or of a capture by test/tree/capture. Nodes that appear or disappear meanwhile may be
 * missing; invalid entries are ignored. Functions return 0 or a negative errno unless they say otherwise. */

/* Reads the whole tree: tree_add_devices() and tree_add_usage(). The caller calls tree_order() next, and frees `*ret` with
 * tree_free(). */
int tree_read(int root_fd, struct tree **ret) _nonnull_all_ _must_check_;

/* Adds all block devices and their edges, from /proc/partitions, sysfs, and device-mapper's list `devices` if there is one. Reads
 * in /sys/dev/block/MAJOR:MINOR: partition, slaves/, loop/backing_file, md/array_state, md/metadata_version (the kernel's
 * Documentation/ABI and Documentation/admin-guide/md.rst). The kernel adds links to slaves/ and holders/ together. Omits loop
 * devices without a file, and md arrays that are not assembled. */
int tree_add_devices(struct tree *tree, const struct dm_devices *devices) _nonnull_(1) _must_check_;

/* Whether it is the device of a visible LV, by its name and UUID. lvm2 also hides "pvmove0" and the empty origin of a sparse
 * snapshot. */
bool dm_device_is_visible_lv(const struct dm_device *device) _nonnull_all_;

/* Adds all mounts and swaps to a tree without any, and the mounts of loop devices' files. Skips mounts that systemd keeps until
 * all units have stopped, and all nodes below them. These are at /, /usr, /etc and /sysroot, at or below /run/initramfs and
 * /run/nextroot, layers of an overlay at /, and mounts with x-initrd.mount in fstab(5) (systemd.mount(5)). /run/nextroot, which
 * may be a link, is the root file system after a soft reboot (systemd-soft-reboot.service(8)). Also skips devices with
 * x-initrd.attach in crypttab(5) or veritytab(5). */
int tree_add_usage(struct tree *tree) _nonnull_all_ _must_check_;

/* Updates mounts and swaps of the tree from /proc/self/mountinfo and /proc/swaps (proc(5)). A new one is added with edges to its
 * devices and mounts, and belongs to the storage tree of the first of these. An ended one is gone, as by tree_node_gone(). A
 * btrfs on several devices uses all of them (/sys/fs/btrfs/UUID/devices); other file systems use the device that they name.
 *
 * Returns 1 if a node is gone, 0, or a negative errno; if that is not -ENOMEM, the tree is unchanged. */
int tree_read_mounts(struct tree *tree) _nonnull_all_ _must_check_;

/* Adds all devices of the mounted btrfs that has this device (/sys/fs/btrfs/UUID/devices); none if there is no such btrfs.
 * Returns 0 or -ENOMEM. */
int tree_find_btrfs_devices(const struct tree *tree, const struct tree_node *device,
        struct tree_nodes *ret) _nonnull_all_ _must_check_;

/* Sets `on_network` of nodes that need the network: network disks and file systems, and all nodes above them. Network disks are
 * recognized by sysfs:
 *
 *  - iSCSI: the device lies below a "sessionN" (drivers/scsi/scsi_transport_iscsi.c)
 *  - FCoE: it lies below a "ctlr_N" (Documentation/ABI/testing/sysfs-bus-fcoe), which a network device has
 *  - NVMe over fabrics: its controller lies below "nvme-fabrics". A disk with several controllers belongs to
 *    their subsystem, which has links to them (drivers/nvme/host/fabrics.c, core.c and multipath.c)
 *  - nbd, rbd, DRBD, ATA over Ethernet, RNBD: by its name (drivers/block/)
 *
 * Call this after the mounts were read. Returns 0 or -ENOMEM. */
int tree_find_network(struct tree *tree) _nonnull_all_ _must_check_;
