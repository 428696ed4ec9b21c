/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "doctor/machine.h"

/* Rules of udev by their name: of several files with one name only the first counts, in the order of udev(7):
 * /etc, /run, /usr/local/lib, /usr/lib; and /lib where that is not the same. */

/* lvm2's rule is called so by Debian, and by lvm2 itself. */
#define STOCK_RULES_N 2
extern const char *const stock_rules[STOCK_RULES_N];

/* The path of the file that counts, to be freed by the caller. Returns 0; -ENOENT without one; or -ENOMEM. */
int rule_file_find(const struct machine *machine, const char *name, char **ret) _nonnull_(1, 2, 3) _must_check_;

/* The same of those that are installed, whatever is in /etc and /run. */
int rule_file_find_installed(const struct machine *machine, const char *name, char **ret)
        _nonnull_(1, 2, 3) _must_check_;
