/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate deactivate: does for a machine that goes on running what headgate-teardown does at shutdown. */

#include <signal.h>

#include "cli/deactivation.h"
#include "cli/teardown-table.h"
#include "cli/udev-removals.h"
#include "cli/verbs.h"
#include "lvm/online.h"
#include "shared/log.h"
#include "shared/program.h"
#include "teardown/teardown.h"

/* Longer than removals and lvm2 have, by default. */
#define STALL_USEC (120 * USEC_PER_SEC)

#define UDEV_TIMEOUT_USEC (30 * USEC_PER_SEC)

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

static bool has_nodes_to_go(const struct tree *tree)
{
        for (size_t i = 0; i < tree->nodes.n; i++)
                if (tree_node_is_ours(tree->nodes.nodes[i]))
                        return true;
        return false;
}

static bool has_gone(const struct tree_node *node)
{
        return tree_node_is_ours(node) && node->state == TREE_GONE;
}

/* Returns 0 if all is gone, 1 if not, or a negative errno. */
static int take_down(struct deactivation *deactivation)
{
        const struct settings *settings = &deactivation->sources.settings;
        _cleanup_teardown_ struct teardown teardown = {};
        int r;

        r = teardown_init(&teardown, deactivation->tree, deactivation->sources.root_fd,
                &(struct teardown_options){
                        .n_threads = arg_serial || !settings->parallel_teardown ? 1 : TEARDOWN_THREADS_DEFAULT,
                        .deadline_usec = settings->teardown_deadline_usec,
                        .stall_usec = STALL_USEC,
                        .vgs_are_locked = true,
                        .remove = removal_job_run,
                });
        return r < 0 ? r : teardown_run(&teardown);
}

/* lvm2 notes which VGs have been autoactivated, so that no further event activates them again, until one of
 * their LVs is deactivated. */
static void withdraw_claims(const struct deactivation *deactivation)
{
        _cleanup_close_ int lvm_run_fd = online_open_directory();
        const char *last = "";

        if (!deactivation->sources.configuration.event_activation || lvm_run_fd < 0)
                return;
        for (size_t i = 0; i < deactivation->tree->nodes.n; i++) {
                const struct tree_node *node = deactivation->tree->nodes.nodes[i];
                int r;

                if (!node->vg || !has_gone(node) || streq(node->vg, last))
                        continue;
                r = online_unclaim(lvm_run_fd, node->vg);
                if (r < 0)
                        (void) log_error_errno(r, "Failed to tell lvm2 that VG %s is not active: %m", node->vg);
                last = node->vg;
        }
}

/* Devices of other drivers stay, without content. */
static int wait_for_udev(const struct tree *tree, struct udev_removals *removals)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++)
                if (tree->nodes.nodes[i]->kind >= TREE_MULTIPATH && has_gone(tree->nodes.nodes[i]))
                        r = udev_removals_expect(removals, tree->nodes.nodes[i]->number);
        return r < 0 ? r : udev_removals_wait(removals, UDEV_TIMEOUT_USEC);
}

/* The same as take_down(). */
static int take_down_and_wait_for_udev(struct deactivation *deactivation)
{
        _cleanup_udev_removals_ struct udev_removals *removals = NULL;
        sigset_t signals;
        int r, k;

        k = arg_no_udev_sync ? 0 : udev_removals_new(&removals);
        (void) sigprocmask(SIG_SETMASK, NULL, &signals);
        r = take_down(deactivation);
        withdraw_claims(deactivation);

        /* It can be interrupted again. */
        (void) sigprocmask(SIG_SETMASK, &signals, NULL);
        if (k >= 0 && removals)
                k = wait_for_udev(deactivation->tree, removals);
        if (k < 0)
                (void) log_error_errno(k, "Failed to wait until udev has removed its links: %m");
        return r;
}

static int deactivate(struct deactivation *deactivation)
{
        int r;

        /* Who finds a VG down tomorrow looks for the reason in the journal. */
        log_record_events();
        r = deactivation_lock_and_find(deactivation);
        if (r >= 0)
                r = deactivation_decide(deactivation);
        if (r < 0 || !has_nodes_to_go(deactivation->tree))
                return r;
        r = take_down_and_wait_for_udev(deactivation);
        if (r > 0)
                deactivation->something_left = true;
        return r;
}

static int show(struct deactivation *deactivation)
{
        _cleanup_table_options_ struct table_options options = {};
        int r;

        r = deactivation_find(deactivation);
        if (r >= 0)
                r = deactivation_decide(deactivation);
        if (r < 0 || !has_nodes_to_go(deactivation->tree))
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
        if (r >= 0)
                r = arg_dry_run ? show(&deactivation) : deactivate(&deactivation);
        if (r < 0)
                return verb_fail(r, "Failed to deactivate: %m");
        return deactivation.something_left ? EXIT_NOT_ALL_DOWN : EXIT_ALL_DOWN;
}
