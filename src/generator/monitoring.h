/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* lvm2's own unit that has dmeventd(8) monitor LVs that were activated without, in the initrd for instance, and that
 * ends all monitoring at shutdown. It reads all PVs for either. */
#define MONITOR_UNIT "lvm2-monitor.service"

/* Writes a drop-in into `directory`, the generator's normal one, by which that unit asks headgate-monitor(8) first,
 * where this boot is headgate's (see generator/charge.h). A unit of that name in /etc/systemd/system is the
 * administrator's own, and stays as it is. Returns 0 or a negative errno, having said nothing. */
int monitoring_narrow(int root_fd, const char *directory) _nonnull_(2) _must_check_;
