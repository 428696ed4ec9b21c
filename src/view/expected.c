/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "view/expected.h"

#include "view/unrecorded.h"

int expected_find(struct sources *sources, const struct snapshot *seen, struct plan *ret)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_string_vector_ struct string_vector names = {};
        int r;

        for (size_t i = 0; i < seen->n; i++) {
                r = string_vector_add(&names, seen->volume_groups[i]->name);
                if (r < 0)
                        return r;
        }
        r = sources_read_configuration(sources);
        if (r < 0)
                return r;
        return plan_make(sources->root_fd, &sources->settings, &sources->configuration, &names, ret, &problems);
}

bool expected_by_boot(const struct planned_volume_group *planned)
{
        return planned->group == PLAN_BOOT || planned->group == PLAN_NET;
}

static bool is_not_expected(const struct planned_volume_group *planned)
{
        return !expected_by_boot(planned);
}

static int add_those(struct sources *sources, const struct plan *plan,
        bool (*filter)(const struct planned_volume_group *), struct snapshot *snapshot)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < plan->n; i++)
                if (filter(&plan->volume_groups[i]))
                        r = unrecorded_add(
                                sources, plan->volume_groups[i].name, &plan->volume_groups[i], snapshot);
        return r;
}

int expected_add(struct sources *sources, const struct plan *plan, struct snapshot *snapshot)
{
        return add_those(sources, plan, expected_by_boot, snapshot);
}

int expected_add_others(struct sources *sources, const struct plan *plan, struct snapshot *snapshot)
{
        return add_those(sources, plan, is_not_expected, snapshot);
}
