/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How long requests are gathered before lvm2 is asked about all of them at once. Each lvm process costs as much as
 * many devices in one, so during boot, when most disks of the machine come within seconds, it pays to wait for
 * them; a disk that is plugged in later must not wait. Times are those of now_usec(). */
struct gather {
        uint64_t first_usec; /* the oldest request that is waiting; 0 if none is */
        uint64_t last_usec;  /* the newest one */
};

/* What the decision depends on besides the requests. */
struct gather_phase {
        bool booting;     /* coldplug has not been worked off yet */
        bool queue_empty; /* udev has no event in its queue, and coldplug has announced all devices */
        bool awaiting;    /* boot waits for VGs that are not up yet, and the others are to stand back */
};

void gather_note(struct gather *gather, uint64_t now);

/* When to go ahead: 0 for at once, USEC_INFINITY if nothing waits, else a time to look again, unless a request or
 * the end of udev's queue comes before. */
uint64_t gather_until(const struct gather *gather, const struct gather_phase *phase, uint64_t now);
