/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/tree.h"

/* Has all multipath maps that are to go and have not gone, and have no path that works, fail I/O instead of
 * keeping it until there is one again: whatever waits for that I/O, an unmount for instance, comes to an end. By
 * the message "fail_if_no_path" (the kernel's drivers/md/dm-mpath.c). Returns how many maps were told, each of
 * which has one line in the log. */
size_t multipath_stop_queueing(const struct tree *tree) _nonnull_(1);

/* Whether the status of a map, as device-mapper prints it, has no path that is active (the kernel's
 * drivers/md/dm-mpath.c, multipath_status(): each path is a device number and then "A" or "F"). */
bool multipath_status_is_dead(const char *status) _nonnull_(1);
