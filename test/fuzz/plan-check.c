/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan-check.h"

#include "boot/plan.h"
#include "boot/switches.h"
#include "fuzz.h"
#include "shared/names.h"

static void check_plan(const struct plan *plan)
{
        for (size_t i = 0; i < plan->n; i++) {
                const struct planned_vg *vg = &plan->vgs[i];

                fuzz_check(vg_name_is_valid(vg->name));
                fuzz_check(i == 0 || strcmp(plan->vgs[i - 1].name, vg->name) < 0);
                fuzz_check(vg->group <= PLAN_NONE);
                fuzz_check(vg->reason && fuzz_is_printable(vg->reason));
                fuzz_check(!vg->unit || strlen(vg->unit) <= 255);
                fuzz_check(plan_find(plan, vg->name) == vg);
        }
}

void plan_check(void)
{
        _cleanup_config_ struct config config = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        struct plan plan;
        const char *off;

        fuzz_check(settings_read(fuzz_root(), &settings, &problems) == 0);
        fuzz_check(config_read(fuzz_root(), &config, &problems) == 0);
        fuzz_check(switches_describe_headgate_off(fuzz_root(), &off) == 0);
        fuzz_check(switches_describe_off(fuzz_root(), &settings, &config, &off) == 0);
        fuzz_check(plan_make(fuzz_root(), &settings, &config, NULL, &plan, &problems) == 0);
        check_plan(&plan);
        plan_done(&plan);
        for (size_t i = 0; i < problems.lines.n; i++)
                fuzz_check(fuzz_is_printable(problems.lines.strings[i]));
}
