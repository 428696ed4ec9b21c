/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>

#include "kernel-log/shutdown.h"

/* The last shutdown of devices in a kernel log, and disks with reservation conflicts. */

/* Why a log has no shutdown: the end of a sentence that begins with the log's name. */
#define KERNEL_LOG_EMPTY "is empty"
#define KERNEL_LOG_BINARY "is not text"
#define KERNEL_LOG_UNRELATED "has no shutdown of devices; the kernel logs it with initcall_debug"
#define KERNEL_LOG_UNSTAMPED                                                                                      \
        "has no kernel timestamps; dmesg without -T, journalctl -o short-monotonic or printk.time=1 has them"
#define KERNEL_LOG_TRUNCATED "ends before all devices are shut down"

/* Reads a file, which may be a pipe. `shutdown` starts empty, and is complete only on success. Returns 0; -EBADMSG and
 * `*ret_reason`, otherwise NULL, if the log has no complete shutdown; -EFBIG above 256 MiB. Returns -E2BIG for more devices than
 * kernel_shutdown_add() accepts, or another negative errno. */
int kernel_log_read_file(
        struct kernel_shutdown *shutdown, FILE *file, const char **ret_reason) _nonnull_all_ _must_check_;

/* Finds the disks whose last error in this boot's kernel log is a conflict with the persistent reservation of another host. Such a
 * disk is a key of `*ret`, a hash table to be destroyed by the caller, by its kernel name; dm_hash_lookup() returns NULL for others.
 * Tests have the file "kernel-log" below `root_fd` instead of the log. Returns 0; -EPERM without permission to read the log; or
 * another negative errno. */
int reserved_disks_read(int root_fd, struct dm_hash_table **ret) _nonnull_all_ _must_check_;

/* ------ lines, for tests ------ */

/* Splits a line into the kernel's timestamp and the text, and changes it. These timestamps are recognized:
 *  - printk()'s seconds with six decimals: the first one in brackets, "[ 172.609825]", or without brackets at the beginning.
 *  - a record of /dev/kmsg and extended netconsole, "6,1001,172609825,-;".
 *  - in JSON of "journalctl -o json" or "dmesg --json"; the latter has the text in another line.
 * Any prefix is ignored: quote marks of mail programs, escape sequences, a priority, the stamp of a capturing program. After the
 * timestamp, a syslog prefix and a caller, "[ T123]" (CONFIG_PRINTK_CALLER), are skipped. `*ret_text` has one space for each run
 * of bytes that are not printable ASCII, and none at the ends. Returns whether there is a timestamp, in microseconds since
 * kernel start. */
bool kernel_line_parse(char *line, uint64_t *ret_usec, char **ret_text) _nonnull_all_;

/* Parses "DRIVER DEVICE: shutdown" or "DRIVER DEVICE: shutdown_pre", which device_shutdown() (drivers/base/core.c) logs with
 * initcall_debug before it shuts down a device. DEVICE may contain spaces. Returns whether it is such a line, and cuts it to
 * "DRIVER DEVICE"; other text is unchanged. */
bool kernel_line_cut_device(char *text) _nonnull_all_;
