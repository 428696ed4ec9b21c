/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Deactivates storage while the machine keeps running. Names select nodes of the storage tree, the VGs of these are locked
 * against lvm2's commands, nodes that have to stay are skipped, and src/teardown removes the others. */

#include "deactivate/deactivation.h"

#include <signal.h>

#include "lvm/command.h"
#include "shared/log.h"
#include "shared/util.h"
#include "teardown/kernel.h"
#include "teardown/scope.h"
#include "teardown/teardown.h"
#include "teardown/users.h"
#include "tree/order.h"
#include "tree/read.h"

/* How long to wait for commands that work on the same VGs. */
#define LOCKS_TIMEOUT_USEC (5 * USEC_PER_SEC)

#define REASON_LOCKED "another lvm2 command has locked its VG"

/* ------ arguments ------ */

int deactivation_init(struct deactivation *deactivation, char *names[], size_t n)
{
        int r = sources_open(&deactivation->sources) ?: sources_read_config(&deactivation->sources);

        if (r < 0 || n == 0)
                return r;
        deactivation->targets = calloc(n, sizeof(*deactivation->targets));
        if (!deactivation->targets)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                struct target *target = &deactivation->targets[deactivation->n_targets];

                r = target_parse(names[i], target);
                if (r >= 0 && target->vg)
                        r = sources_refuse_duplicate(&deactivation->sources, target->vg);
                if (r >= 0) {
                        deactivation->n_targets++;
                        continue;
                }
                target_done(target);
                if (r == -ENOMEM)
                        return r;
                deactivation->something_left = true;
                if (r != -ENOTUNIQ)
                        target_log_error(names[i], r);
        }
        return 0;
}

void deactivation_done(struct deactivation *deactivation)
{
        vg_locks_done(&deactivation->locks);
        tree_free(deactivation->tree);
        FOREACH_ARRAY(target, deactivation->targets, deactivation->n_targets)
                target_done(target);
        free(deactivation->targets);
        sources_done(&deactivation->sources);
}

/* ------ the tree ------ */

static int find(struct deactivation *deactivation)
{
        const struct sources *sources = &deactivation->sources;
        int r;

        deactivation->tree = tree_free(deactivation->tree);
        r = tree_read(sources->root_fd, &deactivation->tree)
                    ?: teardown_skip_foreign(deactivation->tree, &sources->config, &sources->config_problems);
        if (r < 0)
                return r;
        if (!deactivation->targets)
                selection_add_unused(deactivation->tree);
        FOREACH_ARRAY(target, deactivation->targets, deactivation->n_targets)
                target_select(target, deactivation->tree);
        return 0;
}

/* Locks the VGs of all selected nodes. Returns 1 if one of them was not locked before, 0, or -ENOMEM. */
static int lock_selected(struct deactivation *deactivation, uint64_t until_usec)
{
        bool more = false;

        FOREACH_NODE(node, &deactivation->tree->nodes) {
                int r;

                if (!node->vg || !node->selected)
                        continue;
                r = vg_locks_take(&deactivation->locks, node->vg, until_usec);
                if (r < 0)
                        return r;
                more |= r > 0;
        }
        return more;
}

/* A VG can change until it is locked, so the tree is read again after locking. A disk, for instance, may then have VGs that were
 * not locked yet. */
static int lock_and_find(struct deactivation *deactivation)
{
        uint64_t until_usec = now_usec() + LOCKS_TIMEOUT_USEC;
        int r;

        /* Each lock is an open file. */
        allow_many_files();
        r = vg_locks_init(&deactivation->locks, deactivation->sources.config.locking_dir);
        for (size_t i = 0; r >= 0 && i < deactivation->n_targets; i++)
                if (deactivation->targets[i].vg)
                        r = vg_locks_take(&deactivation->locks, deactivation->targets[i].vg, until_usec);
        if (r < 0)
                return r;
        do
                r = find(deactivation) ?: lock_selected(deactivation, until_usec);
        while (r > 0);
        return r;
}

/* ------ nodes that stay ------ */

static void refuse_locked(struct deactivation *deactivation)
{
        FOREACH_ARRAY(lock, deactivation->locks.locks, deactivation->locks.n) {
                if (lock->fd >= 0)
                        continue;
                deactivation->something_left = true;
                if (lock->fd == -EAGAIN)
                        log_error("VG %s is locked by another lvm2 command, skipping it.", lock->name);
                else
                        (void) log_error_errno(lock->fd, "Failed to lock VG %s, skipping it: %m", lock->name);
                FOREACH_NODE(node, &deactivation->tree->nodes)
                        if (node->vg && streq(node->vg, lock->name) && node->selected)
                                selection_refuse(node, REASON_LOCKED);
        }
}

static void report_skipped(struct deactivation *deactivation)
{
        FOREACH_NODE(node, &deactivation->tree->nodes) {
                if (!node->selected || !node->skip_reason || !tree_kind_is_removable(node->kind) ||
                        tree_lv_is_hidden(node))
                        continue;
                deactivation->something_left = true;
                if (!streq(node->skip_reason, REASON_LOCKED))
                        log_error("%s is skipped: %s.", node->name, node->skip_reason);
        }
}

/* Returns 1 if it is not active, 0 if it stays or does not exist, or a negative errno. */
static int report_inactive(struct deactivation *deactivation, const struct target *target)
{
        const struct tree_node *used = target->lv ? target_find_node(target, deactivation->tree) : NULL;
        struct sources *sources = &deactivation->sources;
        int r;

        if (!target->vg) {
                log_info("%s has nothing to deactivate.", target->name);
                return 1;
        }
        if (used && *used->layer == '\0') {
                if (!used->selected)
                        log_error("%s is skipped: it is in use by %s.", target->name, used->uppers.nodes[0]->name);
                return used->selected;
        }
        if (target->lv) {
                r = used ? 1 : target_is_down(target, sources->root_fd, &sources->config);
                if (r > 0)
                        log_info("LV %s is not active.", target->name);
                else if (r == 0)
                        log_error("LV %s does not exist.", target->name);
                return r;
        }
        r = sources_read_names(sources);
        if (r < 0)
                return r;
        if (!sources_have_name(sources, target->vg)) {
                sources_log_unknown(sources, target->vg);
                return 0;
        }
        log_info("VG %s is not active.", target->name);
        return 1;
}

/* Skips the nodes that have to stay, reports those that were asked for, and orders the tree. Returns 1 if there is a node to
 * remove, 0 if not, or a negative errno. */
static int decide(struct deactivation *deactivation)
{
        struct tree *tree = deactivation->tree;
        int r;

        /* I/O to a suspended device, or to one on it, may wait for ever. */
        FOREACH_NODE(node, &tree->nodes)
                if (node->suspended)
                        selection_refuse(node, tree_printf(tree, "%s is suspended", node->name));
        selection_finish(tree);
        if (tree->error < 0)
                return tree->error;
        FOREACH_ARRAY(target, deactivation->targets, deactivation->n_targets) {
                r = target->found ? 1 : report_inactive(deactivation, target);
                if (r < 0)
                        return r;
                deactivation->something_left |= r == 0;
        }
        report_skipped(deactivation);
        r = tree_order(tree);
        return r < 0 ? r : ANY(FOREACH_NODE(node, &tree->nodes), tree_node_is_ours(node));
}

static bool has_mount_or_swap(const struct tree_node *node)
{
        return ANY(FOREACH_NODE(upper, &node->uppers), tree_node_is_mount_or_swap(upper));
}

/* Skips a node in use. Nodes on a mounted device can still be removed. */
static void refuse_used(void *userdata, struct tree_node *node, const char *holders, size_t n_processes)
{
        struct tree *tree = userdata;
        const char *reason =
                tree_printf(tree, "%s is in use%s%s", node->name, isempty(holders) ? "" : ": ", holders ?: "");

        if (!tree_node_has_other_users(node) && has_mount_or_swap(node)) {
                tree_skip(node, reason);
                /* Replaces the reason of a device on a file of the node. */
                node->skip_reason = reason;
                return;
        }
        if (!tree_node_has_other_users(node) && n_processes == 0)
                return;
        selection_refuse(node, reason);
        FOREACH_NODE(other, &tree->nodes)
                if (other->skip_reason == reason)
                        FOREACH_NODE(lower, &other->lowers)
                                tree_skip(lower, reason);
}

int deactivation_preview(struct deactivation *deactivation)
{
        _cleanup_tree_nodes_ struct tree_nodes used = {};
        int r = find(deactivation);

        if (r < 0)
                return r;
        FOREACH_NODE(node, &deactivation->tree->nodes) {
                node->n_opens = kernel_count_opens(node);
                /* Only device-mapper devices have an open count. */
                if (!node->skip_reason &&
                        (tree_node_has_other_users(node) || node->kind == TREE_MD || node->kind == TREE_LOOP ||
                                (node->kernel_name && has_mount_or_swap(node))))
                        tree_fail(deactivation->tree, tree_nodes_add(&used, node));
        }
        tree_fail(deactivation->tree, nodes_report_users(&used, true, refuse_used, deactivation->tree));
        FOREACH_NODE(node, &deactivation->tree->nodes)
                if (tree_node_is_mount_or_swap(node))
                        tree_skip(node, tree_printf(deactivation->tree, "%s is %s", node->name,
                                                node->kind == TREE_MOUNT ? "mounted" : "swapped to"));
        return decide(deactivation);
}

/* ------ removal ------ */

static bool has_gone(const struct tree_node *node)
{
        return tree_node_is_ours(node) && node->state == TREE_GONE;
}

static int take_down(struct deactivation *deactivation)
{
        const struct settings *settings = &deactivation->sources.settings;
        _cleanup_teardown_ struct teardown teardown = {};
        const struct teardown_options options = {
                .n_threads = settings->parallel_teardown && !deactivation->serial ? TEARDOWN_THREADS_DEFAULT : 1,
                .deadline_usec = settings->teardown_deadline_usec,
                .in_use_usec = deactivation->timeout_usec,
                .count_opens = kernel_count_opens,
        };
        int r = teardown_init(&teardown, deactivation->tree, &options) ?: teardown_run(&teardown);

        deactivation->something_left |= r > 0;
        return r;
}

/* udevadm settle returns when udevd has handled the events of all removals, and removed the links in /dev. If udevd is not
 * running, it succeeds at once; only udevadm itself can tell this in each release. */
static void wait_for_udev(void)
{
        static const char *const words[] = {"settle", "--timeout=30", NULL};
        _cleanup_free_ char *output = NULL;
        int r = command_run("/bin/udevadm", words, &output);

        if (r != 0)
                (void) log_error_errno(
                        r > 0 ? -ETIMEDOUT : r, "Failed to wait until udev has removed its links: %m");
}

int deactivation_run(struct deactivation *deactivation)
{
        sigset_t signals;
        int r;

        /* The journal shows later why the VG is inactive. */
        log_record_events();
        r = lock_and_find(deactivation);
        if (r < 0)
                return r;
        refuse_locked(deactivation);
        r = decide(deactivation);
        if (r <= 0)
                return r;

        (void) sigprocmask(SIG_SETMASK, NULL, &signals);
        r = take_down(deactivation);
        if (deactivation->sources.config.event_activation)
                teardown_withdraw_claims(deactivation->tree, has_gone);

        /* teardown_init() has blocked SIGINT. */
        (void) sigprocmask(SIG_SETMASK, &signals, NULL);
        if (deactivation->tree->n_gone > 0 && !deactivation->no_udev_sync)
                wait_for_udev();
        return MIN(r, 0);
}
