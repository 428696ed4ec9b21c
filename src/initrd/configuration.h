/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* The words that tell an initrd of initramfs-tools what to boot from. Source: initramfs-tools 0.142, init and
 * mkinitramfs. */

/* In both, `key` comes with its "=". Return 0 and a value to be freed by the caller, -ENOENT without that key, or
 * another negative errno. */

/* The value of the last word KEY=VALUE on the kernel's command line (/proc/cmdline). */
int kernel_command_line_get(int root_fd, const char *key, char **ret) _nonnull_(2, 3) _must_check_;

/* The value of the last assignment to a variable in initramfs.conf and the files in conf.d, in the order in which
 * mkinitramfs reads them. These are shell scripts; what only a shell can tell counts as no assignment. */
int initramfs_configuration_get(int root_fd, const char *key, char **ret) _nonnull_(2, 3) _must_check_;
