/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* Finds out whether this boot is headgate's, so that units of lvm2's may be changed that it does the work of:
 * headgate-takeover.service is enabled, nothing turns headgate off as a whole (see plan/switches.h), and the system
 * has not booted without it. Neither headgate-takeover.service nor `unit`, which does that work, is masked.
 *
 * Returns 1, 0 if it is not, or a negative errno. */
int is_in_charge_by(int root_fd, const char *unit) _nonnull_(2) _must_check_;
