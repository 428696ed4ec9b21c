/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reports of a teardown: results of storage trees and nodes in the journal, progress in systemd's status, durations in the
 * timeline of this shutdown. */

#include "teardown/report.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

#include "shared/log.h"
#include "shared/messages.h"
#include "shared/names.h"
#include "teardown/users.h"
#include "tree/order.h"

/* Interval of progress for systemd, and extra time after the longest pause before systemd kills this program. */
#define STATUS_USEC (500 * USEC_PER_MSEC)
#define MARGIN_USEC (30 * USEC_PER_SEC)

void report_cycles(const struct tree *tree)
{
        for (const struct tree_cycle *cycle = tree->cycles; cycle; cycle = cycle->next) {
                _cleanup_enumeration_ struct enumeration names = {};

                FOREACH_NODE(member, &cycle->members)
                        enumeration_add(&names, member->name);
                log_warning("Dependency cycle of %s; removing them one after another.", names.text ?: "Devices");
        }
}

/* ------ the timeline ------ */

/* `end_usec` is the end of the removal; `reason` is why the node is left. */
static void add_bar(const struct teardown *teardown, const struct removal *removal, enum timeline_end end,
        uint64_t end_usec, const char *reason)
{
        struct timeline *timeline = teardown->options.timeline;
        struct timeline_bar *bar = timeline ? timeline_add(timeline) : NULL;
        uint64_t ready_usec = removal->ready_usec ?: end_usec;
        const struct tree_node *node = removal->node;

        if (!bar)
                return;
        *bar = (struct timeline_bar){
                .name = string_printable(node->name),
                .tree = string_printable(teardown->trees[node->component].name),
                .kind = strdup(tree_kind_to_string(node->kind)),
                .reason = reason ? string_printable(reason) : NULL,
                .state = end == TIMELINE_DONE ? "gone" : "left",
                .end = end,
                .first_usec = teardown->started_usec,
                .asked_usec = teardown->started_usec,
                .phases_usec[TIMELINE_HELD] = usec_between(teardown->started_usec, ready_usec),
                .phases_usec[TIMELINE_REMOVAL] = usec_between(ready_usec, end_usec),
                .n_tries = removal->n_tries,
        };
        if (bar->name && bar->tree && bar->kind)
                return;
        timeline_bar_done(bar);
        timeline->n--;
}

/* ------ storage trees ------ */

#define VGS_IN_A_LINE (FIELDS_MAX / 2)

/* Adds each VG once, so that the line is found by all names: LVs of two VGs can be in one tree. */
static void add_vgs(struct strv *fields, const struct tree_nodes *members)
{
        FOREACH_NODE(member, members) {
                _cleanup_free_ char *field = member->vg ? string_format("HEADGATE_VG=%s", member->vg) : NULL;

                if (field && fields->n < VGS_IN_A_LINE && !strv_has(fields, field))
                        fields_add(fields, "%s", field);
        }
}

static void report_tree(int level, const char *message_id, const struct teardown *teardown,
        const struct storage_tree *tree, const char *message)
{
        _cleanup_strv_ struct strv fields = {};

        FOREACH_NODE(member, &tree->members)
                if (member->state == TREE_GONE)
                        add_bar(teardown, member->removal, TIMELINE_DONE, member->removal->ended_usec, NULL);
        fields_add(&fields, "HEADGATE_TREE=%s", tree->name);
        add_vgs(&fields, &tree->members);
        fields_add(&fields, "HEADGATE_N_NODES=%zu", tree->members.n);
        fields_add(&fields, "HEADGATE_N_NODES_GONE=%zu", tree->n_gone);
        fields_add(&fields, "HEADGATE_N_NODES_LEFT_ALONE=%zu", tree->n_skipped);
        fields_add(&fields, "HEADGATE_DURATION_USEC=%" PRIu64, usec_between(tree->first_usec, tree->last_usec));
        log_event(level, message_id, message, &fields);
}

void report_trees_down(struct teardown *teardown)
{
        FOREACH_LISTED(struct storage_tree, tree, &teardown->down) {
                _cleanup_free_ char *skipped =
                        tree->n_skipped > 0 ? string_format(", %zu skipped", tree->n_skipped) : strdup("");
                _cleanup_free_ char *message = string_format("Storage tree %s is %s: %zu device%s in %s%s.",
                        tree->name, tree->n_skipped > 0 ? "partly removed" : "removed", tree->n_gone,
                        plural(tree->n_gone), DURATION_TO_STRING(usec_between(tree->first_usec, tree->last_usec)),
                        skipped ?: "");

                dm_list_del(&tree->list);
                report_tree(LOG_INFO, MESSAGE_STORAGE_TREE_DOWN, teardown, tree, message);
        }
}

/* ------ meanwhile ------ */

/* Finds mounts and swaps on nodes to remove, and other nodes in use. */
static int find_waited_for(const struct teardown *teardown, struct tree_nodes *ret)
{
        FOREACH_NODE(node, &teardown->tree->nodes)
                if (teardown_awaits(teardown, node) && tree_nodes_add(ret, node) < 0)
                        return -ENOMEM;
        FOREACH_LISTED(const struct removal, removal, &teardown->busy)
                if (tree_nodes_add(ret, removal->node) < 0)
                        return -ENOMEM;
        return 0;
}

static void report_node_waited_for(
        _unused_ void *userdata, struct tree_node *node, const char *holders, _unused_ size_t n_processes)
{
        _cleanup_free_ char *name = node_describe(node);

        log_notice("Waiting for %s%s%s%s.", name ?: "?",
                node->kind == TREE_MOUNT  ? " to be unmounted"
                : node->kind == TREE_SWAP ? " to be swapped off"
                                          : ", which is in use",
                isempty(holders) ? "" : ": ", holders ?: "");
}

void report_waiting(const struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};

        if (find_waited_for(teardown, &nodes) >= 0)
                (void) nodes_report_users(&nodes, false, report_node_waited_for, NULL);
}

/* "412 of 1015 devices removed, 3 trees waiting for: /srv/a, /srv/b, /srv/c" */
static char *describe_progress(const struct teardown *teardown, const struct tree_nodes *waited_for)
{
        const struct tree *tree = teardown->tree;
        _cleanup_free_ bool *counted = calloc(tree->n_components + 1, sizeof(*counted));
        _cleanup_free_ char *waiting = NULL;
        _cleanup_enumeration_ struct enumeration names = {};
        size_t n_trees = 0;

        FOREACH_NODE(node, waited_for) {
                enumeration_add(&names, node->name);
                if (counted && !counted[node->component]) {
                        counted[node->component] = true;
                        n_trees++;
                }
        }
        if (names.text)
                waiting = string_format(", %zu tree%s waiting for: %s", n_trees, plural(n_trees), names.text);
        return string_format("%zu of %zu device%s removed%s", tree->n_gone, tree->n_to_go, plural(tree->n_to_go),
                waiting ?: "");
}

void report_progress(struct teardown *teardown, uint64_t now)
{
        _cleanup_tree_nodes_ struct tree_nodes waited_for = {};
        _cleanup_free_ char *status = NULL;

        if (teardown->status_usec + STATUS_USEC > now || find_waited_for(teardown, &waited_for) < 0)
                return;
        status = describe_progress(teardown, &waited_for);
        if (status)
                (void) sd_notifyf(0, "STATUS=%s", status);
        /* While there is progress, systemd extends its timeout. */
        if (teardown->progress_usec >= teardown->status_usec)
                (void) sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%" PRIu64, TEARDOWN_STALL_USEC + MARGIN_USEC);
        teardown->status_usec = now;
}

/* ------ what is left ------ */

/* Whether the node is left for a reason of its own, not because of another node that is reported. */
static bool is_cause(const struct tree_node *node)
{
        if (!tree_node_is_ours(node) || node->state == TREE_GONE)
                return false;
        if (node->state == TREE_FAILED || node->uppers.n == 0)
                return !node->removal->blocked || tree_node_has_other_users(node);
        return tree_node_has_other_users(node) ||
               ANY(FOREACH_NODE(upper, &node->uppers), upper->state != TREE_GONE && !tree_node_is_ours(upper));
}

static const char *describe_reason(const struct removal *removal)
{
        if (removal->error == -ETIMEDOUT)
                return "its removal hangs in the kernel";
        if (removal->error < 0 && removal->error != -EBUSY)
                return strerror(-removal->error);
        return removal->n_tries > 0 || tree_node_is_held(removal->node) ? "it is in use"
                                                                        : "its removal was still queued";
}

static void report_node_left(
        void *userdata, struct tree_node *node, const char *holders, _unused_ size_t n_processes)
{
        const struct teardown *teardown = userdata;
        const struct removal *removal = node->removal;
        _cleanup_free_ char *name = node_describe(node);
        _cleanup_free_ char *message = string_format("%s is left, %s%s%s.", name ?: "?", describe_reason(removal),
                isempty(holders) ? "" : ": ", holders ?: "");
        _cleanup_strv_ struct strv fields = {};

        add_bar(teardown, removal, TIMELINE_FAILED, now_usec(), holders);
        fields_add(&fields, "HEADGATE_NODE=%s", node->name);
        fields_add(&fields, "HEADGATE_DEVNAME=%s", node->kernel_name);
        fields_add(&fields, "HEADGATE_TREE=%s", teardown->trees[node->component].name);
        if (node->vg)
                fields_add(&fields, "HEADGATE_VG=%s", node->vg);
        fields_add(&fields, "HEADGATE_HOLDERS=%s", holders ?: "");
        fields_add(&fields, "HEADGATE_KIND=%s", tree_kind_to_string(node->kind));
        fields_add(&fields, "HEADGATE_N_TRIES=%u", removal->n_tries);
        fields_add(&fields, "ERRNO=%d", -removal->error);
        log_event(LOG_WARNING, MESSAGE_NODE_LEFT, message, &fields);
}

static void report_nodes_left(struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes left = {};

        FOREACH_NODE(node, &teardown->tree->nodes)
                if (is_cause(node) && tree_nodes_add(&left, node) < 0)
                        return;
        /* At shutdown no commands can be run. */
        (void) nodes_report_users(&left, !teardown->options.at_shutdown, report_node_left, teardown);
}

void report_end(struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        uint64_t usec = usec_between(teardown->started_usec, now_usec());
        _cleanup_free_ char *message = NULL;
        _cleanup_strv_ struct strv fields = {};

        report_trees_down(teardown);
        report_nodes_left(teardown);
        FOREACH_ARRAY(storage_tree, teardown->trees, tree->n_components) {
                size_t n = storage_tree->members.n;
                _cleanup_free_ char *text =
                        string_format("Storage tree %s is not removed: %zu of %zu device%s left.",
                                storage_tree->name, n - storage_tree->n_gone, n, plural(n));

                if (storage_tree->n_gone < n)
                        report_tree(LOG_WARNING, MESSAGE_STORAGE_TREE_LEFT, teardown, storage_tree, text);
        }

        message = tree->n_to_go == 0 ? strdup("No device to remove.")
                                     : string_format("%zu of %zu device%s removed after %s.", tree->n_gone,
                                               tree->n_to_go, plural(tree->n_to_go), DURATION_TO_STRING(usec));
        fields_add(&fields, "HEADGATE_N_NODES=%zu", tree->n_to_go);
        fields_add(&fields, "HEADGATE_N_NODES_GONE=%zu", tree->n_gone);
        fields_add(&fields, "HEADGATE_DURATION_USEC=%" PRIu64, usec);
        log_event(
                tree->n_gone < tree->n_to_go ? LOG_WARNING : LOG_NOTICE, MESSAGE_TEARDOWN_ENDED, message, &fields);
        (void) sd_notifyf(0, "STATUS=%s", message ?: "");
}
