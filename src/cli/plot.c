/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plot: a picture of what took how long at a boot, or at a shutdown. */

#include <getopt.h>

#include "cli/chronicle.h"
#include "cli/verbs.h"
#include "plot/plot.h"
#include "shared/log.h"

static struct chronicle arg_chronicle = {.kind = TIMELINE_BOOT};

static void help(void)
{
        printf("Usage: headgate plot [--boot[=BOOT]] [VG...] > FILE.svg\n"
               "       headgate plot --shutdown[=BOOT] [DEVICE|TREE...] > FILE.svg\n\n"
               "Draw what took how long, as an SVG picture.\n\n"
               "      --boot[=BOOT]      Of this boot, or another: volume groups (the default)\n"
               "      --shutdown[=BOOT]  Of the shutdown before it, or that ended another: devices\n"
               "  -h, --help             Show this help\n\n"
               "Exit status: 0, or 2 if headgate cannot tell.\n\n"
               "See headgate-plot(8).\n");
}

/* Returns 1 to go on, or an exit status, negated. */
static int parse_options(int argc, char *argv[])
{
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"boot", optional_argument, NULL, 'b'},
                {"shutdown", optional_argument, NULL, 's'},
                {},
        };
        bool boot = false, shutdown = false;

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help();
                        return -EXIT_SUCCESS;
                case 'b':
                        boot = true;
                        arg_chronicle.boot = optarg;
                        break;
                case 's':
                        shutdown = true;
                        arg_chronicle.boot = optarg;
                        break;
                default:
                        return -EXIT_CANNOT_TELL;
                }
        if (boot && shutdown) {
                log_error("It is either --boot or --shutdown, see --help.");
                return -EXIT_CANNOT_TELL;
        }
        if (shutdown)
                arg_chronicle.kind = TIMELINE_SHUTDOWN;
        return 1;
}

int verb_plot(int argc, char *argv[])
{
        _cleanup_timeline_ struct timeline timeline = {};
        int r;

        r = parse_options(argc, argv);
        if (r <= 0)
                return -r;
        if (isatty(STDOUT_FILENO)) {
                log_error("A picture is nothing for a terminal; try \"headgate plot > boot.svg\".");
                return EXIT_CANNOT_TELL;
        }

        r = chronicle_read(&timeline, &arg_chronicle, argv + optind, (size_t) (argc - optind));
        if (r != 0)
                return r < 0 ? EXIT_CANNOT_TELL : EXIT_NOT_ALL_UP;
        r = plot_write(stdout, &timeline);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to write the picture: %m");
                return EXIT_CANNOT_TELL;
        }
        return EXIT_SUCCESS;
}
