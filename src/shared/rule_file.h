/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* Rules of udev by their name: of several files with one name only the first counts, in the order of udev(7):
 * /etc, /run, /usr/local/lib, /usr/lib; and /lib where that is not the same.
 * All paths are without the slash at the beginning, below `root_fd`. */

/* lvm2's rule is called so by Debian, and by lvm2 itself. */
#define STOCK_RULES_N 2
extern const char *const stock_rules[STOCK_RULES_N];

/* The path of the file that counts, to be freed by the caller. Returns 0; -ENOENT without one; or -ENOMEM. */
int rule_file_find(int root_fd, const char *name, char **ret) _nonnull_(2, 3) _must_check_;

/* The same of those that are installed, whatever is in /etc and /run. */
int rule_file_find_installed(int root_fd, const char *name, char **ret) _nonnull_(2, 3) _must_check_;

/* Whether lvm2's own rule, as it is installed, takes PVs on LVs for PVs like all others. 2.03.24 and later do so only
 * for those to which another rule gives LVM_PVSCAN_ON_LVS=1. Returns 1 or 0, also without a rule that can be read;
 * or -ENOMEM. */
int rule_file_stock_takes_lvs(int root_fd) _must_check_;

/* Whether it tells systemd by SYSTEMD_READY which PVs can be used; 2.03.19 and later do not. Likewise. */
int rule_file_stock_sets_ready(int root_fd) _must_check_;
