/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plan of boot: the VGs that are known, each in the group of the most urgent entry or setting that names it. */

#include "boot/plan.h"

#include "boot/entries.h"
#include "shared/names.h"

const char *plan_group_to_string(enum plan_group group)
{
        static const char *const names[] = {
                [PLAN_BOOT] = "boot",
                [PLAN_REST] = "rest",
                [PLAN_NET] = "net",
                [PLAN_NONE] = "-",
        };

        return names[group];
}

/* VGs that are only named in the settings are known, too: the machine may have no backups. */
static int add_configured(const struct string_vector *names, const struct string_vector *seen, struct plan *plan,
        struct problems *problems)
{
        for (size_t i = 0; i < names->n; i++) {
                struct planned_volume_group *volume_group;
                int r = known_is_seen(seen, names->strings[i]) ? 0
                                                               : plan_add(plan, names->strings[i], &volume_group);

                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        problems_add(
                                problems, r, "/" SETTINGS_FILE ": too many VGs, left out: %s.", names->strings[i]);
        }
        return 0;
}

static int claim_configured(
        const struct string_vector *names, enum plan_group group, const char *what, struct plan *plan)
{
        for (size_t i = 0; i < names->n; i++) {
                struct planned_volume_group *volume_group = plan_find(plan, names->strings[i]);

                if (volume_group && plan_claim(volume_group, group, "/" SETTINGS_FILE, what) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int name_units(struct plan *plan, struct problems *problems)
{
        for (size_t i = 0; i < plan->n; i++) {
                struct planned_volume_group *volume_group = &plan->volume_groups[i];
                int r;

                /* Nobody is to wait for a VG that is not activated. */
                if (volume_group->group == PLAN_NONE)
                        continue;
                r = unit_name_of_volume_group(volume_group->name, &volume_group->unit);
                if (r == -ENAMETOOLONG)
                        problems_add(problems, r, "VG %s: its name is too long for a unit headgate-vg@.service.",
                                volume_group->name);
                else if (r < 0)
                        return r;
        }
        return 0;
}

int plan_make(int root_fd, const struct settings *settings, const struct configuration *configuration,
        const struct string_vector *seen, struct plan *ret, struct problems *problems)
{
        _cleanup_plan_ struct plan plan = {};
        int r;

        r = known_add(root_fd, configuration, seen, &plan, problems);
        if (r < 0)
                return r;
        r = add_configured(&settings->boot_volume_groups, seen, &plan, problems);
        if (r < 0)
                return r;
        r = add_configured(&settings->net_volume_groups, seen, &plan, problems);
        if (r < 0)
                return r;

        r = entries_claim(root_fd, &plan, problems);
        if (r < 0)
                return r;
        r = claim_configured(&settings->boot_volume_groups, PLAN_BOOT, "it in boot_volume_groups", &plan);
        if (r < 0)
                return r;
        r = claim_configured(&settings->net_volume_groups, PLAN_NET, "it in net_volume_groups", &plan);
        if (r < 0)
                return r;

        r = name_units(&plan, problems);
        if (r < 0)
                return r;
        *ret = plan;
        plan = (struct plan){};
        return 0;
}
