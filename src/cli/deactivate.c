/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate deactivate: does for a machine that goes on running what headgate-teardown does at shutdown. */

#include "cli/teardown-table.h"
#include "cli/verbs.h"
#include "deactivate/deactivation.h"
#include "shared/program.h"

static bool arg_dry_run;
static bool arg_serial;
static bool arg_no_udev_sync;

static void help(void)
{
        printf("Usage: headgate deactivate [OPTION...] [--] [VG|VG/LV|DEVICE...]\n\n"
               "Deactivate volume groups, logical volumes and all that lies on a device, many at a\n"
               "time; without a name, all on which nothing is mounted or swapped to. What is in use\n"
               "stays, and so does what / and /usr need.\n\n"
               "  -n, --dry-run     Show what would go, and do nothing\n"
               "      --serial      Remove one device after another\n"
               "      --noudevsync  Do not wait for udev\n"
               "  -h, --help        Show this help\n\n"
               "Exit status: 0 if all is down, 1 if something is left, 2 if that cannot be told.\n\n"
               "See headgate-deactivate(8).\n");
}

static const struct table_switch switches[] = {
        {"dry-run", 'n', &arg_dry_run},
        {"noudevsync", '\0', &arg_no_udev_sync},
        {"serial", '\0', &arg_serial},
};

static const struct table_verb verb = {.help = help, .switches = switches, .n_switches = ELEMENTSOF(switches)};

static int show(struct deactivation *deactivation)
{
        _cleanup_table_options_ struct table_options options = {};
        int r;

        r = deactivation_preview(deactivation);
        if (r <= 0)
                return r;
        r = table_default_options(&teardown_table, &options);
        return r < 0 ? r : teardown_table_print(deactivation->tree, tree_node_is_ours, &options);
}

int verb_deactivate(int argc, char *argv[])
{
        _cleanup_deactivation_ struct deactivation deactivation = {.sources = SOURCES_NONE};
        int r;

        r = table_parse_options(argc, argv, &verb, NULL);
        if (r <= 0)
                return -r;
        if (root_is_chosen())
                return verb_refuse("Nothing can be deactivated with HEADGATE_ROOT set.");
        if (geteuid() != 0)
                return verb_refuse("Only root can deactivate anything.");

        r = deactivation_init(&deactivation, argv + optind, (size_t) (argc - optind));
        if (r >= 0) {
                deactivation.serial = arg_serial;
                deactivation.no_udev_sync = arg_no_udev_sync;
                r = arg_dry_run ? show(&deactivation) : deactivation_run(&deactivation);
        }
        if (r < 0)
                return verb_fail(r, "Failed to deactivate: %m");
        return deactivation.something_left ? EXIT_NOT_ALL_DOWN : EXIT_ALL_DOWN;
}
