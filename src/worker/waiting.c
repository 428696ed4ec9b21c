/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When devices are read: once as many as can be had soon have been gathered, and at once if they are all PVs of a VG that
 * somebody waits for. */

#include "worker/waiting.h"

#include "shared/util.h"

/* ------ gathering ------ */

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

/* ------ VGs that somebody waits for ------ */

/* Each batch costs a pvscan and a vgchange, so the VGs that boot waits for wait for each other; but one whose disk
 * does not come is not to hold up the rest of them for longer than disks are gathered at boot anyway. */
#define EXPECTED_WAIT_MAX_USEC (5 * USEC_PER_SEC)

static void expectation_free(struct expectation *expectation)
{
        volume_group_free(expectation->backup);
        free(expectation->name);
        free(expectation);
}
DEFINE_CLEANUP(struct expectation *, expectation_free)

void expectations_done(struct expectations *expectations)
{
        struct expectation *expectation, *next;

        dm_list_iterate_items_safe(expectation, next, &expectations->list)
                expectation_free(expectation);
}

int expectations_add(struct expectations *expectations, const char *name, const struct metadata *metadata,
        struct expectation **ret)
{
        _cleanup_(expectation_freep) struct expectation *expectation = NULL;
        int r;

        *ret = expectations_find(expectations, name);
        if (*ret)
                return 0;

        expectation = calloc(1, sizeof(*expectation));
        if (!expectation)
                return -ENOMEM;
        expectation->since_usec = now_usec();
        expectation->name = strdup(name);
        if (!expectation->name)
                return -ENOMEM;
        r = metadata ? volume_group_new(metadata, &expectation->backup) : 0;
        if (r < 0)
                return r;
        dm_list_add(&expectations->list, &expectation->list);
        *ret = TAKE_PTR(expectation);
        return 0;
}

struct expectation *expectations_find(const struct expectations *expectations, const char *name)
{
        struct expectation *expectation;

        dm_list_iterate_items(expectation, &expectations->list)
                if (streq(expectation->name, name))
                        return expectation;
        return NULL;
}

static bool any_is(const struct expectations *expectations, enum expectation_state state)
{
        const struct expectation *expectation;

        dm_list_iterate_items(expectation, &expectations->list)
                if (expectation->state == state)
                        return true;
        return false;
}

bool expectations_announce(struct expectations *expectations, const char *pvid, dev_t device)
{
        struct expectation *expectation;

        /* If two VGs name one PV, the later one. */
        dm_list_iterate_back_items(expectation, &expectations->list)
        {
                struct volume_group *backup = expectation->backup;
                struct volume_group_pv *pv = backup ? volume_group_find_pv(backup, pvid) : NULL;

                if (!pv)
                        continue;
                pv->device = device;
                if (expectation->state == EXPECTATION_WAITING && !volume_group_is_incomplete(backup)) {
                        if (!any_is(expectations, EXPECTATION_ANNOUNCED))
                                expectations->announced_usec = now_usec();
                        expectation->state = EXPECTATION_ANNOUNCED;
                }
                return true;
        }
        return false;
}

void expectations_take_announced(struct expectations *expectations)
{
        struct expectation *expectation;

        dm_list_iterate_items(expectation, &expectations->list)
                if (expectation->state == EXPECTATION_ANNOUNCED)
                        expectation->state = EXPECTATION_TAKEN;
}

void expectation_drop(struct expectation *expectation)
{
        if (expectation->group)
                expectation->group->awaited = false;
        dm_list_del(&expectation->list);
        expectation_free(expectation);
}

uint64_t expectations_ready_at(const struct expectations *expectations, uint64_t now)
{
        uint64_t limit;

        if (!any_is(expectations, EXPECTATION_ANNOUNCED))
                return USEC_INFINITY;
        if (!any_is(expectations, EXPECTATION_WAITING))
                return 0;
        limit = expectations->announced_usec + EXPECTED_WAIT_MAX_USEC;
        return limit <= now ? 0 : limit;
}
