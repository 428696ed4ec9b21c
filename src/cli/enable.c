/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate enable and headgate disable: what systemctl makes of the [Install] section of
 * headgate-takeover.service, and nothing besides, so that each undoes the other. */

#include <getopt.h>

#include "cli/verbs.h"
#include "shared/log.h"

static void help(const char *verb)
{
        printf("Usage: headgate %s [OPTION...]\n\n"
               "%s\n\n"
               "  -h, --help  Show this help\n\n"
               "See headgate(8).\n",
                verb,
                streq(verb, "enable") ? "Let headgate activate volume groups from the next boot on."
                                      : "Leave activation to lvm2's own udev rule from the next boot on.");
}

static int call_systemctl(int argc, char *argv[])
{
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {},
        };
        const char *verb = argv[0];

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help(verb);
                        return EXIT_SUCCESS;
                default:
                        return EXIT_CANNOT_TELL;
                }
        if (optind < argc) {
                log_error("This verb takes no arguments, see --help.");
                return EXIT_CANNOT_TELL;
        }

        execlp("systemctl", "systemctl", verb, "headgate-takeover.service", NULL);
        (void) log_error_errno(-errno, "Failed to start systemctl: %m");
        return EXIT_CANNOT_TELL;
}

int verb_enable(int argc, char *argv[])
{
        return call_systemctl(argc, argv);
}

int verb_disable(int argc, char *argv[])
{
        return call_systemctl(argc, argv);
}
