/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "shared/macro.h"

/* The number of the block device that `link` below `dir_fd` is or leads to, whose absolute path is `target`; 0 if
 * that is no block device.
 *
 * Only what has its name below /dev/ is asked at all, and in a way that does not wait for any server: to ask a
 * file system that hangs is to hang. */
dev_t device_number_of_link(int dir_fd, const char *link, const char *target) _nonnull_(2, 3);
