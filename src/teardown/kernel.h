/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Removes the device of the running kernel, and does not come back before it is gone:
 *
 *  - one of device-mapper by DM_DEV_REMOVE (linux/dm-ioctl.h), by its UUID if it has one, else by its number. The
 *    kernel announces it to udev; there is no cookie, since nobody waits for udev
 *  - an md array by writing "clear" to md/array_state (the kernel's Documentation/admin-guide/md.rst), which
 *    unlike the ioctl needs no opened device, and so is not in its own way
 *  - a loop device by LOOP_CLR_FD (linux/loop.h). One that is in use keeps its file, but for at_shutdown
 *
 * Safe in any thread. Returns 0, also if it was gone already; -EBUSY while something has it open; or another
 * negative errno. */
int kernel_remove(const struct removal *removal) _nonnull_all_;

/* How often one of device-mapper is open; 0 for others, and if it does not tell. For the thread with the tree. */
unsigned int kernel_count_opens(const struct tree_node *node) _nonnull_all_;

/* Has all multipath maps that are to go and have not gone, and have no path that works, fail I/O instead of
 * keeping it until there is one again: whatever waits for that I/O, an unmount for instance, comes to an end. By
 * the message "fail_if_no_path" (the kernel's drivers/md/dm-mpath.c). Each map that was told has one line in the
 * log. */
void multipath_stop_queueing(const struct tree *tree) _nonnull_all_;

/* Whether the status of a map, as device-mapper prints it, has no path that is active (the kernel's
 * drivers/md/dm-mpath.c, multipath_status(): each path is a device number and then "A" or "F"). */
bool multipath_status_is_dead(const char *status) _nonnull_all_;
