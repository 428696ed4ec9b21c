/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/progress.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

#include "shared/enumeration.h"
#include "shared/log.h"
#include "teardown/holders.h"

/* How often systemd is told how far it is, and how long after the longest pause it may kill us. */
#define STATUS_USEC (500 * USEC_PER_MSEC)
#define MARGIN_USEC (30 * USEC_PER_SEC)

/* What is still mounted, or swapped to, on something that is to go, and what is in use otherwise. */
static int find_waited_for(const struct teardown *teardown, struct tree_nodes *ret)
{
        const struct attempt *attempt;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < teardown->tree->nodes.n; i++) {
                struct tree_node *node = teardown->tree->nodes.nodes[i];

                if (teardown_awaits(teardown, node))
                        r = tree_nodes_add(ret, node);
        }
        dm_list_iterate_items(attempt, &teardown->busy)
                if (r >= 0)
                        r = tree_nodes_add(ret, attempt->node);
        return r;
}

static const char *describe_wait(const struct tree_node *node)
{
        return node->kind == TREE_MOUNT  ? " to be unmounted"
               : node->kind == TREE_SWAP ? " to be swapped off"
                                         : ", which is in use";
}

static void report_node_waited_for(const struct tree_node *node, const struct users *users)
{
        _cleanup_free_ char *name = node_describe(node), *holders = node_describe_holders(node, users);

        log_notice("Waiting for %s%s%s%s.", name ?: "?", describe_wait(node), holders && *holders ? ": " : "",
                holders ?: "");
}

void progress_report_waiting(const struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};
        _cleanup_free_ struct usage_query *queries = NULL;

        if (find_waited_for(teardown, &nodes) < 0 || nodes.n == 0)
                return;
        queries = calloc(nodes.n, sizeof(*queries));
        if (!queries)
                return;
        for (size_t i = 0; i < nodes.n; i++)
                if (nodes.nodes[i]->kind == TREE_MOUNT)
                        queries[i].mount_point = nodes.nodes[i]->name;
                else if (nodes.nodes[i]->kernel_name)
                        queries[i].number = nodes.nodes[i]->number;
        nodes_find_users(queries, nodes.n);
        for (size_t i = 0; i < nodes.n; i++) {
                report_node_waited_for(nodes.nodes[i], &queries[i].users);
                users_done(&queries[i].users);
        }
}

/* The storage trees that the nodes are in. */
static size_t count_trees(const struct teardown *teardown, const struct tree_nodes *nodes)
{
        _cleanup_free_ bool *counted = calloc(teardown->tree->n_components + 1, sizeof(*counted));
        size_t n = 0;

        for (size_t i = 0; counted && i < nodes->n; i++) {
                bool *here = &counted[nodes->nodes[i]->component];

                n += !*here;
                *here = true;
        }
        return n;
}

/* "412 of 1015 devices down, 3 trees waiting for: /srv/a, /srv/b, /srv/c" */
static char *describe_progress(const struct teardown *teardown, const struct tree_nodes *waited_for)
{
        _cleanup_enumeration_ struct enumeration names = {};
        size_t n_trees = count_trees(teardown, waited_for);
        const struct tree *tree = teardown->tree;

        for (size_t i = 0; i < waited_for->n; i++)
                enumerate(&names, waited_for->nodes[i]->name);
        enumerate_end(&names);
        if (!names.text)
                return string_format(
                        "%zu of %zu device%s down", tree->n_gone, tree->n_to_go, plural(tree->n_to_go));
        return string_format("%zu of %zu device%s down, %zu tree%s waiting for: %s", tree->n_gone, tree->n_to_go,
                plural(tree->n_to_go), n_trees, plural(n_trees), names.text);
}

void progress_report(struct teardown *teardown)
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
