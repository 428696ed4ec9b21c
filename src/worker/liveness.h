/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Signs of life for systemd. The event loop gives them by itself, but not while it deals with thousands of disks at
 * once, on a machine that is so busy with these that the worker hardly gets a processor: it would be taken for
 * hanging, be ended, and begin again. */

/* The worker has got on with one more device or VG: says that it is alive and needs more time, unless it did so a moment ago,
 * at `*last_ping_usec`, a time of now_usec(), at first 0. (sd_notify(3): WATCHDOG=1, and EXTEND_TIMEOUT_USEC= before it is
 * ready) */
void watchdog_ping(uint64_t *last_ping_usec);
