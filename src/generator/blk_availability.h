/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* lvm2's own unit for shutdown: when it is stopped, blkdeactivate(8) takes devices down, one after another. */
#define BLK_AVAILABILITY_UNIT "blk-availability.service"

/* Masks that unit by a link to /dev/null in `early_directory`, which counts more than /etc/systemd/system
 * (systemd.generator(7)), on a machine on which headgate takes devices down at shutdown, by
 * headgate-teardown.service (see generator/charge.h).
 *
 * On a machine that has booted without headgate the unit stays as it is, until the next boot: to mask a unit that
 * is active is to have nothing done when it is stopped.
 *
 * Returns 0 or a negative errno, having said nothing. */
int blk_availability_mask(int root_fd, const char *early_directory) _nonnull_(2) _must_check_;
