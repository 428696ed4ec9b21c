/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/plan.h"

/* The units that headgate-generator writes into the directories of systemd.generator(7). systemd empties these before each run:
 * what is there already is an error. All return 0 or a negative errno, having said nothing. */

/* lvm2's own unit for shutdown: when it is stopped, blkdeactivate(8) takes devices down, one after another. */
#define BLK_AVAILABILITY_UNIT "blk-availability.service"

/* lvm2's own unit that has dmeventd(8) monitor LVs that were activated without, in the initrd for instance, and that
 * ends all monitoring at shutdown. It reads all PVs for either. */
#define MONITOR_UNIT "lvm2-monitor.service"

/* Masks BLK_AVAILABILITY_UNIT by a link to /dev/null in `early_directory`, which counts more than /etc/systemd/system, on a
 * machine on which headgate takes devices down at shutdown, by headgate-teardown.service (see takeover_is_enabled()).
 *
 * On a machine that has booted without headgate the unit stays as it is, until the next boot: to mask a unit that
 * is active is to have nothing done when it is stopped. */
int units_mask_blk_availability(int root_fd, const char *early_directory) _nonnull_(2) _must_check_;

/* Writes a drop-in into `directory`, the generator's normal one, by which MONITOR_UNIT asks headgate-monitor(8) first,
 * where this boot is headgate's. A unit of that name in /etc/systemd/system is the administrator's own, and stays as it is. */
int units_narrow_monitoring(int root_fd, const char *directory) _nonnull_(2) _must_check_;

/* Writes what has systemd start the group at boot: a link from headgate-takeover.service to its instance of
 * headgate-activate@.service, and a drop-in that names the VGs. A group without VGs has neither, nor has "rest" if it
 * is not urgent. `directory` is the generator's normal one. */
int units_write_group(const char *directory, const struct plan *plan, enum plan_group group)
        _nonnull_(1, 2) _must_check_;
