/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/expectation.h"

#include "shared/util.h"

#define HASH_SIZE_HINT 64

/* Each batch costs a pvscan and a vgchange, so the VGs that boot waits for wait for each other; but one whose disk
 * does not come is not to hold up the rest of them for longer than disks are gathered at boot anyway. */
#define WAIT_MAX_USEC (5 * USEC_PER_SEC)

int expectations_new(struct expectations **ret)
{
        struct expectations *expectations = calloc(1, sizeof(*expectations));

        if (!expectations)
                return -ENOMEM;
        dm_list_init(&expectations->list);
        expectations->by_name = dm_hash_create(HASH_SIZE_HINT);
        expectations->by_pvid = dm_hash_create(HASH_SIZE_HINT);
        if (!expectations->by_name || !expectations->by_pvid) {
                expectations_free(expectations);
                return -ENOMEM;
        }
        *ret = expectations;
        return 0;
}

static void free_expectation(struct expectation *expectation)
{
        volume_group_free(expectation->backup);
        free(expectation->name);
        free(expectation);
}

struct expectations *expectations_free(struct expectations *expectations)
{
        struct expectation *expectation, *next;

        if (!expectations)
                return NULL;
        dm_list_iterate_items_safe(expectation, next, &expectations->list)
                free_expectation(expectation);
        if (expectations->by_name)
                dm_hash_destroy(expectations->by_name);
        if (expectations->by_pvid)
                dm_hash_destroy(expectations->by_pvid);
        free(expectations);
        return NULL;
}

static int index_expectation(struct expectations *expectations, struct expectation *expectation)
{
        const struct volume_group *backup = expectation->backup;

        if (!dm_hash_insert(expectations->by_name, expectation->name, expectation))
                return -ENOMEM;
        for (size_t i = 0; backup && i < backup->n_pvs; i++)
                if (!dm_hash_insert(expectations->by_pvid, backup->pvs[i].pvid, expectation))
                        return -ENOMEM;
        return 0;
}

int expectations_add(struct expectations *expectations, const char *name, const struct metadata *metadata,
        struct expectation **ret)
{
        struct expectation *expectation = expectations_find(expectations, name);
        int r;

        if (expectation) {
                *ret = expectation;
                return 0;
        }

        expectation = calloc(1, sizeof(*expectation));
        if (!expectation)
                return -ENOMEM;
        /* From here on it is freed with the others. */
        dm_list_add(&expectations->list, &expectation->list);
        expectation->since_usec = now_usec();
        expectation->name = strdup(name);
        r = expectation->name ? 0 : -ENOMEM;
        if (r >= 0 && metadata)
                r = volume_group_new(metadata, &expectation->backup);
        if (r >= 0)
                r = index_expectation(expectations, expectation);
        if (r >= 0)
                *ret = expectation;
        return r;
}

struct expectation *expectations_find(const struct expectations *expectations, const char *name)
{
        return dm_hash_lookup(expectations->by_name, name);
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
        struct expectation *expectation = dm_hash_lookup(expectations->by_pvid, pvid);

        if (!expectation)
                return false;
        volume_group_find_pv(expectation->backup, pvid)->device = device;
        if (expectation->state == EXPECTATION_WAITING &&
                volume_group_count_seen(expectation->backup) == expectation->backup->n_pvs) {
                if (!any_is(expectations, EXPECTATION_ANNOUNCED))
                        expectations->announced_usec = now_usec();
                expectation->state = EXPECTATION_ANNOUNCED;
        }
        return true;
}

void expectations_take_announced(struct expectations *expectations)
{
        struct expectation *expectation;

        dm_list_iterate_items(expectation, &expectations->list)
                if (expectation->state == EXPECTATION_ANNOUNCED)
                        expectation->state = EXPECTATION_TAKEN;
}

void expectations_drop(struct expectations *expectations, struct expectation *expectation)
{
        const struct volume_group *backup = expectation->backup;

        dm_hash_remove(expectations->by_name, expectation->name);
        for (size_t i = 0; backup && i < backup->n_pvs; i++)
                if (dm_hash_lookup(expectations->by_pvid, backup->pvs[i].pvid) == expectation)
                        dm_hash_remove(expectations->by_pvid, backup->pvs[i].pvid);
        if (expectation->group)
                expectation->group->awaited = false;
        dm_list_del(&expectation->list);
        free_expectation(expectation);
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
