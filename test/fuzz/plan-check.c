/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan-check.h"

#include "boot/plan.h"
#include "boot/switches.h"
#include "fuzz.h"
#include "shared/names.h"

static void check_plan(const struct plan *plan)
{
        for (size_t i = 0; i < plan->n; i++) {
                const struct planned_volume_group *volume_group = &plan->volume_groups[i];

                fuzz_check(volume_group_name_is_valid(volume_group->name));
                fuzz_check(i == 0 || strcmp(plan->volume_groups[i - 1].name, volume_group->name) < 0);
                fuzz_check(volume_group->group <= PLAN_NONE);
                fuzz_check(volume_group->reason && fuzz_is_printable(volume_group->reason));
                fuzz_check(!volume_group->unit || strlen(volume_group->unit) <= 255);
                fuzz_check(plan_find(plan, volume_group->name) == volume_group);
        }
}

void plan_check(void)
{
        _cleanup_configuration_ struct configuration configuration = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        struct plan plan;
        const char *off;

        fuzz_check(settings_read(fuzz_root(), &settings, &problems) == 0);
        fuzz_check(configuration_read(fuzz_root(), &configuration, &problems) == 0);
        fuzz_check(switches_describe_headgate_off(fuzz_root(), &off) == 0);
        fuzz_check(switches_describe_off(fuzz_root(), &settings, &configuration, &off) == 0);
        fuzz_check(plan_make(fuzz_root(), &settings, &configuration, NULL, &plan, &problems) == 0);
        check_plan(&plan);
        plan_done(&plan);
        for (size_t i = 0; i < problems.lines.n; i++)
                fuzz_check(fuzz_is_printable(problems.lines.strings[i]));
}
