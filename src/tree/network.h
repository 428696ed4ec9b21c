/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Sets `on_network` of all that is gone when the network is: network disks and file systems, and whatever holds
 * any of them, however indirectly. Of disks sysfs says that, in the kernel's own terms:
 *
 *  - iSCSI: the device lies below a "sessionN" (drivers/scsi/scsi_transport_iscsi.c)
 *  - FCoE: it lies below a "ctlr_N" (Documentation/ABI/testing/sysfs-bus-fcoe), which a network device has
 *  - NVMe over fabrics: the transport of its controller is not a bus. A disk with several controllers belongs to
 *    their subsystem, which has links to them (drivers/nvme/host/sysfs.c, core.c and multipath.c)
 *  - nbd, rbd, DRBD, ATA over Ethernet, RNBD: by its name (drivers/block/)
 *
 * Once the mounts are known. Returns 0 or -ENOMEM. */
int tree_find_network(struct tree *tree, int root_fd) _nonnull_(1) _must_check_;
