/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate: what people type. A table of verbs, each in a file of its own. */

#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/util.h"

static const struct verb verbs[] = {
        {"status", verb_status, "[VG...]", "Show which volume groups are up, and why others are not"},
        {"why", verb_why, "NAME...", "Explain why a volume group, logical volume or device is up or not"},
        {"tree", verb_tree, "[NAME...]", "Show what lies on what, from disks to mounts"},
        {"blame", verb_blame, "[NAME...]", "Show what took longest at boot or at shutdown, and on what"},
        {"plot", verb_plot, "[NAME...]", "Draw that as a picture"},
        {"shutdown-log", verb_shutdown_log, "[FILE...]",
                "Show how long the kernel's own shutdown of devices took"},
        {"doctor", verb_doctor, "", "Check whether the machine is set up as it should be"},
        {"activate", verb_activate, "VG...", "Have volume groups activated, and wait for them"},
        {"deactivate", verb_deactivate, "[NAME...]", "Deactivate volume groups, logical volumes, other devices"},
        {"wait", verb_wait, "[VG...]", "Wait until volume groups have been activated"},
        {"plan", verb_plan, "PLAN", "Show what headgate would do"},
        {"metadata", verb_metadata, "[VG...]", "Show what copies of metadata cost, or keep fewer of them"},
        {"enable", verb_enable, "[--initrd]", "Let headgate activate volume groups from the next boot on"},
        {"disable", verb_disable, "[--initrd]", "Leave that to lvm2's own udev rule from the next boot on"},
};

static void help(void)
{
        printf("Usage: headgate [OPTION...] VERB ...\n\n"
               "Activation and deactivation of LVM volume groups.\n\n"
               "Verbs:\n");
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                printf("  %-12s %-11s %s\n", verbs[i].name, verbs[i].arguments, verbs[i].description);
        printf("\nOptions:\n"
               "  -h, --help     Show this help, after a verb that of the verb\n"
               "      --version  Show the version\n\n"
               "See headgate(8). Each verb has a page of its own, which its help names.\n");
}

/* getopt_long() repeats an option that it does not know as it is. None that there is has such letters, and a script may
 * have forgotten the "--" before a name that it was given. */
static bool options_are_printable(int argc, char *argv[])
{
        for (int i = 1; i < argc && !streq(argv[i], "--"); i++) {
                _cleanup_free_ char *printable = argv[i][0] == '-' ? string_printable(argv[i]) : NULL;

                if (argv[i][0] != '-' || (printable && streq(printable, argv[i])))
                        continue;
                log_error("Unknown option \"%s\", see --help.", printable ?: "?");
                return false;
        }
        return true;
}

static bool output_is_written(void)
{
        if (fflush(stdout) == 0 && !ferror(stdout))
                return true;
        (void) log_error_errno(-errno, "Failed to write to standard output: %m");
        return false;
}

int main(int argc, char *argv[])
{
        static const struct verb_choice choice = {verbs, ELEMENTSOF(verbs), "verb", "--help", help};
        int status;

        log_open("headgate", log_target_of_stderr());
        status = options_are_printable(argc, argv) ? verb_run(&choice, argc, argv) : EXIT_CANNOT_TELL;
        return output_is_written() ? status : EXIT_CANNOT_TELL;
}
