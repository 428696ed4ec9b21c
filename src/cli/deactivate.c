/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate deactivate: does for a machine that goes on running what headgate-teardown does at shutdown. */

#include "cli/removal-table.h"
#include "cli/verb.h"
#include "deactivate/deactivation.h"
#include "shared/program.h"

static bool arg_dry_run;
static bool arg_serial;
static bool arg_no_udev_sync;

static int show(struct deactivation *deactivation)
{
        _cleanup_table_ struct table table = {};
        int r;

        r = deactivation_preview(deactivation);
        if (r <= 0)
                return r;
        r = table_new(&removal_table, &(struct table_options){}, &table);
        if (r < 0)
                return r;
        removal_table_fill(&table, deactivation->tree, tree_node_is_ours);
        return table_print(&table);
}

static int run(char *names[], size_t n, struct table *table _unused_)
{
        _cleanup_deactivation_ struct deactivation deactivation = {.sources = SOURCES_NONE};
        int r;

        if (root_is_chosen())
                return verb_refuse("Nothing can be deactivated with HEADGATE_ROOT set.");
        if (geteuid() != 0)
                return verb_refuse("Only root can deactivate anything.");

        r = deactivation_init(&deactivation, names, n);
        if (r >= 0) {
                deactivation.serial = arg_serial;
                deactivation.no_udev_sync = arg_no_udev_sync;
                r = arg_dry_run ? show(&deactivation) : deactivation_run(&deactivation);
        }
        if (r < 0)
                return verb_fail(r, "Failed to deactivate: %m");
        return deactivation.something_left ? EXIT_NOT_ALL_DOWN : EXIT_ALL_DOWN;
}

static const struct verb_option options[] = {
        {"dry-run", 'n', NULL, "Show what would go, and do nothing", &arg_dry_run},
        {"serial", '\0', NULL, "Remove one device after another", &arg_serial},
        {"noudevsync", '\0', NULL, "Do not wait for udev", &arg_no_udev_sync},
        {},
};

const struct verb verb_deactivate = {"deactivate", "[NAME...]",
        "Deactivate volume groups, logical volumes, other devices",
        .help = "Usage: headgate deactivate [OPTION...] [--] [VG|VG/LV|DEVICE...]\n\n"
                "Deactivate volume groups, logical volumes and all that lies on a device, many at a\n"
                "time; without a name, all on which nothing is mounted or swapped to. What is in use\n"
                "stays, and so does what / and /usr need.\n\n",
        .footer = "Exit status: 0 if all is down, 1 if something is left, 2 if that cannot be told.\n\n",
        .options = options, .run = run};
