/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plot: a picture of what took how long at a boot, or at a shutdown. */

#include "plot/plot.h"
#include "cli/chronicle.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "shared/log.h"

static bool arg_boot;
static bool arg_shutdown;
static const char *arg_which;

static void help(void)
{
        printf("Usage: headgate plot [--boot[=BOOT]] [VG...] > FILE.svg\n"
               "       headgate plot --shutdown[=BOOT] [DEVICE|TREE...] > FILE.svg\n\n"
               "Draw what took how long, as an SVG picture.\n\n"
               "      --boot[=BOOT]      Of this boot, or another: volume groups (the default)\n"
               "      --shutdown[=BOOT]  Of the shutdown before it, or that ended another: devices\n"
               "  -h, --help             Show this help\n\n"
               "Exit status: 0, 1 if a name is not known, 2 if headgate cannot tell.\n\n"
               "See headgate-plot(8).\n");
}

static const struct table_switch switches[] = {
        {"boot", '\0', &arg_boot, &arg_which},
        {"shutdown", '\0', &arg_shutdown, &arg_which},
};

static const struct table_verb verb = {.help = help, .switches = switches, .n_switches = ELEMENTSOF(switches)};

int verb_plot(int argc, char *argv[])
{
        _cleanup_timeline_ struct timeline timeline = {};
        struct chronicle chronicle;
        int r;

        r = table_parse_options(argc, argv, &verb, NULL);
        if (r <= 0)
                return -r;
        if (arg_boot && arg_shutdown)
                return verb_refuse("It is either --boot or --shutdown, see --help.");
        if (isatty(STDOUT_FILENO)) {
                log_error("A picture is nothing for a terminal; try \"headgate plot > boot.svg\".");
                return EXIT_CANNOT_TELL;
        }

        chronicle = (struct chronicle){arg_shutdown ? TIMELINE_SHUTDOWN : TIMELINE_BOOT, arg_which};
        r = chronicle_read(&timeline, &chronicle, argv + optind, (size_t) (argc - optind));
        if (r != 0)
                return r < 0 ? EXIT_CANNOT_TELL : EXIT_NOT_ALL_UP;
        r = plot_write(stdout, &timeline);
        if (r < 0)
                return verb_fail(r, "Failed to write the picture: %m");
        return EXIT_SUCCESS;
}
