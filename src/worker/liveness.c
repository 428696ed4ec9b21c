/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/liveness.h"

#include <systemd/sd-daemon.h>

#include "shared/util.h"

/* A small part of what headgate.service allows from one sign to the next, 30 s. */
#define INTERVAL_USEC USEC_PER_SEC

void watchdog_ping(uint64_t *last_ping_usec)
{
        uint64_t now = now_usec();

        if (now < *last_ping_usec + INTERVAL_USEC)
                return;
        *last_ping_usec = now;
        (void) sd_notify(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=30000000");
}
