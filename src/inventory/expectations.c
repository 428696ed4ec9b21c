/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The VGs that somebody waits for, and which of their PVs udev has announced. */

#include "inventory/expectations.h"

#include "shared/util.h"

/* Each batch costs a pvscan and a vgchange, so the VGs that boot waits for wait for each other; but one whose disk
 * does not come is not to hold up the rest of them for longer than disks are gathered at boot anyway. */
#define WAIT_MAX_USEC (5 * USEC_PER_SEC)

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

int expectations_add(
        struct expectations *expectations, const char *name, struct volume_group *backup, struct expectation **ret)
{
        _cleanup_(expectation_freep) struct expectation *expectation = NULL;
        _cleanup_volume_group_ struct volume_group *owned = backup;

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
        expectation->backup = TAKE_PTR(owned);
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
        limit = expectations->announced_usec + WAIT_MAX_USEC;
        return limit <= now ? 0 : limit;
}
