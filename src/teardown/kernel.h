/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Removes the device in the running kernel, and returns when it is removed:
 *
 *  - a device-mapper device by DM_DEV_REMOVE (linux/dm-ioctl.h), by its UUID if it has one, else by its number. The kernel
 *    announces that to udev. There is no cookie, since nothing waits for udev.
 *  - an md array by writing "clear" to md/array_state (the kernel's Documentation/admin-guide/md.rst), which unlike the ioctl
 *    does not open the device.
 *  - a loop device by LOOP_CLR_FD (linux/loop.h). A device in use keeps its file, except at shutdown.
 *
 * Thread-safe. Returns 0, also if the device did not exist; -EBUSY while it is open; or another negative errno. */
int kernel_remove(const struct removal *removal) _nonnull_all_;

/* The open count of a device-mapper device; 0 for others, or if unknown. Only for the thread that owns the tree. */
unsigned int kernel_count_opens(const struct tree_node *node) _nonnull_all_;

/* Makes multipath maps without a working path fail I/O instead of queueing it, by the message "fail_if_no_path" (the kernel's
 * drivers/md/dm-mpath.c). So an unmount that waits for this I/O can end. Concerns maps that are still to be removed; logs a line
 * for each. */
void multipath_stop_queueing(const struct tree *tree) _nonnull_all_;

/* Whether device-mapper's status of a map has no active path. Each path is a device number followed by "A" or "F" (the kernel's
 * drivers/md/dm-mpath.c, multipath_status()). */
bool multipath_status_is_dead(const char *status) _nonnull_all_;
