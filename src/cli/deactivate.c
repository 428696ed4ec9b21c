/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate deactivate: does for a machine that goes on running what headgate-teardown does at shutdown. */

#include <getopt.h>
#include <signal.h>
#include <sys/resource.h>

#include "cli/target.h"
#include "cli/udev-removals.h"
#include "cli/verbs.h"
#include "lvm/dm_devices.h"
#include "lvm/locks.h"
#include "shared/log.h"
#include "shared/root.h"
#include "shared/settings.h"
#include "shared/util.h"
#include "teardown/scope.h"
#include "teardown/teardown.h"
#include "tree/lvs.h"
#include "tree/order.h"
#include "tree/read.h"

/* How long to wait for other commands that work on the same VGs. */
#define LOCKS_TIMEOUT_USEC (5 * USEC_PER_SEC)

/* Nothing is waited for but removals, which have deadlines of their own. */
#define STALL_USEC (120 * USEC_PER_SEC)

/* As long as lvm2's own commands wait for udev (lvm2, udev/10-dm.rules), for all devices together. */
#define UDEV_TIMEOUT_USEC (30 * USEC_PER_SEC)

#define REASON_LOCKED "a command of lvm2 is at work on its VG"

static bool arg_serial;
static bool arg_no_udev_sync;

static void help(void)
{
        printf("Usage: headgate deactivate [OPTION...] [--] [VG|VG/LV|DEVICE...]\n\n"
               "Deactivate volume groups, logical volumes and all that lies on a device, many at a\n"
               "time; without a name, all on which nothing is mounted or swapped to. What is in use\n"
               "stays, and so does what / and /usr need.\n\n"
               "      --serial      Remove one device after another\n"
               "      --noudevsync  Do not wait for udev\n"
               "  -h, --help        Show this help\n\n"
               "Exit status: 0 if all is down, 1 if something is left, 2 if that cannot be told.\n\n"
               "See headgate(8).\n");
}

/* 1 to go on, or an exit status, negated. */
static int parse_arguments(int argc, char *argv[])
{
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"noudevsync", no_argument, NULL, 'u'},
                {"serial", no_argument, NULL, 's'},
                {},
        };

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help();
                        return -EXIT_SUCCESS;
                case 's':
                        arg_serial = true;
                        break;
                case 'u':
                        arg_no_udev_sync = true;
                        break;
                default:
                        return -EXIT_CANNOT_TELL;
                }
        return 1;
}

struct deactivation {
        int root_fd;
        struct settings settings;
        struct configuration configuration;
        struct target *targets; /* none for everything */
        size_t n_targets;
        struct volume_group_locks locks;
        struct tree *tree;
        struct selection selection;
        bool something_left; /* that was asked for */
};

static void deactivation_done(struct deactivation *deactivation)
{
        volume_group_locks_done(&deactivation->locks);
        selection_done(&deactivation->selection);
        tree_free(deactivation->tree);
        for (size_t i = 0; i < deactivation->n_targets; i++)
                target_done(&deactivation->targets[i]);
        free(deactivation->targets);
        configuration_done(&deactivation->configuration);
        settings_done(&deactivation->settings);
        if (deactivation->root_fd >= 0)
                close(deactivation->root_fd);
}

/* ------ what was asked for ------ */

static int read_configuration(struct deactivation *deactivation)
{
        _cleanup_problems_ struct problems problems = {};
        int r;

        deactivation->root_fd = root_open();
        if (deactivation->root_fd < 0)
                return deactivation->root_fd;
        r = settings_read(deactivation->root_fd, &deactivation->settings, &problems);
        if (r >= 0)
                r = configuration_read(deactivation->root_fd, &deactivation->configuration, &problems);
        for (size_t i = 0; i < problems.lines.n; i++)
                log_warning("%s", problems.lines.strings[i]);
        return r;
}

/* What is wrong with one name does not concern the others. */
static int parse_targets(struct deactivation *deactivation, char *names[], size_t n)
{
        deactivation->targets = calloc(n + 1, sizeof(*deactivation->targets));
        if (!deactivation->targets)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                int r = target_parse(names[i], &deactivation->targets[deactivation->n_targets]);

                if (r == -ENOMEM)
                        return r;
                if (r >= 0) {
                        deactivation->n_targets++;
                        continue;
                }
                deactivation->something_left = true;
                if (r == -EINVAL)
                        log_error("\"%s\" cannot be the name of a VG or an LV.", names[i]);
                else if (r == -ENOTBLK)
                        log_error("%s is not a block device.", names[i]);
                else
                        (void) log_error_errno(r, "%s: %m", names[i]);
        }
        return 0;
}

/* ------ locks and tree ------ */

/* One open file for each VG. */
static void allow_many_files(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
}

static int lock_all(struct deactivation *deactivation, uint64_t until_usec)
{
        _cleanup_dm_devices_ struct dm_devices devices = {};
        int r;

        r = dm_devices_get(deactivation->root_fd, &devices);
        for (size_t i = 0; r >= 0 && i < devices.n; i++) {
                struct dm_pool *pool;
                char *vg, *lv, *layer;

                if (!skip_prefix(devices.devices[i].uuid, "LVM-"))
                        continue;
                pool = dm_pool_create("name", 512);
                if (!pool)
                        return -ENOMEM;
                if (dm_split_lvm_name(pool, devices.devices[i].name, &vg, &lv, &layer))
                        r = volume_group_locks_take(&deactivation->locks, vg, until_usec);
                dm_pool_destroy(pool);
        }
        return MIN(r, 0);
}

/* Before anything is looked at, so that no command can change it meanwhile. */
static int lock_targets(struct deactivation *deactivation, uint64_t until_usec)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < deactivation->n_targets; i++)
                if (deactivation->targets[i].vg)
                        r = volume_group_locks_take(&deactivation->locks, deactivation->targets[i].vg, until_usec);
        return MIN(r, 0);
}

/* Of VGs that turn out to be concerned. Returns 1 if there were any that had not been tried, 0 or -ENOMEM. */
static int lock_selected(struct deactivation *deactivation, uint64_t until_usec)
{
        const struct tree_nodes *nodes = &deactivation->tree->nodes;
        bool more = false;

        for (size_t i = 0; i < nodes->n; i++) {
                int r;

                if (!nodes->nodes[i]->vg || !selection_has(&deactivation->selection, nodes->nodes[i]) ||
                        !tree_node_is_ours(nodes->nodes[i]))
                        continue;
                r = volume_group_locks_take(&deactivation->locks, nodes->nodes[i]->vg, until_usec);
                if (r < 0)
                        return r;
                more |= r > 0;
        }
        return more;
}

static int select_targets(struct deactivation *deactivation)
{
        int r = 0;

        if (!deactivation->targets)
                return selection_add_unused(&deactivation->selection);
        for (size_t i = 0; r >= 0 && i < deactivation->n_targets; i++)
                r = target_select(&deactivation->targets[i], &deactivation->selection);
        return r;
}

static int read_tree(struct deactivation *deactivation)
{
        int r;

        selection_done(&deactivation->selection);
        deactivation->selection = (struct selection){};
        tree_free(deactivation->tree);
        deactivation->tree = NULL;
        r = tree_read(deactivation->root_fd, &deactivation->tree);
        if (r >= 0)
                r = teardown_scope_apply(deactivation->tree, deactivation->root_fd, TEARDOWN_ALL);
        return r < 0 ? r : selection_init(&deactivation->selection, deactivation->tree);
}

/* Reads the tree, and once more if VGs of it had not been locked before. */
static int lock_and_select(struct deactivation *deactivation)
{
        uint64_t until_usec = now_usec() + LOCKS_TIMEOUT_USEC;
        int r;

        allow_many_files();
        r = volume_group_locks_init(&deactivation->locks, deactivation->configuration.locking_dir);
        if (r >= 0)
                r = deactivation->targets ? lock_targets(deactivation, until_usec)
                                          : lock_all(deactivation, until_usec);
        if (r < 0)
                return r;
        do {
                r = read_tree(deactivation);
                if (r >= 0)
                        r = select_targets(deactivation);
                if (r >= 0)
                        r = lock_selected(deactivation, until_usec);
        } while (r > 0);
        return r;
}

/* ------ what stays ------ */

static int refuse_locked(struct deactivation *deactivation)
{
        struct selection *selection = &deactivation->selection;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < deactivation->tree->nodes.n; i++) {
                struct tree_node *node = deactivation->tree->nodes.nodes[i];

                if (node->vg && selection_has(selection, node) && tree_node_is_ours(node) &&
                        volume_group_locks_get(&deactivation->locks, node->vg) < 0)
                        r = selection_refuse(node, REASON_LOCKED);
        }
        return r;
}

/* To touch what is suspended, or what lies on it, may be to wait for ever. */
static int refuse_suspended(struct deactivation *deactivation)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < deactivation->tree->nodes.n; i++) {
                struct tree_node *node = deactivation->tree->nodes.nodes[i];
                _cleanup_free_ char *reason = NULL;

                if (!node->suspended)
                        continue;
                reason = string_format("%s is suspended", node->name);
                r = reason ? selection_refuse(node, reason) : -ENOMEM;
        }
        return r;
}

static void report_locked(struct deactivation *deactivation)
{
        struct dm_hash_node *entry;

        dm_hash_iterate(entry, deactivation->locks.locks)
        {
                const char *vg = dm_hash_get_key(deactivation->locks.locks, entry);
                int r = volume_group_locks_get(&deactivation->locks, vg);

                if (r >= 0)
                        continue;
                deactivation->something_left = true;
                if (r == -EAGAIN)
                        log_error("VG %s is left alone: a command of lvm2 is at work on it.", vg);
                else
                        (void) log_error_errno(r, "VG %s is left alone: Failed to lock it: %m", vg);
        }
}

static void report_left_alone(struct deactivation *deactivation)
{
        for (size_t i = 0; i < deactivation->tree->nodes.n; i++) {
                const struct tree_node *node = deactivation->tree->nodes.nodes[i];
                _cleanup_free_ char *name = NULL, *reason = NULL;

                if (!selection_has(&deactivation->selection, node) || !node->left_alone ||
                        !tree_kind_is_removable(node->kind) || tree_lv_is_hidden(node))
                        continue;
                deactivation->something_left = true;
                if (streq(node->left_alone, REASON_LOCKED))
                        continue;
                name = string_printable(node->name);
                reason = string_printable(node->left_alone);
                log_error("%s is left alone: %s.", name ?: "?", reason ?: "?");
        }
}

/* Returns 0 or -ENOMEM. */
static int report_not_found(struct deactivation *deactivation)
{
        for (size_t i = 0; i < deactivation->n_targets; i++) {
                const struct target *target = &deactivation->targets[i];
                int r;

                if (target->found)
                        continue;
                r = target_is_known(target, &deactivation->configuration);
                if (r < 0)
                        return r;
                if (r == 0) {
                        deactivation->something_left = true;
                        log_error("There is no %s %s.", target->lv ? "LV" : "VG", target->name);
                } else if (!target->vg) {
                        log_info("There is nothing on %s to be deactivated.", target->name);
                } else {
                        log_info("%s %s is not active.", target->lv ? "LV" : "VG", target->name);
                }
        }
        return 0;
}

static int decide(struct deactivation *deactivation)
{
        int r;

        r = refuse_locked(deactivation);
        if (r >= 0)
                r = refuse_suspended(deactivation);
        if (r >= 0)
                r = selection_finish(&deactivation->selection);
        if (r >= 0)
                r = report_not_found(deactivation);
        if (r < 0)
                return r;
        report_locked(deactivation);
        report_left_alone(deactivation);
        return tree_order(deactivation->tree);
}

/* ------ the work ------ */

static bool is_anything_to_go(const struct tree *tree)
{
        for (size_t i = 0; i < tree->nodes.n; i++)
                if (tree_node_is_ours(tree->nodes.nodes[i]))
                        return true;
        return false;
}

/* Devices of other drivers stay, without content. */
static int wait_for_udev(const struct tree *tree, struct udev_removals *removals)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                const struct tree_node *node = tree->nodes.nodes[i];

                if (node->kind >= TREE_MULTIPATH && tree_node_is_ours(node) && node->state == TREE_GONE)
                        r = udev_removals_expect(removals, node->number);
        }
        return r < 0 ? r : udev_removals_wait(removals, UDEV_TIMEOUT_USEC);
}

/* Returns 0 if all is gone, 1 if not, or a negative errno. */
static int take_down(struct deactivation *deactivation)
{
        const struct settings *settings = &deactivation->settings;
        _cleanup_teardown_ struct teardown teardown = {};
        int r;

        r = teardown_init(&teardown, deactivation->tree, deactivation->root_fd,
                &(struct teardown_options){
                        .n_threads = arg_serial || !settings->parallel_teardown ? 1 : TEARDOWN_THREADS_DEFAULT,
                        .deadline_usec = settings->teardown_deadline_usec,
                        .stall_usec = STALL_USEC,
                        .vgs_are_locked = true,
                        .remove = removal_run,
                });
        return r < 0 ? r : teardown_run(&teardown);
}

static int take_down_and_wait_for_udev(struct deactivation *deactivation)
{
        _cleanup_udev_removals_ struct udev_removals *removals = NULL;
        sigset_t signals;
        int r, k;

        if (!is_anything_to_go(deactivation->tree))
                return 0;
        r = arg_no_udev_sync ? 0 : udev_removals_new(&removals);
        if (r < 0)
                (void) log_error_errno(r, "Failed to listen to udev, its links may be there for longer: %m");

        (void) sigprocmask(SIG_SETMASK, NULL, &signals);
        r = take_down(deactivation);
        /* From now on it may be interrupted as anything else. */
        (void) sigprocmask(SIG_SETMASK, &signals, NULL);

        k = removals ? wait_for_udev(deactivation->tree, removals) : 0;
        if (k < 0)
                (void) log_error_errno(k, "Failed to wait until udev is done: %m");
        return r;
}

static int deactivate(struct deactivation *deactivation, char *names[], size_t n)
{
        int r;

        r = read_configuration(deactivation);
        if (r >= 0 && n > 0)
                r = parse_targets(deactivation, names, n);
        if (r >= 0)
                r = lock_and_select(deactivation);
        if (r >= 0)
                r = decide(deactivation);
        if (r >= 0)
                r = take_down_and_wait_for_udev(deactivation);
        if (r > 0)
                deactivation->something_left = true;
        return r;
}

int verb_deactivate(int argc, char *argv[])
{
        _cleanup_(deactivation_done) struct deactivation deactivation = {.root_fd = -EBADF};
        int r;

        r = parse_arguments(argc, argv);
        if (r <= 0)
                return -r;
        if (root_is_chosen()) {
                log_error("What is below %s cannot be deactivated.", root_path());
                return EXIT_CANNOT_TELL;
        }
        if (geteuid() != 0) {
                log_error("Only root can deactivate anything.");
                return EXIT_CANNOT_TELL;
        }

        r = deactivate(&deactivation, argv + optind, (size_t) (argc - optind));
        if (r < 0) {
                (void) log_error_errno(r, "Failed to deactivate: %m");
                return EXIT_CANNOT_TELL;
        }
        return deactivation.something_left ? EXIT_NOT_ALL_DOWN : EXIT_ALL_DOWN;
}
