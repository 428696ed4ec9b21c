/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate enable and headgate disable: what systemctl makes of the [Install] section of
 * headgate-takeover.service, and nothing besides, so that each undoes the other. With --initrd, instead of
 * that, what enable-initrd.c does. */

#include <getopt.h>

#include "cli/verbs.h"
#include "shared/log.h"

static bool arg_initrd;

static void help(const char *verb)
{
        printf("Usage: headgate %s [OPTION...]\n\n"
               "%s\n\n"
               "      --initrd  For initrds that are made by initramfs-tools, not for the system\n"
               "  -h, --help    Show this help\n\n"
               "See headgate-enable(8) and headgate-initrd(8).\n",
                verb,
                streq(verb, "enable") ? "Let headgate activate volume groups from the next boot on."
                                      : "Leave activation to lvm2's own udev rule from the next boot on.");
}

/* 1 to go on, or an exit status below that, negated. */
static int parse_arguments(int argc, char *argv[])
{
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"initrd", no_argument, NULL, 'i'},
                {},
        };

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help(argv[0]);
                        return -EXIT_SUCCESS;
                case 'i':
                        arg_initrd = true;
                        break;
                default:
                        return -EXIT_CANNOT_TELL;
                }
        if (optind < argc) {
                log_error("This verb takes no arguments, see --help.");
                return -EXIT_CANNOT_TELL;
        }
        return 1;
}

static int call_systemctl(const char *verb)
{
        execlp("systemctl", "systemctl", verb, "headgate-takeover.service", NULL);
        (void) log_error_errno(-errno, "Failed to start systemctl: %m");
        return EXIT_CANNOT_TELL;
}

int verb_enable(int argc, char *argv[])
{
        int r = parse_arguments(argc, argv);

        if (r <= 0)
                return -r;
        return arg_initrd ? enable_initrd() : call_systemctl("enable");
}

int verb_disable(int argc, char *argv[])
{
        int r = parse_arguments(argc, argv);

        if (r <= 0)
                return -r;
        return arg_initrd ? disable_initrd() : call_systemctl("disable");
}
