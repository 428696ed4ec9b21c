/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan: what headgate would do, made anew of the same files. A table of plans, each in a file of its
 * own. */

#include "cli/plan.h"

#include "cli/verbs.h"
#include "shared/arguments.h"
#include "shared/log.h"

static const struct {
        const char *name;
        int (*function)(int argc, char *argv[]);
        const char *description;
} plans[] = {
        {"activate", plan_activate, "Show which volume groups are activated at boot, and who waits for them"},
        {"teardown", plan_teardown, "Show in which order the storage that is there can be taken down"},
        {"initrd", plan_initrd, "Show which volume groups the initrd has to activate, and for what"},
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
               "See headgate(8).\n");
}

int verb_plan(int argc, char *argv[])
{
        int r;

        r = arguments_parse_plain(argc, argv, help);
        if (r <= 0)
                return r < 0 ? EXIT_CANNOT_TELL : EXIT_SUCCESS;
        if (optind == argc) {
                help();
                return EXIT_CANNOT_TELL;
        }

        argc -= optind;
        argv += optind;
        /* 0, not 1: getopt_long() is to begin anew, with the plan as the program's name. */
        optind = 0;
        for (size_t i = 0; i < ELEMENTSOF(plans); i++)
                if (streq(plans[i].name, argv[0]))
                        return plans[i].function(argc, argv);

        log_error("Unknown plan \"%s\", see headgate plan --help.", argv[0]);
        return EXIT_CANNOT_TELL;
}
