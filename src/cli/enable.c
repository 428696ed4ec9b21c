/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate enable and headgate disable: what systemctl makes of the [Install] sections of headgate-takeover.service
 * and headgate-fast-dm-rules.service, and nothing besides, so that each undoes the other. With --initrd, instead of
 * that, what enable-initrd.c does. */

#include <fcntl.h>

#include "boot/switches.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "lvm/command.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "timeline/archive.h"

#define TAKEOVER "headgate-takeover.service"
#define FAST_DM_RULES "headgate-fast-dm-rules.service"

static bool arg_fast_dm_rules;
static bool arg_initrd;
static bool arg_now;
static const char *arg_verb;

static void help(void)
{
        bool enable = streq(arg_verb, "enable");

        printf("Usage: headgate %s [OPTION...]\n\n"
               "%s\n\n"
               "      --fast-dm-rules  %s\n"
               "      --initrd         For initrds that are made by initramfs-tools, not for the system\n"
               "      --now            %s\n"
               "  -h, --help           Show this help\n\n"
               "See headgate-enable(8) and headgate-initrd(8).\n",
                arg_verb,
                enable ? "Let headgate activate volume groups from the next boot on."
                       : "Leave activation to lvm2's own udev rule from the next boot on.",
                enable ? "And have udev need less for each event of device-mapper"
                       : "Only have udev call dmsetup as ever, and leave headgate enabled",
                enable ? "Also take over at once" : "Also restore lvm2's rule at once");
}

static const struct table_switch switches[] = {
        {"fast-dm-rules", '\0', &arg_fast_dm_rules},
        {"initrd", '\0', &arg_initrd},
        {"now", '\0', &arg_now},
};

static const struct table_verb verb = {.help = help, .switches = switches, .n_switches = ELEMENTSOF(switches)};

/* 1 to go on, or an exit status below that, negated. */
static int parse_arguments(int argc, char *argv[])
{
        int r;

        arg_verb = argv[0];
        r = table_parse_options(argc, argv, &verb, NULL);
        if (r <= 0)
                return r;
        if (optind < argc) {
                log_error("This verb takes no arguments, see --help.");
                return -EXIT_CANNOT_TELL;
        }
        if (arg_initrd && (arg_fast_dm_rules || arg_now)) {
                log_error("--initrd and %s are mutually exclusive.", arg_now ? "--now" : "--fast-dm-rules");
                return -EXIT_CANNOT_TELL;
        }
        return 1;
}

/* One unit, or two. */
static int call_systemctl(const char *action, const char *unit, const char *other_unit)
{
        const char *words[] = {"systemctl", action, unit, NULL, NULL, NULL};
        size_t n = 3;

        if (other_unit)
                words[n++] = other_unit;
        if (arg_now)
                words[n++] = "--now";
        execv("/bin/systemctl", (char *const *) words);
        (void) log_error_errno(-errno, "Failed to start systemctl: %m");
        return EXIT_CANNOT_TELL;
}

/* The administrator has headgate take over, so that failures of the worker do not count any more, neither with headgate nor
 * with systemd. */
static int forget_failures(void)
{
        static const char *const words[] = {
                "systemctl", "reset-failed", "headgate.service", "headgate.socket", NULL};
        _cleanup_close_ int run_fd = flags_open_run_directory();
        _cleanup_free_ char *output = NULL;
        int r = run_fd < 0 ? run_fd : flags_clear(run_fd, FLAGS_GIVEN_UP);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        /* It fails for units that systemd has not loaded, which have not failed. */
        r = command_run("/bin/systemctl", words, &output);
        return MIN(r, 0);
}

static int prepare_to_take_over(void)
{
        _cleanup_close_ int root_fd = root_open();
        const char *off = NULL;
        int r;

        r = root_fd < 0 ? root_fd : switches_describe_headgate_off(root_fd, &off);
        if (r >= 0 && off) {
                log_error("%s", off);
                return -EPERM;
        }
        if (r >= 0)
                r = forget_failures();
        return r < 0 ? log_error_errno(r, "Failed to prepare taking over: %m") : 0;
}

int verb_enable(int argc, char *argv[])
{
        int r = parse_arguments(argc, argv);

        if (r <= 0)
                return -r;
        if (arg_initrd)
                return enable_initrd();
        if (arg_now && prepare_to_take_over() < 0)
                return EXIT_CANNOT_TELL;
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
