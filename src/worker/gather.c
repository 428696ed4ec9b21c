/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/gather.h"

#include "shared/util.h"

/* After boot: a shelf of disks comes with a few milliseconds between them; 20 ms more are not felt by who plugs in
 * a single one. */
#define QUIET_USEC (20 * USEC_PER_MSEC)
#define WAIT_MAX_USEC (200 * USEC_PER_MSEC)

/* During boot: udev's queue tells when all disks have come. Its end is only believed if it lasts, since the next
 * driver may be about to announce its disks. The limit is for queues that do not end, because of a device that
 * does not answer. */
#define BOOT_QUIET_USEC (50 * USEC_PER_MSEC)
#define BOOT_WAIT_MAX_USEC (5 * USEC_PER_SEC)

/* While boot waits for VGs, work for others would only make it wait longer. But if one of their disks does not come,
 * all the others must not wait for as long as for that one. */
#define BOOT_AWAITING_MAX_USEC (15 * USEC_PER_SEC)

void gather_note(struct gather *gather, uint64_t now)
{
        if (gather->first_usec == 0)
                gather->first_usec = now;
        gather->last_usec = now;
}

void gather_reset(struct gather *gather)
{
        *gather = (struct gather){};
}

static uint64_t get_limit(const struct gather_phase *phase)
{
        if (!phase->booting)
                return WAIT_MAX_USEC;
        return phase->awaiting ? BOOT_AWAITING_MAX_USEC : BOOT_WAIT_MAX_USEC;
}

uint64_t gather_until(const struct gather *gather, const struct gather_phase *phase, uint64_t now)
{
        uint64_t quiet, limit, until;

        if (gather->first_usec == 0)
                return USEC_INFINITY;

        quiet = gather->last_usec + (phase->booting ? BOOT_QUIET_USEC : QUIET_USEC);
        limit = gather->first_usec + get_limit(phase);
        until = phase->booting && !phase->queue_empty ? limit : MIN(quiet, limit);
        return until <= now ? 0 : until;
}
