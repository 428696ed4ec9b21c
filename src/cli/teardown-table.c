/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/teardown-table.h"

#include "shared/util.h"
#include "teardown/scope.h"
#include "tree/order.h"

/* ------ columns: each makes its cell of a node, NULL without memory ------ */

static char *format_name(const struct tree_node *node)
{
        return string_printable(node->name);
}

static char *format_kind(const struct tree_node *node)
{
        return strdup(tree_kind_to_string(node->kind));
}

static char *format_device(const struct tree_node *node)
{
        return strdup(node->kernel_name ?: "");
}

static char *format_vg(const struct tree_node *node)
{
        return string_printable(node->vg ?: "");
}

/* libsmartcols goes by the first character. */
static char *format_boolean(bool value)
{
        return strdup(value ? "1" : "0");
}

static char *format_pv(const struct tree_node *node)
{
        return format_boolean(node->is_pv);
}

static char *format_suspended(const struct tree_node *node)
{
        return format_boolean(node->suspended);
}

static char *format_step(const struct tree_node *node)
{
        return string_format("%zu", node->step + 1);
}

static char *format_action(const struct tree_node *node)
{
        if (node->left_alone)
                return strdup("leave");
        if (tree_node_is_ours(node))
                return strdup("remove");
        return strdup(node->kind == TREE_MOUNT || node->kind == TREE_SWAP ? "await" : "");
}

static char *format_reason(const struct tree_node *node)
{
        if (node->left_alone)
                return string_printable(node->left_alone);
        return strdup(node->part ? "in a circle with others, which are tried in turn" : "");
}

static char *format_unit(const struct tree_node *node)
{
        return strdup(tree_node_is_ours(node) ? teardown_unit_of(node) : "");
}

/* Directories of sysfs are in no order. */
static int compare_holders(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;

        return strverscmp(first->name, second->name);
}

/* The names of at most `n` holders, with a separator between them. */
static char *join_holders(const struct tree_node *node, size_t n, const char *separator)
{
        _cleanup_tree_nodes_ struct tree_nodes holders = {};
        _cleanup_free_ char *joined = strdup("");

        for (size_t i = 0; i < node->uppers.n; i++)
                if (tree_nodes_add(&holders, node->uppers.nodes[i]) < 0)
                        return NULL;
        if (holders.n > 0)
                qsort(holders.nodes, holders.n, sizeof(*holders.nodes), compare_holders);
        for (size_t i = 0; joined && i < MIN(n, holders.n); i++) {
                _cleanup_free_ char *name = string_printable(holders.nodes[i]->name);

                if (!name ||
                        string_replace(&joined, string_format("%s%s%s", joined, i > 0 ? separator : "", name)) < 0)
                        return NULL;
        }
        return TAKE_PTR(joined);
}

/* A PV can hold a thousand LVs. */
#define HOLDERS_SHOWN 3

static char *format_held_by(const struct tree_node *node)
{
        _cleanup_free_ char *joined = join_holders(node, HOLDERS_SHOWN, ", ");

        if (joined && node->uppers.n > HOLDERS_SHOWN)
                return string_format("%s and %zu more", joined, node->uppers.n - HOLDERS_SHOWN);
        return TAKE_PTR(joined);
}

/* One in a line is what libsmartcols makes an array of. */
static char *format_holders(const struct tree_node *node)
{
        return join_holders(node, SIZE_MAX, "\n");
}

struct column {
        const char *name;
        int flags;
        int json_type;
        char *(*format)(const struct tree_node *node);
};

static const struct column table_columns[] = {
        {"NODE", SCOLS_FL_TREE, 0, format_name},
        {"KIND", 0, 0, format_kind},
        {"STEP", SCOLS_FL_RIGHT, 0, format_step},
        {"ACTION", 0, 0, format_action},
        {"HELD BY", SCOLS_FL_WRAP, 0, format_held_by},
        {"REASON", SCOLS_FL_WRAP, 0, format_reason},
};

static const struct column json_columns[] = {
        {"node", SCOLS_FL_TREE, SCOLS_JSON_STRING, format_name},
        {"kind", 0, SCOLS_JSON_STRING, format_kind},
        {"device", 0, SCOLS_JSON_STRING, format_device},
        {"vg", 0, SCOLS_JSON_STRING, format_vg},
        {"pv", 0, SCOLS_JSON_BOOLEAN, format_pv},
        {"suspended", 0, SCOLS_JSON_BOOLEAN, format_suspended},
        {"step", 0, SCOLS_JSON_NUMBER, format_step},
        {"action", 0, SCOLS_JSON_STRING, format_action},
        {"held_by", SCOLS_FL_WRAP, SCOLS_JSON_ARRAY_STRING, format_holders},
        {"reason", 0, SCOLS_JSON_STRING, format_reason},
        {"unit", 0, SCOLS_JSON_STRING, format_unit},
};

/* ------ the table ------ */

static int add_columns(struct libscols_table *table, const struct column *columns, size_t n_columns)
{
        for (size_t i = 0; i < n_columns; i++) {
                struct libscols_column *column;
                int r;

                r = table_add_column(table, columns[i].name, columns[i].flags, columns[i].json_type, &column);
                if (r < 0)
                        return r;
                /* Names are escaped already. */
                if (scols_column_set_safechars(column, "\\\n") < 0)
                        return -ENOMEM;
                if (columns[i].json_type == SCOLS_JSON_ARRAY_STRING &&
                        scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) <
                                0)
                        return -ENOMEM;
        }
        return 0;
}

/* ------ what is in it, and in which order ------ */

struct plan {
        const struct tree *tree;
        const struct table_options *options;
        char **names;             /* of storage trees, by component */
        struct tree_node **nodes; /* of all trees, each in the order of removal */
        size_t n;
        struct libscols_table *table;
        const struct column *columns;
        size_t n_columns;
};

static void plan_done(struct plan *plan)
{
        if (plan->names)
                tree_names_free(plan->tree, plan->names);
        free(plan->nodes);
        scols_unref_table(plan->table);
}

static int compare_nodes(const void *a, const void *b, void *userdata)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;
        const struct plan *plan = userdata;
        int r = strverscmp(plan->names[first->component], plan->names[second->component]);

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

static int make_table(struct plan *plan)
{
        plan->columns = plan->options->json ? json_columns : table_columns;
        plan->n_columns = plan->options->json ? ELEMENTSOF(json_columns) : ELEMENTSOF(table_columns);
        plan->table = table_new(plan->options, "trees");
        if (!plan->table)
                return -ENOMEM;
        return add_columns(plan->table, plan->columns, plan->n_columns);
}

/* The tree itself is a line with its name and without anything else. */
static int add_tree(struct plan *plan, size_t component, struct libscols_line **ret)
{
        *ret = scols_table_new_line(plan->table, NULL);
        return *ret ? table_set_cell(*ret, 0, string_printable(plan->names[component])) : -ENOMEM;
}

static int add_node(struct plan *plan, const struct tree_node *node, struct libscols_line *parent)
{
        struct libscols_line *line = scols_table_new_line(plan->table, parent);
        int r = line ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < plan->n_columns; i++)
                r = table_set_cell(line, i, plan->columns[i].format(node));
        return r;
}

int teardown_table_print(const struct tree *tree, bool (*is_of_interest)(const struct tree_node *node),
        const struct table_options *options)
{
        _cleanup_(plan_done) struct plan plan = {.tree = tree, .options = options};
        struct libscols_line *parent = NULL;
        int r;

        r = tree_names(tree, &plan.names);
        if (r >= 0)
                r = select_nodes(&plan, is_of_interest);
        if (r >= 0)
                r = make_table(&plan);
        for (size_t i = 0; r >= 0 && i < plan.n; i++) {
                if (i == 0 || plan.nodes[i - 1]->component != plan.nodes[i]->component)
                        r = add_tree(&plan, plan.nodes[i]->component, &parent);
                if (r >= 0)
                        r = add_node(&plan, plan.nodes[i], parent);
        }
        return r < 0 ? r : scols_print_table(plan.table);
}
