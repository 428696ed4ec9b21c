/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "kernel-log/shutdown.h"

/* The last shutdown of devices in a kernel's log. */

/* Why a log has none: the rest of a sentence that begins with the log's name. */
#define KERNEL_LOG_EMPTY "is empty"
#define KERNEL_LOG_BINARY "is not text"
#define KERNEL_LOG_UNRELATED "has no device that is shut down; the kernel logs them with initcall_debug"
#define KERNEL_LOG_UNSTAMPED                                                                                      \
        "has no times of the kernel; dmesg without -T, journalctl -o short-monotonic or printk.time=1 has them"
#define KERNEL_LOG_TRUNCATED "ends before all devices are shut down"

/* Reads all of a file, which may be a pipe. `shutdown` starts empty, and is complete only on success. Returns 0 or
 * a negative errno: -EBADMSG and `*ret_reason`, which is otherwise NULL, if the log has no complete shutdown; -EFBIG
 * above 256 MiB; -E2BIG for more devices than kernel_shutdown_add() accepts. */
int kernel_log_read_file(
        struct kernel_shutdown *shutdown, FILE *file, const char **ret_reason) _nonnull_all_ _must_check_;

/* ------ lines, for tests ------ */

/* Splits a line, which it changes, into the kernel's time and the text. The time is that of printk(), seconds with six decimals:
 * in brackets, "[ 172.609825]", wherever the line has it first, or without brackets at its beginning; that of a record,
 * "6,1001,172609825,-;", of /dev/kmsg and extended netconsole; or that of a line of "journalctl -o json" or "dmesg --json", the
 * latter of which has the text in another line. So before the time there may be anything: quote marks of mail programs, escape
 * sequences of terminals, a priority, the stamp of a program that captures a console. Behind it, the prefix of syslog and a
 * caller, "[ T123]" (CONFIG_PRINTK_CALLER), are skipped. In `*ret_text` there is one space for each run of bytes that are not
 * printable ASCII, and none at the ends. Returns whether there is a time, in microseconds since the kernel's start. */
bool kernel_line_parse(char *line, uint64_t *ret_usec, char **ret_text) _nonnull_all_;

/* Parses "DRIVER DEVICE: shutdown" or "DRIVER DEVICE: shutdown_pre", which device_shutdown() (drivers/base/core.c) logs with
 * initcall_debug before it shuts down the device. DEVICE may have spaces. Returns whether it is such a line, of which it
 * leaves "DRIVER DEVICE"; any other text stays as it is. */
bool kernel_line_cut_device(char *text) _nonnull_all_;
