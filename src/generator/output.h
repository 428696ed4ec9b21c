/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "plan/plan.h"

/* Writes what has systemd start the group at boot: a link from headgate.target to its instance of
 * headgate-activate@.service, and a drop-in that names the VGs. A group without VGs has neither. `unit_fd` is
 * the generator's directory, which systemd empties before each run: what is there already is an error. Returns
 * 0 or a negative errno, having said nothing. */
int output_write_group(int unit_fd, const struct plan *plan, enum plan_group group) _nonnull_(2) _must_check_;
