/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan: what headgate would do, made anew of the same files. A table of plans, each in a file of its
 * own. */

#include "cli/verbs.h"
#include "shared/macro.h"

static const struct verb plans[] = {
        {"activate", plan_activate, "", "Show which volume groups are activated at boot, and who waits for them"},
        {"teardown", plan_teardown, "", "Show in which order the storage that is there can be taken down"},
        {"initrd", plan_initrd, "", "Show which volume groups the initrd has to activate, and for what"},
};

static void help(void)
{
        printf("Usage: headgate plan PLAN [OPTION...]\n\n"
               "Show what headgate would do, and do nothing.\n\n"
               "Plans:\n");
        for (size_t i = 0; i < ELEMENTSOF(plans); i++)
                printf("  %-8s  %s\n", plans[i].name, plans[i].description);
        printf("\nOptions:\n"
               "  -h, --help  Show this help, after a plan that of the plan\n\n"
               "See headgate-plan(8).\n");
}

int verb_plan(int argc, char *argv[])
{
        static const struct verb_choice choice = {plans, ELEMENTSOF(plans), "plan", "headgate plan --help", help};

        return verb_run(&choice, argc, argv);
}
