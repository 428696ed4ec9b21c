/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The VGs that somebody waits for. */

#include "inventory/expectations.h"

#include "shared/util.h"

/* What never comes is not to hold up the rest of the machine. */
#define NEAR_USEC (5 * USEC_PER_SEC)

static void expectation_free(struct expectation *expectation)
{
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

int expectations_add(struct expectations *expectations, const char *name, struct expectation **ret)
{
        _cleanup_(expectation_freep) struct expectation *expectation = NULL;

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

bool expectations_are_near(const struct expectations *expectations, uint64_t first_device_usec, uint64_t now)
{
        const struct expectation *expectation;

        dm_list_iterate_items(expectation, &expectations->list) {
                uint64_t complete = expectation->group ? expectation->group->vg->complete_usec : 0;

                if (!expectation->overdue && now < MAX(first_device_usec, complete) + NEAR_USEC)
                        return true;
        }
        return false;
}

void expectation_drop(struct expectation *expectation)
{
        if (expectation->group)
                expectation->group->awaited = false;
        dm_list_del(&expectation->list);
        expectation_free(expectation);
}
