/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The order in which storage trees are deactivated, as a table: what is shown before it is done by "headgate plan teardown",
 * for the shutdown, and by "headgate deactivate --dry-run". */

#include "cli/removal-table.h"

#include "shared/util.h"
#include "table/tree-view.h"
#include "teardown/scope.h"

struct line {
        struct tree_node node; /* a copy */
        const char *kind, *action, *reason, *unit;
        struct string_vector holders;
        size_t step;
};

static const struct column columns[] = {
        COLUMN("NODE", ALWAYS, STRING, node.name,
                "device-mapper's or the kernel's name of a device, or a mount point", .flags = SCOLS_FL_TREE),
        COLUMN("KIND", ALWAYS, STRING, kind, "what it is"),
        COLUMN("DEVICE", IN_JSON, STRING, node.kernel_name, "the kernel's name"),
        COLUMN("VG", IN_JSON, STRING, node.vg, "the volume group of a logical volume"),
        COLUMN("PV", IN_JSON, BOOL, node.is_pv, "whether it is a physical volume"),
        COLUMN("SUSPENDED", IN_JSON, BOOL, node.suspended, "whether device-mapper has suspended it"),
        COLUMN("STEP", ALWAYS, NUMBER, step, "when its turn is: what has the same number goes at once"),
        COLUMN("ACTION", ALWAYS, STRING, action, "remove, await (systemd does it) or leave"),
        COLUMN("HELD-BY", ALWAYS, SUMMARY, holders, "what has to go before", .flags = SCOLS_FL_WRAP),
        COLUMN("REASON", ALWAYS, STRING, reason, "why it is left alone", .flags = SCOLS_FL_WRAP),
        COLUMN("UNIT", IN_JSON, STRING, unit, "the unit that removes it"),
};

const struct table_kind removal_table = {"trees", columns, ELEMENTSOF(columns)};

static int compare_nodes(const void *a, const void *b, void *userdata)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;
        char *const *names = userdata;

        return strverscmp(names[first->component], names[second->component])
                       ?: CMP(first->component, second->component)
                       ?: CMP(first->step, second->step)
                       ?: CMP(first->number, second->number)
                       ?: CMP(first->index, second->index);
}

static const char *action_on(const struct tree_node *node)
{
        if (node->skip_reason)
                return "leave";
        if (tree_node_is_ours(node))
                return "remove";
        return node->kind == TREE_MOUNT || node->kind == TREE_SWAP ? "await" : NULL;
}

static void add_line(struct table *table, struct libscols_line *parent, const struct tree_node *node)
{
        const char *cycle = node->cycle ? "in a circle with others, which are tried in turn" : NULL;
        _cleanup_string_vector_ struct string_vector holders = {};

        table_fail(table, tree_nodes_names(&node->uppers, &holders));
        table_add_line(table, parent,
                &(struct line){
                        .node = *node,
                        .kind = tree_kind_to_string(node->kind),
                        .action = action_on(node),
                        .reason = node->skip_reason ?: cycle,
                        .unit = tree_node_is_ours(node) ? teardown_unit_of(node) : NULL,
                        .holders = holders,
                        .step = node->step + 1,
                });
}

void removal_table_fill(
        struct table *table, const struct tree *tree, bool (*is_of_interest)(const struct tree_node *node))
{
        _cleanup_free_ bool *shown = calloc(tree->n_components + 1, sizeof(*shown));
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};
        struct libscols_line *parent = NULL;
        const struct tree_node *last = NULL;

        if (!shown) {
                table_fail(table, -ENOMEM);
                return;
        }
        FOREACH_NODE(node, &tree->nodes)
                shown[node->component] |= is_of_interest(node);
        FOREACH_NODE(node, &tree->nodes)
                if (shown[node->component])
                        table_fail(table, tree_nodes_add(&nodes, node));
        if (nodes.n > 1)
                qsort_r(nodes.nodes, nodes.n, sizeof(*nodes.nodes), compare_nodes, tree->names);
        FOREACH_NODE(node, &nodes) {
                if (!last || last->component != node->component)
                        parent = table_add_title(table, string_printable(tree->names[node->component]));
                add_line(table, parent, node);
                last = node;
        }
}
