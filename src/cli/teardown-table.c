/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/teardown-table.h"

#include "cli/node-names.h"
#include "shared/util.h"
#include "teardown/scope.h"
#include "tree/order.h"

/* ------ columns ------ */

/* A line of the table. */
struct line {
        struct tree_node node; /* a copy */
        const char *kind, *action, *reason, *unit;
        size_t step;
};

static char *get_holders(const void *line)
{
        return node_names_join(&((const struct line *) line)->node.uppers);
}

#define LINE(field) COLUMN_FIELD(struct line, field)

static const struct column columns[] = {
        {"NODE", "device-mapper's or the kernel's name of a device, or a mount point", COLUMN_ALWAYS, COLUMN_NAME,
                LINE(node.name), .flags = SCOLS_FL_TREE},
        {"KIND", "what it is", COLUMN_ALWAYS, COLUMN_STRING, LINE(kind)},
        {"DEVICE", "the kernel's name", COLUMN_IN_JSON, COLUMN_STRING, LINE(node.kernel_name)},
        {"VG", "the volume group of a logical volume", COLUMN_IN_JSON, COLUMN_NAME, LINE(node.vg)},
        {"PV", "whether it is a physical volume", COLUMN_IN_JSON, COLUMN_BOOL, LINE(node.is_pv)},
        {"SUSPENDED", "whether device-mapper has suspended it", COLUMN_IN_JSON, COLUMN_BOOL, LINE(node.suspended)},
        {"STEP", "when its turn is: what has the same number goes at once", COLUMN_ALWAYS, COLUMN_NUMBER,
                LINE(step)},
        {"ACTION", "remove, await (systemd does it) or leave", COLUMN_ALWAYS, COLUMN_STRING, LINE(action)},
        {"HELD-BY", "what has to go before", COLUMN_ALWAYS, COLUMN_SUMMARY, .text = get_holders,
                .flags = SCOLS_FL_WRAP},
        {"REASON", "why it is left alone", COLUMN_ALWAYS, COLUMN_NAME, LINE(reason), .flags = SCOLS_FL_WRAP},
        {"UNIT", "the unit that removes it", COLUMN_IN_JSON, COLUMN_STRING, LINE(unit)},
};

const struct table_kind teardown_table = {"trees", columns, ELEMENTSOF(columns)};

/* ------ what is in it, and in which order ------ */

struct plan {
        const struct tree *tree;
        struct tree_node **nodes; /* of all trees, each in the order of removal */
        size_t n;
        struct table table;
};

static void plan_done(struct plan *plan)
{
        free(plan->nodes);
        table_done(&plan->table);
}

static int compare_nodes(const void *a, const void *b, void *userdata)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;
        const struct plan *plan = userdata;
        int r = strverscmp(plan->tree->names[first->component], plan->tree->names[second->component]);

        if (r != 0)
                return r;
        if (first->component != second->component)
                return first->component < second->component ? -1 : 1;
        if (first->step != second->step)
                return first->step < second->step ? -1 : 1;
        if (first->number != second->number)
                return first->number < second->number ? -1 : 1;
        return first->index < second->index ? -1 : first->index > second->index;
}

static int select_nodes(struct plan *plan, bool (*is_of_interest)(const struct tree_node *node))
{
        _cleanup_free_ bool *shown = calloc(plan->tree->n_components + 1, sizeof(*shown));
        const struct tree_nodes *nodes = &plan->tree->nodes;

        plan->nodes = calloc(nodes->n + 1, sizeof(*plan->nodes));
        if (!shown || !plan->nodes)
                return -ENOMEM;
        for (size_t i = 0; i < nodes->n; i++)
                if (is_of_interest(nodes->nodes[i]))
                        shown[nodes->nodes[i]->component] = true;
        for (size_t i = 0; i < nodes->n; i++)
                if (shown[nodes->nodes[i]->component])
                        plan->nodes[plan->n++] = nodes->nodes[i];
        qsort_r(plan->nodes, plan->n, sizeof(*plan->nodes), compare_nodes, plan);
        return 0;
}

static const char *action_on(const struct tree_node *node)
{
        if (node->skip_reason)
                return "leave";
        if (tree_node_is_ours(node))
                return "remove";
        return node->kind == TREE_MOUNT || node->kind == TREE_SWAP ? "await" : NULL;
}

static int add_line(struct plan *plan, struct libscols_line *parent, const struct tree_node *node)
{
        const char *cycle = node->cycle ? "in a circle with others, which are tried in turn" : NULL;

        return table_add_line(&plan->table, parent,
                &(struct line){
                        .node = *node,
                        .kind = tree_kind_to_string(node->kind),
                        .action = action_on(node),
                        .reason = node->skip_reason ?: cycle,
                        .unit = tree_node_is_ours(node) ? teardown_unit_of(node) : NULL,
                        .step = node->step + 1,
                },
                NULL);
}

int teardown_table_print(const struct tree *tree, bool (*is_of_interest)(const struct tree_node *node),
        const struct table_options *options)
{
        _cleanup_(plan_done) struct plan plan = {.tree = tree};
        struct libscols_line *parent = NULL;
        int r;

        r = select_nodes(&plan, is_of_interest);
        if (r >= 0)
                r = table_new(options, &plan.table);
        for (size_t i = 0; r >= 0 && i < plan.n; i++) {
                if (i == 0 || plan.nodes[i - 1]->component != plan.nodes[i]->component)
                        r = table_add_title(
                                &plan.table, string_printable(tree->names[plan.nodes[i]->component]), &parent);
                if (r >= 0)
                        r = add_line(&plan, parent, plan.nodes[i]);
        }
        return r < 0 ? r : table_print(&plan.table);
}
