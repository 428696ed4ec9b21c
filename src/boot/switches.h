/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "lvm/config.h"
#include "shared/settings.h"

#define COMMAND_LINE_FILE "/proc/cmdline"

/* Enabling headgate enables this unit. */
#define TAKEOVER_UNIT "headgate-takeover.service"

/* lvm2's unit for shutdown, which headgate-teardown.service replaces: when it is stopped, blkdeactivate(8)
 * deactivates devices one after another. */
#define BLK_AVAILABILITY_UNIT "blk-availability.service"

/* Splits the kernel's command line as systemd does: at white space outside of single or double quotes; quotes are
 * removed, backslashes stay. See kernel-command-line(7). `words` must be empty. Returns 0 or -ENOMEM. */
int command_line_split(const char *text, struct strv *words) _nonnull_all_ _must_check_;

/* Finds the switch that turns headgate off: initrd, container, or the kernel's command line. Returns 0 and `*ret`,
 * a constant sentence, or NULL if headgate is on; or -ENOMEM. Unreadable files turn nothing off. Reads
 * $SYSTEMD_IN_INITRD and $SYSTEMD_VIRTUALIZATION, which systemd sets for generators, and files below `root_fd`. */
int switches_describe_headgate_off(int root_fd, const char **ret) _nonnull_all_ _must_check_;

/* Likewise for direct activation, which settings can turn off, too. */
int switches_describe_off(int root_fd, const struct settings *settings, const struct config *config,
        const char **ret) _nonnull_all_ _must_check_;

/* Whether headgate takes over this boot, so that it may change lvm2's units whose work it does.
 * headgate-takeover.service has to be enabled, and no switch may turn headgate off. The system must not have booted
 * without headgate, and neither headgate-takeover.service nor `unit`, which does the work, may be masked. Returns
 * 1, 0 or -ENOMEM. */
int takeover_is_enabled(int root_fd, const char *unit) _nonnull_all_ _must_check_;

/* Whether headgate was disabled and has handed over during this boot, so that shutdown is lvm2's again. */
bool takeover_is_withdrawn(int root_fd) _must_check_;

/* The message if takeover_is_at_next_boot(). */
#define TAKEOVER_AT_NEXT_BOOT "headgate takes over at the next boot; until then lvm2's udev rule activates VGs."

/* Whether headgate was enabled during this boot, by the time of the link, and has not taken over yet. */
bool takeover_is_at_next_boot(int root_fd) _must_check_;
