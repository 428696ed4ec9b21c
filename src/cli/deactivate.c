/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate deactivate: removes devices of a running machine, as headgate-teardown does at shutdown. Also headgate plan teardown,
 * which prints the table of --dry-run for shutdown. */

#include "cli/verb.h"
#include "deactivate/deactivation.h"
#include "shared/program.h"
#include "shared/util.h"
#include "table/tree-view.h"
#include "teardown/scope.h"
#include "tree/order.h"
#include "tree/read.h"

/* ------ the table ------ */

struct line {
        struct tree_node node; /* a copy */
        const char *tree_name, *kind, *action, *reason, *unit;
        struct strv holders;
        size_t step;
};

static const struct column columns[] = {
        COLUMN("NODE", ALWAYS, STRING, node.name,
                "device-mapper's or the kernel's name of a device, or a mount point"),
        COLUMN("TREE", ALWAYS, STRING, tree_name, "its storage tree"),
        COLUMN("KIND", ALWAYS, STRING, kind, "kind of node"),
        COLUMN("DEVICE", IN_JSON, STRING, node.kernel_name, "the kernel's name"),
        COLUMN("VG", IN_JSON, STRING, node.vg, "the volume group of a logical volume"),
        COLUMN("PV", IN_JSON, BOOL, node.is_pv, "whether an LV of another volume group lies on it"),
        COLUMN("SUSPENDED", IN_JSON, BOOL, node.suspended, "whether it is suspended: I/O to it waits"),
        COLUMN("STEP", ALWAYS, NUMBER, step, "order of removal: nodes with the same number at once"),
        COLUMN("ACTION", ALWAYS, STRING, action, "remove, await (systemd does it) or leave"),
        COLUMN("HELD-BY", ALWAYS, SUMMARY, holders, "nodes to be removed before it", .flags = SCOLS_FL_WRAP),
        COLUMN("REASON", ALWAYS, STRING, reason, "why it is not removed", .flags = SCOLS_FL_WRAP),
        COLUMN("UNIT", IN_JSON, STRING, unit, "the unit that removes it"),
};

static int compare_nodes(const void *a, const void *b, void *userdata)
{
        const struct tree_node *first = TREE_NODE_AT(a), *second = TREE_NODE_AT(b);
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
        return tree_node_is_mount_or_swap(node) ? "await" : NULL;
}

static void add_line(struct table *table, const char *tree_name, const struct tree_node *node)
{
        const char *cycle = node->cycle ? "in a dependency cycle; its nodes are tried in turn" : NULL;
        _cleanup_strv_ struct strv holders = {};

        table_fail(table, tree_nodes_names(&node->uppers, &holders));
        table_add_line(table, NULL,
                &(struct line){
                        .node = *node,
                        .tree_name = tree_name,
                        .kind = tree_kind_to_string(node->kind),
                        .action = action_on(node),
                        .reason = node->skip_reason ?: cycle,
                        .unit = tree_node_is_ours(node) ? teardown_unit_of(node) : NULL,
                        .holders = holders,
                        .step = node->step + 1,
                });
}

/* Adds the nodes of all storage trees with at least one node of interest, in the order of removal. */
static void add_lines(
        struct table *table, const struct tree *tree, bool (*is_of_interest)(const struct tree_node *node))
{
        _cleanup_free_ bool *shown = calloc(tree->n_components + 1, sizeof(*shown));
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};

        if (!shown) {
                table_fail(table, -ENOMEM);
                return;
        }
        FOREACH_NODE(node, &tree->nodes)
                shown[node->component] |= is_of_interest(node);
        table_fail(table, tree_nodes_add_all(&nodes, &tree->nodes));
        if (nodes.n > 1)
                qsort_r(nodes.nodes, nodes.n, sizeof(*nodes.nodes), compare_nodes, tree->names);
        FOREACH_NODE(node, &nodes)
                if (shown[node->component])
                        add_line(table, tree->names[node->component], node);
}

/* ------ plan teardown ------ */

/* Teardown removes nothing from a tree that has only disks, partitions and mounts. */
static bool is_removable(const struct tree_node *node)
{
        return tree_kind_is_removable(node->kind);
}

static int run_teardown(char *names[] _unused_, size_t n _unused_, struct table *table)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_close_ int root_fd = root_open();
        int r = root_fd < 0 ? root_fd
                        : tree_read(root_fd, &tree) ?: teardown_scope_apply(tree, TEARDOWN_ALL) ?: tree_order(tree);

        if (r < 0)
                return verb_fail(r, "Failed to read the storage tree: %m");
        add_lines(table, tree, is_removable);
        return verb_print(table, EXIT_SUCCESS, "print the table");
}

const struct verb verb_plan_teardown = {"teardown", "", "Show in which order storage is removed at shutdown",
        .help = "Usage: headgate plan teardown [OPTION...]\n\n"
                "Show in which order storage is removed at shutdown.\n\n",
        .footer = "Exit status: 0, or 2 if something could not be read.\n\n", .page = "plan",
        .takes_no_names = true, .root_only = "ask device-mapper for its devices",
        .table = TABLE_KIND("nodes", columns), .run = run_teardown};

/* ------ deactivate ------ */

static bool arg_all;
static bool arg_dry_run;
static bool arg_serial;
static bool arg_no_udev_sync;
/* lvm2's own timeout. */
static uint64_t arg_timeout_usec = 5 * USEC_PER_SEC;

static int show(struct deactivation *deactivation)
{
        _cleanup_table_ struct table table = {};
        int r = deactivation_preview(deactivation);

        if (r <= 0)
                return r;
        r = table_new(TABLE_KIND("nodes", columns), &(struct table_options){}, &table);
        if (r < 0)
                return r;
        add_lines(&table, deactivation->tree, tree_node_is_ours);
        return table_print(&table);
}

static int run(char *names[], size_t n, struct table *table _unused_)
{
        _cleanup_deactivation_ struct deactivation deactivation = {.sources = SOURCES_NONE,
                .serial = arg_serial,
                .no_udev_sync = arg_no_udev_sync,
                .timeout_usec = arg_timeout_usec};
        int r;

        if (arg_all == (n > 0))
                return verb_refuse(arg_all ? "--all and names are mutually exclusive."
                                           : "Expected a name or --all, see --help.");
        if (root_is_chosen())
                return verb_refuse("Refusing to deactivate anything with HEADGATE_ROOT set.");

        r = deactivation_init(&deactivation, names, n);
        if (r >= 0)
                r = arg_dry_run ? show(&deactivation) : deactivation_run(&deactivation);
        if (r < 0)
                return verb_fail(r, "Failed to deactivate: %m");
        return deactivation.something_left ? EXIT_NOT_ALL_DOWN : EXIT_ALL_DOWN;
}

static const struct verb_option options[] = {
        {"all", '\0', NULL, "Deactivate all devices that are not in use", &arg_all},
        {"dry-run", 'n', NULL, "Show what would be removed, and do nothing", &arg_dry_run},
        {"serial", '\0', NULL, "Remove one device after another", &arg_serial},
        {"timeout", '\0', "TIME", "How long to retry open devices, 5s by default", .usec = &arg_timeout_usec},
        {"noudevsync", '\0', NULL, "Do not wait for udev", &arg_no_udev_sync},
        {},
};

const struct verb verb_deactivate = {"deactivate", "[NAME...]",
        "Deactivate volume groups, logical volumes or devices",
        .help = "Usage: headgate deactivate [OPTION...] [--] [VG|VG/LV|DEVICE...]\n\n"
                "Deactivate volume groups, logical volumes or everything on a device, in parallel; with\n"
                "--all, everything without a mount or swap on it. Devices in use stay, and so do those\n"
                "of / and /usr.\n\n",
        .footer = "Exit status: 0 if all is deactivated, 1 if something is left, 2 if headgate cannot tell.\n\n",
        .options = options, .root_only = "deactivate anything", .run = run};
