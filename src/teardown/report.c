/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/report.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

#include "shared/enumeration.h"
#include "shared/fields.h"
#include "shared/log.h"
#include "shared/messages.h"
#include "teardown/account.h"
#include "teardown/holders.h"
#include "tree/order.h"

/* ------ circles ------ */

void report_circles(const struct tree *tree)
{
        for (const struct tree_cycle *cycle = tree->cycles; cycle; cycle = cycle->next) {
                _cleanup_enumeration_ struct enumeration names = {};

                FOREACH_NODE(member, &cycle->members)
                        enumerate(&names, member->name);
                enumerate_end(&names);
                log_warning("%s hold each other in a circle and are taken down one after another.",
                        names.text ?: "Devices");
        }
}

/* ------ storage trees ------ */

#define VGS_IN_A_LINE (FIELDS_MAX / 2)

/* Each VG once, so that the line is found by the names of all: the LVs of two VGs can lie on each other. */
static void add_volume_groups(struct fields *fields, const struct tree_nodes *members)
{
        const char *names[VGS_IN_A_LINE];
        size_t n = 0;

        for (size_t i = 0; i < members->n && n < VGS_IN_A_LINE; i++) {
                const char *name = members->nodes[i]->vg;
                size_t known = 0;

                while (name && known < n && !streq(names[known], name))
                        known++;
                if (!name || known < n)
                        continue;
                names[n++] = name;
                fields_add(fields, string_format("HEADGATE_VG=%s", name));
        }
}

static int compare_ends(const void *a, const void *b)
{
        const struct attempt *const *first = a, *const *second = b;

        return (*first)->ended_usec < (*second)->ended_usec   ? -1
               : (*first)->ended_usec > (*second)->ended_usec ? 1
                                                              : 0;
}

static void print_attempt(FILE *file, const struct teardown *teardown, const struct attempt *attempt)
{
        _cleanup_free_ char *name = string_printable(attempt->node->name);

        fprintf(file, "%" PRIu64 " %" PRIu64 " %u %s %s\n",
                attempt_since(teardown->started_usec, attempt->ready_usec),
                attempt_since(attempt->ready_usec, attempt->ended_usec), attempt->n_tries,
                tree_kind_to_string(attempt->node->kind), name ?: "?");
}

/* The field with what has gone of a storage tree; NULL without memory. */
static char *format_nodes(const struct teardown *teardown, size_t component)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_free_ const struct attempt **gone = calloc(tree->n_gone + 1, sizeof(*gone));
        char *text = NULL;
        size_t n = 0, size;
        FILE *file;

        if (!gone)
                return NULL;
        for (size_t i = 0; i < tree->members.n; i++) {
                const struct attempt *attempt = &teardown->attempts[tree->members.nodes[i]->index];

                if (attempt->node->state == TREE_GONE && n < tree->n_gone)
                        gone[n++] = attempt;
        }
        qsort(gone, n, sizeof(*gone), compare_ends);

        file = open_memstream(&text, &size);
        if (!file)
                return NULL;
        fputs("HEADGATE_NODES=", file);
        for (size_t i = 0; i < n; i++) {
                print_attempt(file, teardown, gone[i]);
                account_gone(teardown, gone[i]);
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
        fields_add(&fields, string_format("HEADGATE_DURATION_USEC=%" PRIu64,
                                    attempt_since(tree->first_usec, tree->last_usec)));
        add_start(&fields, teardown);
        fields_add(&fields, format_nodes(teardown, component));
        log_event(level, message_id, message, fields.vector, fields.n);
}

void report_tree_down(const struct teardown *teardown, size_t component)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_free_ char *name = string_printable(tree->name);
        _cleanup_free_ char *time = format_duration(attempt_since(tree->first_usec, tree->last_usec));
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

/* ------ what is left ------ */

/* One that is not gone, because of something that is not a failure told of already. */
static bool is_cause(const struct tree_node *node)
{
        if (!tree_node_is_ours(node) || node->state == TREE_GONE)
                return false;
        if (node->state == TREE_FAILED || node->uppers.n == 0)
                return true;
        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->state != TREE_GONE && !tree_node_is_ours(node->uppers.nodes[i]))
                        return true;
        return false;
}

static const char *describe_reason(const struct attempt *attempt)
{
        if (attempt->error == -ETIMEDOUT)
                return "its removal does not come to an end in the kernel";
        if (attempt->error < 0 && attempt->error != -EBUSY)
                return strerror(-attempt->error);
        return attempt->n_tries > 0 || attempt->node->n_holders > 0 ? "it is in use" : "it was not its turn yet";
}

/* Its times, like those of a node that is gone in HEADGATE_NODES. One that was held to the end has only waited. */
static void add_times_left(
        struct fields *fields, const struct teardown *teardown, const struct attempt *attempt, uint64_t now)
{
        uint64_t ready = attempt->ready_usec > 0 ? attempt->ready_usec : now;

        add_start(fields, teardown);
        fields_add(fields,
                string_format("HEADGATE_WAITED_USEC=%" PRIu64, attempt_since(teardown->started_usec, ready)));
        fields_add(fields, string_format("HEADGATE_TOOK_USEC=%" PRIu64, attempt_since(ready, now)));
}

static void report_node_left(
        const struct teardown *teardown, const struct tree_node *node, const struct users *users)
{
        const struct attempt *attempt = &teardown->attempts[node->index];
        _cleanup_free_ char *name = node_describe(node), *holders = node_describe_holders(node, users);
        _cleanup_free_ char *message = string_format("%s is left, %s%s%s.", name ?: "?", describe_reason(attempt),
                holders && *holders ? ": " : "", holders ?: "");
        _cleanup_fields_ struct fields fields = {};
        uint64_t now = now_usec();

        if (!message)
                return;
        account_left(teardown, attempt, now, holders);
        fields_add(&fields, string_format("HEADGATE_NODE=%s", node->name));
        fields_add(&fields, string_format("HEADGATE_DEVNAME=%s", node->kernel_name));
        fields_add(&fields, string_format("HEADGATE_TREE=%s", teardown->trees[node->component].name));
        if (node->vg)
                fields_add(&fields, string_format("HEADGATE_VG=%s", node->vg));
        fields_add(&fields, string_format("HEADGATE_HOLDERS=%s", holders ?: ""));
        fields_add(&fields, string_format("HEADGATE_KIND=%s", tree_kind_to_string(node->kind)));
        fields_add(&fields, string_format("HEADGATE_N_TRIES=%u", attempt->n_tries));
        add_times_left(&fields, teardown, attempt, now);
        fields_add(&fields, string_format("ERRNO=%d", -attempt->error));
        log_event(LOG_WARNING, MESSAGE_NODE_LEFT, message, fields.vector, fields.n);
}

/* All processes are looked at once, however many nodes there are. */
static void report_nodes_left(const struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes left = {};
        _cleanup_free_ struct usage_query *queries = NULL;

        for (size_t i = 0; i < teardown->n_attempts; i++)
                if (is_cause(teardown->attempts[i].node) && tree_nodes_add(&left, teardown->attempts[i].node) < 0)
                        return;
        if (left.n == 0)
                return;
        queries = calloc(left.n, sizeof(*queries));
        if (!queries)
                return;
        for (size_t i = 0; i < left.n; i++)
                queries[i].number = left.nodes[i]->number;
        nodes_find_users(queries, left.n);
        for (size_t i = 0; i < left.n; i++) {
                report_node_left(teardown, left.nodes[i], &queries[i].users);
                users_done(&queries[i].users);
        }
}

void report_end(const struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        uint64_t usec = attempt_since(teardown->started_usec, now_usec());
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
