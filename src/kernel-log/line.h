/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shared/macro.h"

/* A line of a kernel's log, without what programs have put around it on its way. */

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

/* Whether the text is what the kernel says when all devices are shut down: to power off, to halt, to restart
 * (kernel/reboot.c), to start another kernel (kernel/kexec_core.c), or, before it powers off, ACPI
 * (drivers/acpi/sleep.c). */
bool kernel_line_is_end(const char *text) _nonnull_(1);
