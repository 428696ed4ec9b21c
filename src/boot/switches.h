/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "lvm/config.h"
#include "shared/settings.h"

#define COMMAND_LINE_FILE "/proc/cmdline"

/* headgate is enabled by this unit. */
#define TAKEOVER_UNIT "headgate-takeover.service"

/* lvm2's own unit for shutdown, of which headgate-teardown.service takes the place: when it is stopped, blkdeactivate(8) takes devices
 * down, one after another. */
#define BLK_AVAILABILITY_UNIT "blk-availability.service"

/* Splits the kernel's command line as systemd does: at white space that is not within single or double quotes; the quotes go,
 * backslashes stay. See kernel-command-line(7). Fills `words`, which starts empty. Returns 0 or -ENOMEM. */
int command_line_split(const char *text, struct strv *words) _nonnull_all_ _must_check_;

/* What turns headgate off as a whole: the place where this runs, or the kernel's command line. Returns 0 and
 * `*ret`, one sentence that is a constant, or NULL if nothing does; or -ENOMEM. What cannot be read turns nothing
 * off. Looks at $SYSTEMD_IN_INITRD and $SYSTEMD_VIRTUALIZATION, which systemd sets for generators, and below
 * `root_fd`. */
int switches_describe_headgate_off(int root_fd, const char **ret) _nonnull_all_ _must_check_;

/* The same for direct activation, which settings turn off, too. */
int switches_describe_off(int root_fd, const struct settings *settings, const struct config *config,
        const char **ret) _nonnull_all_ _must_check_;

/* Finds out whether headgate takes this boot over, so that units of lvm2's may be changed that it does the work of:
 * headgate-takeover.service is enabled, nothing turns headgate off as a whole, and the system has not booted without it.
 * Neither headgate-takeover.service nor `unit`, which does that work, is masked. Returns 1, 0 if it does not, or -ENOMEM. */
int takeover_is_enabled(int root_fd, const char *unit) _nonnull_all_ _must_check_;

/* Whether headgate was disabled and has handed over since, so that the shutdown is not its own any more. */
bool takeover_is_withdrawn(int root_fd) _must_check_;

/* Is said where the following holds. */
#define TAKEOVER_AT_NEXT_BOOT "headgate takes over at the next boot; until then lvm2's udev rule activates VGs."

/* Whether headgate was enabled during this boot, as the time of the link tells, and has not taken over in it so far. */
bool takeover_is_at_next_boot(int root_fd) _must_check_;
