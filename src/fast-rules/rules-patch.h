/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* The udev rules of device-mapper and lvm2 call dmsetup up to three times for each event of a device:
 *
 *   udevflags     for the flags in a cookie, which are a matter of patterns: no program is needed for the usual ones
 *   splitname     for the names of VG and LV in that of a device, of which the worker may have written them down
 *   udevcomplete  to tell who waits that the event has been handled, after all else
 *
 * lvm2's own rules for this are 10-dm.rules, 11-dm-lvm.rules and 95-dm-notify.rules, Debian's 55-dm.rules and
 * 56-lvm.rules; these lines have been the same since lvm2 2.03.11 but for the path and the condition on DM_COOKIE. */

/* What a text of patched rules begins with, and no other does. By this the unit finds what it has to remove. */
#define RULES_PATCH_MARK "# Made by headgate"

/* Copies a file of rules, with lines put around those that call dmsetup for one of these: what sets the same
 * properties, or has `program` do the same, and then goes past the line. Each line of the original stays, and is what
 * acts where the lines before it do not: for unusual flags and names, without `program`, or if it fails. `origin` is
 * the path that the text comes from, for the reader.
 *
 * Returns 0, and the copy in `*ret`, to be freed by the caller; -ENOMEM; or -EBADMSG, and in `*ret_line` the number of
 * the line that calls dmsetup for one of these in a way that is not known, or 0 if there is none that does. */
int rules_patch(const char *text, const char *origin, const char *program, char **ret, size_t *ret_line)
        _nonnull_(1, 2, 3, 4, 5) _must_check_;
