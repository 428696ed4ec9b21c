/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/report.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

#include "shared/log.h"
#include "shared/messages.h"
#include "shared/names.h"
#include "teardown/holders.h"
#include "tree/order.h"

/* How often systemd is told how far it is, and how long after the longest pause it may kill us. */
#define STATUS_USEC (500 * USEC_PER_MSEC)
#define MARGIN_USEC (30 * USEC_PER_SEC)

/* ------ circles ------ */

void report_circles(const struct tree *tree)
{
        for (const struct tree_cycle *cycle = tree->cycles; cycle; cycle = cycle->next) {
                _cleanup_enumeration_ struct enumeration names = {};

                FOREACH_NODE(member, &cycle->members)
                        enumeration_add(&names, member->name);
                enumeration_end(&names);
                log_warning("Dependency cycle of %s; removing them one after another.", names.text ?: "Devices");
        }
}

/* ------ the timeline ------ */

/* Takes over `bar`. */
static void add_bar(struct timeline *timeline, struct timeline_bar *bar)
{
        struct timeline_bar *added;

        if (bar->name && bar->tree && bar->kind && timeline_add(timeline, &added) >= 0) {
                *added = *bar;
                return;
        }
        free(bar->name);
        free(bar->tree);
        free(bar->kind);
        free(bar->reason);
}

static struct timeline_bar make_bar(
        const struct teardown *teardown, const struct removal *removal, uint64_t ready_usec, uint64_t end_usec)
{
        const struct tree_node *node = removal->node;

        return (struct timeline_bar){
                .name = string_printable(node->name),
                .tree = string_printable(teardown->trees[node->component].name),
                .kind = strdup(tree_kind_to_string(node->kind)),
                .first_usec = teardown->started_usec,
                .asked_usec = teardown->started_usec,
                .phases_usec[TIMELINE_HELD] = usec_between(teardown->started_usec, ready_usec),
                .phases_usec[TIMELINE_REMOVAL] = usec_between(ready_usec, end_usec),
                .n_tries = removal->n_tries,
        };
}

static void timeline_add_removed(const struct teardown *teardown, const struct removal *removal)
{
        struct timeline_bar bar;

        if (!teardown->options.account)
                return;
        bar = make_bar(teardown, removal, removal->ready_usec, removal->ended_usec);
        bar.state = "gone";
        bar.end = TIMELINE_DONE;
        add_bar(teardown->options.account, &bar);
}

static void timeline_add_left(
        const struct teardown *teardown, const struct removal *removal, uint64_t until_usec, const char *holders)
{
        struct timeline_bar bar;

        if (!teardown->options.account)
                return;
        bar = make_bar(teardown, removal, removal->ready_usec > 0 ? removal->ready_usec : until_usec, until_usec);
        bar.state = "left";
        bar.end = TIMELINE_FAILED;
        bar.reason = holders ? string_printable(holders) : NULL;
        add_bar(teardown->options.account, &bar);
}

/* ------ storage trees ------ */

#define VGS_IN_A_LINE (FIELDS_MAX / 2)

/* Each VG once, so that the line is found by the names of all: the LVs of two VGs can lie on each other. */
static void add_volume_groups(struct fields *fields, const struct tree_nodes *members)
{
        const char *names[VGS_IN_A_LINE];
        size_t n = 0;

        FOREACH_NODE(member, members) {
                const char *name = member->vg;
                size_t known = 0;

                while (name && known < n && !streq(names[known], name))
                        known++;
                if (!name || known < n || n == VGS_IN_A_LINE)
                        continue;
                names[n++] = name;
                fields_add(fields, string_format("HEADGATE_VG=%s", name));
        }
}

static int compare_ends(const void *a, const void *b)
{
        const struct removal *const *first = a, *const *second = b;

        return (*first)->ended_usec < (*second)->ended_usec   ? -1
               : (*first)->ended_usec > (*second)->ended_usec ? 1
                                                              : 0;
}

static void print_removal(FILE *file, const struct teardown *teardown, const struct removal *removal)
{
        _cleanup_free_ char *name = string_printable(removal->node->name);

        fprintf(file, "%" PRIu64 " %" PRIu64 " %u %s %s\n",
                usec_between(teardown->started_usec, removal->ready_usec),
                usec_between(removal->ready_usec, removal->ended_usec), removal->n_tries,
                tree_kind_to_string(removal->node->kind), name ?: "?");
}

/* The field with what has gone of a storage tree; NULL without memory. */
static char *format_nodes(const struct teardown *teardown, size_t component)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_free_ const struct removal **gone = calloc(tree->n_gone + 1, sizeof(*gone));
        char *text = NULL;
        size_t n = 0, size;
        FILE *file;

        if (!gone)
                return NULL;
        FOREACH_NODE(node, &tree->members)
                if (node->state == TREE_GONE && n < tree->n_gone)
                        gone[n++] = &teardown->removals[node->index];
        qsort(gone, n, sizeof(*gone), compare_ends);

        file = open_memstream(&text, &size);
        if (!file)
                return NULL;
        fputs("HEADGATE_NODES=", file);
        for (size_t i = 0; i < n; i++) {
                print_removal(file, teardown, gone[i]);
                timeline_add_removed(teardown, gone[i]);
        }
        (void) fclose(file);
        return text;
}

/* What the times in other fields count from. */
static void add_start(struct fields *fields, const struct teardown *teardown)
{
        fields_add(fields, string_format("HEADGATE_STARTED_USEC=%" PRIu64, teardown->started_usec));
}

static void report_tree(
        int level, const char *message_id, const struct teardown *teardown, size_t component, const char *message)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_fields_ struct fields fields = {};

        if (!message)
                return;
        fields_add(&fields, string_format("HEADGATE_TREE=%s", tree->name));
        add_volume_groups(&fields, &tree->members);
        fields_add(&fields, string_format("HEADGATE_N_NODES=%zu", tree->members.n));
        fields_add(&fields, string_format("HEADGATE_N_NODES_GONE=%zu", tree->n_gone));
        fields_add(&fields, string_format("HEADGATE_N_NODES_LEFT_ALONE=%zu", tree->n_skipped));
        fields_add(&fields,
                string_format("HEADGATE_DURATION_USEC=%" PRIu64, usec_between(tree->first_usec, tree->last_usec)));
        add_start(&fields, teardown);
        fields_add(&fields, format_nodes(teardown, component));
        log_event(level, message_id, message, fields.vector, fields.n);
}

void report_tree_down(const struct teardown *teardown, size_t component)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_free_ char *name = string_printable(tree->name);
        _cleanup_free_ char *time = format_duration(usec_between(tree->first_usec, tree->last_usec));
        _cleanup_free_ char *rest =
                tree->n_skipped > 0 ? string_format(", %zu left alone", tree->n_skipped) : strdup("");
        _cleanup_free_ char *message = string_format("Storage tree %s is %s: %zu device%s in %s%s.", name ?: "?",
                tree->n_skipped > 0 ? "partly down" : "down", tree->n_gone, plural(tree->n_gone), time ?: "?",
                rest ?: "");

        report_tree(LOG_INFO, MESSAGE_STORAGE_TREE_DOWN, teardown, component, message);
}

static void report_tree_left(const struct teardown *teardown, size_t component)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_free_ char *name = string_printable(tree->name);
        _cleanup_free_ char *message = string_format("Storage tree %s is not down: %zu of %zu device%s left.",
                name ?: "?", tree->members.n - tree->n_gone, tree->members.n, plural(tree->members.n));

        report_tree(LOG_WARNING, MESSAGE_STORAGE_TREE_LEFT, teardown, component, message);
}

/* ------ who uses what is in the way ------ */

/* All processes are looked at once, however many nodes there are. */
static void report_with_users(const struct teardown *teardown, const struct tree_nodes *nodes,
        void (*report)(const struct teardown *teardown, const struct tree_node *node, const struct users *users))
{
        _cleanup_free_ struct usage_query *queries = calloc(nodes->n + 1, sizeof(*queries));

        if (!queries || nodes->n == 0)
                return;
        for (size_t i = 0; i < nodes->n; i++)
                if (nodes->nodes[i]->kind == TREE_MOUNT)
                        queries[i].mount_point = nodes->nodes[i]->name;
                else if (nodes->nodes[i]->kernel_name)
                        queries[i].number = nodes->nodes[i]->number;
        nodes_find_users(queries, nodes->n);
        for (size_t i = 0; i < nodes->n; i++) {
                report(teardown, nodes->nodes[i], &queries[i].users);
                users_done(&queries[i].users);
        }
}

/* ------ meanwhile ------ */

/* What is still mounted, or swapped to, on something that is to go, and what is in use otherwise. */
static int find_waited_for(const struct teardown *teardown, struct tree_nodes *ret)
{
        const struct removal *removal;
        int r;

        FOREACH_NODE(node, &teardown->tree->nodes) {
                r = teardown_awaits(teardown, node) ? tree_nodes_add(ret, node) : 0;
                if (r < 0)
                        return r;
        }
        dm_list_iterate_items(removal, &teardown->busy) {
                r = tree_nodes_add(ret, removal->node);
                if (r < 0)
                        return r;
        }
        return 0;
}

static const char *describe_wait(const struct tree_node *node)
{
        return node->kind == TREE_MOUNT  ? " to be unmounted"
               : node->kind == TREE_SWAP ? " to be swapped off"
                                         : ", which is in use";
}

static void report_node_waited_for(
        _unused_ const struct teardown *teardown, const struct tree_node *node, const struct users *users)
{
        _cleanup_free_ char *name = node_describe(node), *holders = node_describe_holders(node, users);

        log_notice("Waiting for %s%s%s%s.", name ?: "?", describe_wait(node), holders && *holders ? ": " : "",
                holders ?: "");
}

void report_waiting(const struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};

        if (find_waited_for(teardown, &nodes) >= 0)
                report_with_users(teardown, &nodes, report_node_waited_for);
}

/* The storage trees that the nodes are in. */
static size_t count_trees(const struct teardown *teardown, const struct tree_nodes *nodes)
{
        _cleanup_free_ bool *counted = calloc(teardown->tree->n_components + 1, sizeof(*counted));
        size_t n = 0;

        if (!counted)
                return 0;
        FOREACH_NODE(node, nodes) {
                n += !counted[node->component];
                counted[node->component] = true;
        }
        return n;
}

/* "412 of 1015 devices down, 3 trees waiting for: /srv/a, /srv/b, /srv/c" */
static char *describe_progress(const struct teardown *teardown, const struct tree_nodes *waited_for)
{
        _cleanup_enumeration_ struct enumeration names = {};
        size_t n_trees = count_trees(teardown, waited_for);
        const struct tree *tree = teardown->tree;

        FOREACH_NODE(node, waited_for)
                enumeration_add(&names, node->name);
        enumeration_end(&names);
        if (!names.text)
                return string_format(
                        "%zu of %zu device%s down", tree->n_gone, tree->n_to_go, plural(tree->n_to_go));
        return string_format("%zu of %zu device%s down, %zu tree%s waiting for: %s", tree->n_gone, tree->n_to_go,
                plural(tree->n_to_go), n_trees, plural(n_trees), names.text);
}

void report_progress(struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes waited_for = {};
        _cleanup_free_ char *status = NULL;
        uint64_t now = now_usec();

        if (teardown->status_usec + STATUS_USEC > now || find_waited_for(teardown, &waited_for) < 0)
                return;
        status = describe_progress(teardown, &waited_for);
        if (status)
                (void) sd_notifyf(0, "STATUS=%s", status);
        /* As long as something happens, it may go on. */
        if (teardown->progress_usec >= teardown->status_usec)
                (void) sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%" PRIu64, teardown->options.stall_usec + MARGIN_USEC);
        teardown->status_usec = now;
}

/* ------ what is left ------ */

/* One that is not gone, because of something that is not a failure told of already. */
static bool is_cause(const struct tree_node *node)
{
        if (!tree_node_is_ours(node) || node->state == TREE_GONE)
                return false;
        if (node->state == TREE_FAILED || node->uppers.n == 0)
                return true;
        FOREACH_NODE(upper, &node->uppers)
                if (upper->state != TREE_GONE && !tree_node_is_ours(upper))
                        return true;
        return false;
}

static const char *describe_reason(const struct removal *removal)
{
        if (removal->error == -ETIMEDOUT)
                return "its removal does not come to an end in the kernel";
        if (removal->error < 0 && removal->error != -EBUSY)
                return strerror(-removal->error);
        return removal->n_tries > 0 || removal->node->n_holders > 0 ? "it is in use" : "it was not its turn yet";
}

/* Its times, like those of a node that is gone in HEADGATE_NODES. One that was held to the end has only waited. */
static void add_times_left(
        struct fields *fields, const struct teardown *teardown, const struct removal *removal, uint64_t now)
{
        uint64_t ready = removal->ready_usec > 0 ? removal->ready_usec : now;

        add_start(fields, teardown);
        fields_add(fields,
                string_format("HEADGATE_WAITED_USEC=%" PRIu64, usec_between(teardown->started_usec, ready)));
        fields_add(fields, string_format("HEADGATE_TOOK_USEC=%" PRIu64, usec_between(ready, now)));
}

static void report_node_left(
        const struct teardown *teardown, const struct tree_node *node, const struct users *users)
{
        const struct removal *removal = &teardown->removals[node->index];
        _cleanup_free_ char *name = node_describe(node), *holders = node_describe_holders(node, users);
        _cleanup_free_ char *message = string_format("%s is left, %s%s%s.", name ?: "?", describe_reason(removal),
                holders && *holders ? ": " : "", holders ?: "");
        _cleanup_fields_ struct fields fields = {};
        uint64_t now = now_usec();

        if (!message)
                return;
        timeline_add_left(teardown, removal, now, holders);
        fields_add(&fields, string_format("HEADGATE_NODE=%s", node->name));
        fields_add(&fields, string_format("HEADGATE_DEVNAME=%s", node->kernel_name));
        fields_add(&fields, string_format("HEADGATE_TREE=%s", teardown->trees[node->component].name));
        if (node->vg)
                fields_add(&fields, string_format("HEADGATE_VG=%s", node->vg));
        fields_add(&fields, string_format("HEADGATE_HOLDERS=%s", holders ?: ""));
        fields_add(&fields, string_format("HEADGATE_KIND=%s", tree_kind_to_string(node->kind)));
        fields_add(&fields, string_format("HEADGATE_N_TRIES=%u", removal->n_tries));
        add_times_left(&fields, teardown, removal, now);
        fields_add(&fields, string_format("ERRNO=%d", -removal->error));
        log_event(LOG_WARNING, MESSAGE_NODE_LEFT, message, fields.vector, fields.n);
}

static void report_nodes_left(const struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes left = {};

        for (size_t i = 0; i < teardown->n_removals; i++)
                if (is_cause(teardown->removals[i].node) && tree_nodes_add(&left, teardown->removals[i].node) < 0)
                        return;
        report_with_users(teardown, &left, report_node_left);
}

void report_end(const struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        uint64_t usec = usec_between(teardown->started_usec, now_usec());
        _cleanup_free_ char *time = format_duration(usec), *message = NULL;
        _cleanup_fields_ struct fields fields = {};

        report_nodes_left(teardown);
        for (size_t i = 0; i < tree->n_components; i++)
                if (teardown->trees[i].n_gone < teardown->trees[i].members.n)
                        report_tree_left(teardown, i);

        message = tree->n_to_go == 0 ? strdup("There is no device to be taken down.")
                                     : string_format("%zu of %zu device%s down after %s.", tree->n_gone,
                                               tree->n_to_go, plural(tree->n_to_go), time ?: "?");
        fields_add(&fields, string_format("HEADGATE_N_NODES=%zu", tree->n_to_go));
        fields_add(&fields, string_format("HEADGATE_N_NODES_GONE=%zu", tree->n_gone));
        fields_add(&fields, string_format("HEADGATE_DURATION_USEC=%" PRIu64, usec));
        if (message)
                log_event(tree->n_gone < tree->n_to_go ? LOG_WARNING : LOG_NOTICE, MESSAGE_TEARDOWN_ENDED, message,
                        fields.vector, fields.n);
        (void) sd_notifyf(0, "STATUS=%s", message ?: "");
}
