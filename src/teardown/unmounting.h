/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* What the kernel still has of a file system that nobody sees mounted any more: its directory in sysfs, as
 * "ext4" (/sys/fs/TYPE/DEVICE, the kernel's Documentation/ABI/testing/sysfs-fs-ext4 and -xfs), or a thread of its
 * own that is called after the device, "jbd2/dm-3-8" or "xfsaild/dm-3". `kernel_name` is "dm-3". Returns a
 * printable text, to be freed by the caller; NULL if there is no trace, or no memory. */
char *unmounting_find(const char *kernel_name) _nonnull_(1) _must_check_;

/* Whether a kernel thread's name has the device's in it, as a word. */
bool unmounting_is_thread_of(const char *thread, const char *kernel_name) _nonnull_(1, 2);
