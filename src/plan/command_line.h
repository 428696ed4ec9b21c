/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "plan/entries.h"
#include "shared/util.h"

/* The kernel's command line, split as systemd splits it: at white space that is not within single or double
 * quotes; the quotes go, backslashes stay. See kernel-command-line(7). */

#define COMMAND_LINE_FILE "proc/cmdline"

/* Reads the words of proc/cmdline below `root_fd`. Returns 0 and fills `words`, which starts empty, or a negative
 * errno. */
int command_line_read(int root_fd, struct string_vector *words) _nonnull_(2) _must_check_;

/* The same of `text`. Returns 0 or -ENOMEM. */
int command_line_split(const char *text, struct string_vector *words) _nonnull_(1, 2) _must_check_;

bool command_line_has(const struct string_vector *words, const char *word) _nonnull_(1, 2);

/* Adds the devices that the words name: root=, mount.usr= and resume=, which the initrd has dealt with, so that
 * it does not matter if they are unresolved; rd.lvm.lv= and rd.lvm.vg=; systemd.mount-extra= and
 * systemd.swap-extra=. Returns 0 or -ENOMEM. */
int command_line_add_entries(const struct string_vector *words, struct entries *entries)
        _nonnull_(1, 2) _must_check_;
