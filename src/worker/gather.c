/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/gather.h"

#include "shared/util.h"

/* After boot: a shelf of disks comes with a few milliseconds between them; 20 ms more are not felt by who plugs in
 * a single one. */
#define QUIET_USEC (20 * USEC_PER_MSEC)
#define WAIT_MAX_USEC (200 * USEC_PER_MSEC)

/* During boot: udev's queue tells when all disks have come. Its end is only believed if it lasts, since the next
 * driver may be about to announce its disks. The limit is for queues that do not end, because of an
 * unresponsive device. */
#define BOOT_QUIET_USEC (50 * USEC_PER_MSEC)
#define BOOT_WAIT_MAX_USEC (5 * USEC_PER_SEC)

/* While boot waits for VGs, work for others would only make it wait longer, as long as disks are coming. When
 * none has come for a while though udev is busy, one of them does not answer, and the others must not wait for
 * it. */
#define BOOT_AWAITING_QUIET_USEC (5 * USEC_PER_SEC)

void gather_note(struct gather *gather, uint64_t now)
{
        if (gather->first_usec == 0)
                gather->first_usec = now;
        gather->last_usec = now;
}

uint64_t gather_until(const struct gather *gather, const struct gather_phase *phase, uint64_t now)
{
        uint64_t until;

        if (gather->first_usec == 0)
                return USEC_INFINITY;

        if (!phase->booting)
                until = MIN(gather->last_usec + QUIET_USEC, gather->first_usec + WAIT_MAX_USEC);
        else if (phase->queue_empty)
                until = MIN(gather->last_usec + BOOT_QUIET_USEC, gather->first_usec + BOOT_WAIT_MAX_USEC);
        else if (phase->awaiting)
                until = gather->last_usec + BOOT_AWAITING_QUIET_USEC;
        else
                until = gather->first_usec + BOOT_WAIT_MAX_USEC;
        return until <= now ? 0 : until;
}
