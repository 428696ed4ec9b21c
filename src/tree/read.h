/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/dm-devices.h"
#include "tree/tree.h"

/* Reading a storage tree, of the machine or of what test/tree/capture has copied of one. What comes or goes meanwhile is in
 * the tree or not; what is not as it should be is not in it. Functions return 0 or a negative errno unless they say
 * otherwise. */

/* Reads all of it: tree_add_devices(), and on top of that tree_add_usage(). `*ret` is to be freed with tree_free(). What
 * follows is tree_order(). */
int tree_read(int root_fd, struct tree **ret) _nonnull_all_ _must_check_;

/* Adds all block devices and what holds what, by device-mapper's list `devices` or without it, /proc/partitions and sysfs:
 * /sys/dev/block/MAJOR:MINOR, its partition, slaves/ (to which the kernel always adds a link when it adds one to
 * holders/), loop/backing_file, md/array_state and md/metadata_version (the kernel's Documentation/ABI, and
 * Documentation/admin-guide/md.rst). Loop devices without a file and md arrays that are not assembled are left
 * out. */
int tree_add_devices(struct tree *tree, const struct dm_devices *devices) _nonnull_(1) _must_check_;

/* Adds one device, of those that device-mapper lists, or else as a disk, without what holds what. Returns it, or NULL without
 * memory; it may have been there already. */
struct tree_node *tree_add_single_device(struct tree *tree, const struct dm_devices *devices,
        const char *kernel_name, dev_t number) _nonnull_(1, 3);

/* Adds what lies on the devices that are there, however indirectly, by holders/ and the directories of partitions in sysfs.
 * What that costs does not grow with the machine's devices. */
void tree_add_holders(struct tree *tree, const struct dm_devices *devices) _nonnull_(1);

/* Adds all mounts and swaps to a tree that has none yet, and what the files of loop devices lie on. Skips what systemd
 * does not unmount before it has stopped all units, and all below: what is mounted at /, /usr and /etc, what an overlay
 * at / is made of, at /sysroot, at and below /run/initramfs, at and below /run/nextroot or where that leads, which is the root file
 * system after a soft reboot (systemd-soft-reboot.service(8)), and where fstab(5) says x-initrd.mount (systemd.mount(5)); and devices
 * of which crypttab(5) or veritytab(5) says x-initrd.attach. */
int tree_add_usage(struct tree *tree) _nonnull_all_ _must_check_;

/* Reads /proc/self/mountinfo and /proc/swaps (proc(5)), and brings the tree's mounts and swaps up to date with
 * them. What is new is added, below it the devices and mounts that it holds, and belongs to the storage tree of the first of
 * these. What is no longer there is gone, as by tree_node_gone(). A mount of a file system on several devices holds all of
 * them if it is btrfs (/sys/fs/btrfs/UUID/devices), else the one that it names.
 *
 * Returns 1 if something has gone, 0, or a negative errno; if that is not -ENOMEM, the tree is as it was. */
int tree_read_mounts(struct tree *tree) _nonnull_all_ _must_check_;

/* Adds all devices of the mounted btrfs file system that the device is one of (/sys/fs/btrfs/UUID/devices); none if it is of
 * none. Returns 0 or -ENOMEM. */
int tree_find_btrfs_devices(const struct tree *tree, const struct tree_node *device,
        struct tree_nodes *ret) _nonnull_all_ _must_check_;

/* Sets `on_network` of all that is gone when the network is: network disks and file systems, and whatever holds
 * any of them, however indirectly. Of disks sysfs says that, in the kernel's own terms:
 *
 *  - iSCSI: the device lies below a "sessionN" (drivers/scsi/scsi_transport_iscsi.c)
 *  - FCoE: it lies below a "ctlr_N" (Documentation/ABI/testing/sysfs-bus-fcoe), which a network device has
 *  - NVMe over fabrics: its controller lies below "nvme-fabrics". A disk with several controllers belongs to
 *    their subsystem, which has links to them (drivers/nvme/host/fabrics.c, core.c and multipath.c)
 *  - nbd, rbd, DRBD, ATA over Ethernet, RNBD: by its name (drivers/block/)
 *
 * Once the mounts are known. Returns 0 or -ENOMEM. */
int tree_find_network(struct tree *tree) _nonnull_all_ _must_check_;
