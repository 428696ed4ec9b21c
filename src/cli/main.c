/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate: what people type. A table of verbs, each in a file of its own. */

#include "cli/verbs.h"
#include "shared/log.h"

static const struct verb verbs[] = {
        {"status", verb_status, "[VG...]", "Show which volume groups are up, and why others are not"},
        {"why", verb_why, "NAME...", "Explain why a volume group, logical volume or device is up or not"},
        {"tree", verb_tree, "[NAME...]", "Show what lies on what, from disks to mounts"},
        {"blame", verb_blame, "[NAME...]", "Show what took longest at boot or at shutdown, and on what"},
        {"plot", verb_plot, "[NAME...]", "Draw that as a picture"},
        {"doctor", verb_doctor, "", "Check whether the machine is set up as it should be"},
        {"activate", verb_activate, "VG...", "Have volume groups activated, and wait for them"},
        {"deactivate", verb_deactivate, "[NAME...]", "Deactivate volume groups, logical volumes, other devices"},
        {"wait", verb_wait, "[VG...]", "Wait until volume groups have been activated"},
        {"plan", verb_plan, "PLAN", "Show what headgate would do"},
        {"enable", verb_enable, "[--initrd]", "Let headgate activate volume groups from the next boot on"},
        {"disable", verb_disable, "[--initrd]", "Leave that to lvm2's own udev rule from the next boot on"},
};

static void help(void)
{
        printf("Usage: headgate [OPTION...] VERB ...\n\n"
               "Activation and deactivation of LVM volume groups.\n\n"
               "Verbs:\n");
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                printf("  %-10s %-11s %s\n", verbs[i].name, verbs[i].arguments, verbs[i].description);
        printf("\nOptions:\n"
               "  -h, --help     Show this help, after a verb that of the verb\n"
               "      --version  Show the version\n\n"
               "See headgate(8). Each verb has a page of its own, which its help names.\n");
}

int main(int argc, char *argv[])
{
        static const struct verb_choice choice = {verbs, ELEMENTSOF(verbs), "verb", "--help", help};

        log_open("headgate", log_target_of_stderr());
        return verb_run(&choice, argc, argv);
}
