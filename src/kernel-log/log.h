/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "kernel-log/shutdown.h"

/* A kernel's log that is being read, for the last shutdown of devices that it has. */

/* What became of it. All but the first are reasons why there is no shutdown to be shown. */
enum kernel_log_verdict {
        KERNEL_LOG_COMPLETE,
        KERNEL_LOG_EMPTY,     /* nothing but white space */
        KERNEL_LOG_BINARY,    /* no text */
        KERNEL_LOG_UNRELATED, /* text, and nothing of a device's shutdown in it */
        KERNEL_LOG_UNSTAMPED, /* devices, and not the kernel's own time of any */
        KERNEL_LOG_TRUNCATED, /* devices, and not the line that tells that all were done */
};

/* Of a line that is longer the rest is passed over. */
#define KERNEL_LOG_LINE_MAX (64U * 1024)

/* Starts empty: all zeros. */
struct kernel_log {
        struct kernel_shutdown shutdown;
        uint64_t end_usec;  /* when all was done, after the kernel's start */
        bool ended;         /* that is known */
        bool another_boot;  /* began after the last device of the shutdown */
        uint64_t last_usec; /* of the last line with a time */
        char *unfinished;   /* the text of the last line with a time, if it may go on in the next one; or NULL */
        size_t n_joined;    /* of how many lines it is */
        char line[KERNEL_LOG_LINE_MAX]; /* what was read of a line that is not complete */
        size_t line_size;
        bool has_text, has_zeros;
        size_t n_unstamped; /* devices without a time */
};

/* Reads more of a text, which may be cut anywhere. Returns 0 or a negative errno. */
int kernel_log_add_text(struct kernel_log *log, const char *text, size_t size) _nonnull_(1, 2) _must_check_;

/* To be called once, at the end. Only with KERNEL_LOG_COMPLETE, which is 0, is the shutdown finished. Returns a
 * verdict or a negative errno. */
int kernel_log_finish(struct kernel_log *log) _nonnull_(1) _must_check_;

void kernel_log_done(struct kernel_log *log) _nonnull_(1);
#define _cleanup_kernel_log_ _cleanup_(kernel_log_done)

/* Reads all of a file, which may be a pipe. Returns 0 or a negative errno; -EFBIG above 256 MiB. */
int kernel_log_read_file(struct kernel_log *log, int fd) _nonnull_(1) _must_check_;

/* Reads what the journal has of the kernel's log of the boot before this one. Returns 0 or a negative errno,
 * -ENODATA where the journal has no such boot. */
int kernel_log_read_journal(struct kernel_log *log) _nonnull_(1) _must_check_;

/* ------ lines, for tests ------ */

/* Takes a line apart, which is changed. What may be before the text: signs of a quotation and white space, also non-breaking,
 * as mail programs make them; escape sequences of terminals (ECMA-48, 5.4); a priority, "<6>" (pstore); the prefix of syslog
 * or journalctl, "Nov 21 23:44:52 host kernel: "; the time as printk() writes it, seconds with six decimals, "[ 172.609825]",
 * or without brackets; a caller, "[ T123]" (CONFIG_PRINTK_CALLER); and the prefix of journalctl -o short-monotonic, "host
 * kernel: ". In `*ret_text`, white space of any kind is one space, and there is none at the ends. Returns whether it has the
 * kernel's own time, in microseconds since the kernel's start. */
bool kernel_line_parse(char *line, uint64_t *ret_usec, char **ret_text) _nonnull_(1, 2, 3);

/* Device model's line "DRIVER DEVICE: shutdown" or "DRIVER DEVICE: shutdown_pre" (drivers/base/core.c,
 * device_shutdown()), which initcall_debug brings about: it is written before the device is shut down. A device
 * may have spaces in its name, but no colon before one, and a driver is taken to have none. Returns the device's name, and
 * ends the driver's with a NUL, or NULL for any other line, which stays as it was. */
char *kernel_line_split_device(char *text) _nonnull_(1);
