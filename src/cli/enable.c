/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate enable and headgate disable: what systemctl makes of the [Install] sections of headgate-takeover.service
 * and headgate-fast-dm-rules.service, and nothing besides, so that each undoes the other. With --initrd, instead of
 * that, what enable-initrd.c does. */

#include <fcntl.h>
#include <getopt.h>

#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/root.h"
#include "timeline/archive.h"

#define TAKEOVER "headgate-takeover.service"
#define FAST_DM_RULES "headgate-fast-dm-rules.service"

static bool arg_fast_dm_rules;
static bool arg_initrd;

static void help(const char *verb)
{
        printf("Usage: headgate %s [OPTION...]\n\n"
               "%s\n\n"
               "      --fast-dm-rules  %s\n"
               "      --initrd         For initrds that are made by initramfs-tools, not for the system\n"
               "  -h, --help           Show this help\n\n"
               "See headgate-enable(8) and headgate-initrd(8).\n",
                verb,
                streq(verb, "enable") ? "Let headgate activate volume groups from the next boot on."
                                      : "Leave activation to lvm2's own udev rule from the next boot on.",
                streq(verb, "enable") ? "And have udev need less for each event of device-mapper"
                                      : "Only have udev call dmsetup as ever, and leave headgate enabled");
}

/* 1 to go on, or an exit status below that, negated. */
static int parse_arguments(int argc, char *argv[])
{
        static const struct option options[] = {
                {"fast-dm-rules", no_argument, NULL, 'f'},
                {"help", no_argument, NULL, 'h'},
                {"initrd", no_argument, NULL, 'i'},
                {},
        };

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'f':
                        arg_fast_dm_rules = true;
                        break;
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
        if (arg_initrd && arg_fast_dm_rules) {
                log_error("--initrd and --fast-dm-rules are about different things, give one of them.");
                return -EXIT_CANNOT_TELL;
        }
        return 1;
}

/* One unit, or two. */
static int call_systemctl(const char *verb, const char *unit, const char *other_unit)
{
        execl("/bin/systemctl", "systemctl", verb, unit, other_unit, NULL);
        (void) log_error_errno(-errno, "Failed to start systemctl: %m");
        return EXIT_CANNOT_TELL;
}

int verb_enable(int argc, char *argv[])
{
        int r = parse_arguments(argc, argv);

        if (r <= 0)
                return -r;
        if (arg_initrd)
                return enable_initrd();
        return call_systemctl("enable", TAKEOVER, arg_fast_dm_rules ? FAST_DM_RULES : NULL);
}

/* What headgate has written down of past boots may be wanted all the more. */
static void say_what_stays(void)
{
        _cleanup_close_ int root_fd = root_open();

        if (root_fd >= 0 && faccessat(root_fd, ARCHIVE_DIRECTORY, F_OK, 0) == 0)
                log_info("Timelines of past boots stay in /" ARCHIVE_DIRECTORY
                         ", and headgate blame --boot= tells of them.");
}

int verb_disable(int argc, char *argv[])
{
        int r = parse_arguments(argc, argv);

        if (r <= 0)
                return -r;
        if (arg_initrd)
                return disable_initrd();
        if (!arg_fast_dm_rules)
                say_what_stays();
        /* Whether they were enabled or not: systemctl has nothing to say about that. */
        return arg_fast_dm_rules ? call_systemctl("disable", FAST_DM_RULES, NULL)
                                 : call_systemctl("disable", TAKEOVER, FAST_DM_RULES);
}
