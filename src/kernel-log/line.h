/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shared/macro.h"

/* A line of a kernel's log, without what programs have put around it on its way. */
struct kernel_line {
        bool stamped;  /* has the kernel's own time */
        uint64_t usec; /* since the kernel's start, 0 if not stamped */
        char *text;    /* white space of any kind is one space, and there is none at the ends */
};

/* Takes a line apart. What may be before the text: signs of a quotation and white space, also non-breaking, as
 * mail programs make them; escape sequences of terminals (ECMA-48, 5.4); a priority, "<6>" (pstore); the prefix
 * of syslog or journalctl, "Nov 21 23:44:52 host kernel: "; the time as printk() writes it, seconds with six
 * decimals, "[  172.609825]", or without brackets; a caller, "[  T123]" (CONFIG_PRINTK_CALLER); and the prefix
 * of journalctl -o short-monotonic, "host kernel: ". Returns 0 or -ENOMEM. */
int kernel_line_parse(const char *raw, struct kernel_line *ret) _nonnull_(1, 2) _must_check_;
void kernel_line_done(struct kernel_line *line) _nonnull_(1);
#define _cleanup_kernel_line_ _cleanup_(kernel_line_done)

/* Device model's line "DRIVER DEVICE: shutdown" or "DRIVER DEVICE: shutdown_pre" (drivers/base/core.c,
 * device_shutdown()), which initcall_debug brings about: it is written before the device is shut down. A device
 * may have spaces in its name, but no colon before one, and a driver is taken to have none. Returns where the
 * device's name begins in the text, with the lengths of both names, or NULL for any other line. */
const char *kernel_line_find_device(const char *text, size_t *ret_driver_length, size_t *ret_device_length)
        _nonnull_(1, 2, 3);

/* Whether the text is what the kernel says when all devices are shut down: to power off, to halt, to restart
 * (kernel/reboot.c), to start another kernel (kernel/kexec_core.c), or, before it powers off, ACPI
 * (drivers/acpi/sleep.c). */
bool kernel_line_is_end(const char *text) _nonnull_(1);
