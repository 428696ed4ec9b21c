/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate tree: what lies on what, from disks to mounts or the other way round. */

#include <inttypes.h>
#include <sys/sysmacros.h>

#include "cli/node-names.h"
#include "cli/table.h"
#include "cli/tree-target.h"
#include "cli/tree-view.h"
#include "cli/verbs.h"
#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"
#include "tree/order.h"
#include "tree/read.h"

static struct table_options arg_table;
static bool arg_all, arg_inverse;

static const struct table_switch switches[] = {
        {"all", 'a', &arg_all},
        {"inverse", 's', &arg_inverse},
};

static void help(void)
{
        printf("Usage: headgate tree [OPTION...] [VG|VG/LV|DEVICE|MOUNTPOINT...]\n\n"
               "Show what lies on what: disks, partitions, arrays, volumes, file systems and swaps.\n\n"
               "  -a, --all            Show empty disks, too\n"
               "  -s, --inverse        Begin with what is mounted, and end with the disks\n" TABLE_HELP "\n"
               "Exit status: 0, 1 if a name is not known, 2 if headgate cannot tell.\n\n"
               "See headgate-tree(8).\n");
}

/* ------ columns ------ */

/* A line of the tree. */
struct line {
        struct tree_node node; /* a copy */
        int root_fd;           /* where the machine's files are */
        const char *name, *kind, *vg, *tree_name;
        bool is_hidden;
        bool again; /* the node has had a line before */
};

/* Mounts have numbers of their own only where their file systems are not on one device. */
static char *get_id(const void *data)
{
        const struct line *line = data;
        const struct tree_node *node = &line->node;
        _cleanup_free_ char *name = NULL;

        switch (node->kind) {
        case TREE_MOUNT:
                return string_format("mount %" PRIu64, node->mount_id);
        case TREE_SWAP:
                name = string_printable(node->name);
                return name ? string_format("swap %s", name) : NULL;
        default:
                return string_format("%u:%u", major(node->number), minor(node->number));
        }
}

/* The kernel's attribute md/array_state (Documentation/admin-guide/md.rst). */
static char *describe_array(const struct line *line)
{
        _cleanup_free_ char *state = NULL;
        int r = sysfs_read_attribute(line->root_fd, line->node.number, "md/array_state", &state);

        return r < 0 ? NULL : string_printable(state ?: "");
}

/* Only what is known already, but for arrays: a file of sysfs for each disk takes as long as all else. */
static char *get_state(const void *data)
{
        const struct line *line = data;
        const struct tree_node *node = &line->node;

        if (node->kind == TREE_MD)
                return describe_array(line);
        if (node->kind >= TREE_MULTIPATH && tree_node_is_stranded(node))
                return strdup("stranded");
        if (node->kind >= TREE_MULTIPATH)
                return strdup(node->suspended ? "suspended" : node->read_only ? "read-only" : "active");
        return strdup("");
}

static const char *color_of_state(const void *data)
{
        const struct line *line = data;

        return line->node.suspended || tree_node_is_stranded(&line->node) ? "red" : NULL;
}

/* Of a PV it is the one whose LVs lie on it. */
static const char *vg_of(const struct tree_node *node)
{
        if (node->vg)
                return node->vg;
        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->vg)
                        return node->uppers.nodes[i]->vg;
        return "";
}

/* The kernel's attribute "ro" (Documentation/ABI/stable/sysfs-block). */
static char *get_read_only(const void *data)
{
        const struct line *line = data;
        _cleanup_free_ char *read_only = NULL;

        if (!line->node.kernel_name)
                return strdup("");
        if (sysfs_read_attribute(line->root_fd, line->node.number, "ro", &read_only) < 0)
                return NULL;
        return strdup(read_only && streq(read_only, "1") ? "1" : "0");
}

static char *get_number(const void *data)
{
        const struct line *line = data;

        return line->node.kernel_name ? get_id(data) : strdup("");
}

static char *get_mount_points(const void *data)
{
        const struct tree_node *node = &((const struct line *) data)->node;
        _cleanup_tree_nodes_ struct tree_nodes mounts = {};

        for (size_t i = 0; node->kernel_name && i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->kind == TREE_MOUNT &&
                        tree_nodes_add(&mounts, node->uppers.nodes[i]) < 0)
                        return NULL;
        return node_names_join(&mounts);
}

static char *get_holders(const void *data)
{
        const struct line *line = data;

        return node_names_join(&line->node.uppers);
}

#define LINE(field) COLUMN_FIELD(struct line, field)

static const struct column columns[] = {
        {"NODE", "device-mapper's or the kernel's name of a device, or a mount point", COLUMN_ALWAYS, COLUMN_NAME,
                LINE(name), .flags = SCOLS_FL_TREE},
        {"ID", "what tells it from all other nodes", COLUMN_IN_JSON, COLUMN_STRING, .text = get_id},
        {"KIND", "what it is", COLUMN_ALWAYS, COLUMN_STRING, LINE(kind)},
        {"SIZE", "its size, in JSON in bytes", COLUMN_ALWAYS, COLUMN_SIZE, LINE(node.size)},
        {"STATE", "of device-mapper's devices active, read-only or suspended, of arrays what the kernel says",
                COLUMN_ALWAYS, COLUMN_STRING, .text = get_state, .color = color_of_state},
        {"VG", "the volume group that it is a logical or physical volume of", COLUMN_ALWAYS, COLUMN_NAME,
                LINE(vg)},
        {"DEVICE", "the kernel's name", COLUMN_ALWAYS, COLUMN_STRING, LINE(node.kernel_name)},
        {"NUMBER", "its major and minor number", COLUMN_IN_JSON, COLUMN_STRING, .text = get_number},
        {"RO", "whether the device is read-only", 0, COLUMN_BOOL, .text = get_read_only},
        {"PV", "whether it is a physical volume", COLUMN_IN_JSON, COLUMN_BOOL, LINE(node.is_pv)},
        {"HIDDEN", "whether it is a part of a logical volume, or a layer in one", COLUMN_IN_JSON, COLUMN_BOOL,
                LINE(is_hidden)},
        {"AGAIN", "whether it has had a line before, with all that belongs below it", COLUMN_IN_JSON, COLUMN_BOOL,
                LINE(again)},
        {"MOUNTPOINTS", "where its file system is mounted", COLUMN_IN_JSON, COLUMN_SUMMARY,
                .text = get_mount_points},
        {"HELD-BY", "what has to go before it could", COLUMN_IN_JSON, COLUMN_SUMMARY, .text = get_holders},
        {"FILE", "of a loop device, the file", COLUMN_IN_JSON, COLUMN_NAME, LINE(node.file)},
        {"UUID", "device-mapper's UUID", COLUMN_IN_JSON, COLUMN_NAME, LINE(node.uuid)},
        {"TREE", "the name of its storage tree, as in plan teardown", COLUMN_IN_JSON, COLUMN_NAME,
                LINE(tree_name)},
        {"LEFT-ALONE", "why it is left alone at shutdown", COLUMN_IN_JSON, COLUMN_NAME, LINE(node.skip_reason),
                .flags = SCOLS_FL_WRAP},
};

static const struct table_kind kind = {"nodes", columns, ELEMENTSOF(columns)};
static const struct table_verb verb = {
        &kind, .help = help, .switches = switches, .n_switches = ELEMENTSOF(switches)};

/* ------ the lines ------ */

/* A node that is to be drawn, and where. */
struct place {
        struct tree_node *node;
        struct libscols_line *parent;
};

struct drawing {
        const struct tree_view *view;
        enum tree_direction direction;
        int root_fd;
        bool *drawn; /* by index */
        struct place *waiting;
        size_t n_waiting, n_allocated;
        struct table table;
};

static void drawing_done(struct drawing *drawing)
{
        free(drawing->drawn);
        free(drawing->waiting);
        table_done(&drawing->table);
}

/* The last one that is pushed is drawn first. */
static int push_reversed(struct drawing *drawing, const struct tree_nodes *nodes, struct libscols_line *parent)
{
        if (drawing->n_waiting + nodes->n > drawing->n_allocated) {
                size_t n = 2 * (drawing->n_waiting + nodes->n);
                struct place *larger = reallocarray(drawing->waiting, n, sizeof(*larger));

                if (!larger)
                        return -ENOMEM;
                drawing->waiting = larger;
                drawing->n_allocated = n;
        }
        for (size_t i = nodes->n; i > 0; i--)
                drawing->waiting[drawing->n_waiting++] = (struct place){nodes->nodes[i - 1], parent};
        return 0;
}

/* A node that lies on several is drawn on each of them, but what lies on it only the first time: there are never
 * more lines than there are nodes and edges, and what holds itself comes to an end. */
static int draw_next(struct drawing *drawing)
{
        struct place place = drawing->waiting[--drawing->n_waiting];
        _cleanup_tree_nodes_ struct tree_nodes children = {};
        _cleanup_free_ char *cut_name = NULL;
        struct tree_node *node = place.node;
        struct line line = {
                .node = *node,
                .root_fd = drawing->root_fd,
                .name = node->name,
                .kind = tree_kind_to_string(node->kind),
                .vg = vg_of(node),
                .tree_name = drawing->view->tree->names[node->component],
                .is_hidden = tree_lv_is_hidden(node),
                .again = drawing->drawn[node->index],
        };
        struct libscols_line *made;
        int r;

        r = tree_view_children(drawing->view, node, drawing->direction, &children);
        if (r < 0)
                return r;
        drawing->drawn[node->index] = true;
        if (line.again && children.n > 0 && !arg_table.json) {
                line.name = cut_name = string_format("%s (above)", node->name);
                if (!cut_name)
                        return -ENOMEM;
        }
        r = table_add_line(&drawing->table, place.parent, &line, &made);
        return r < 0 || line.again ? r : push_reversed(drawing, &children, made);
}

static int draw(const struct tree_view *view, int root_fd)
{
        _cleanup_(drawing_done) struct drawing drawing = {
                .view = view,
                .direction = arg_inverse ? TREE_DOWNWARDS : TREE_UPWARDS,
                .root_fd = root_fd,
                .drawn = calloc(view->tree->nodes.n + 1, sizeof(*drawing.drawn)),
        };
        _cleanup_tree_nodes_ struct tree_nodes roots = {};
        int r = drawing.drawn ? 0 : -ENOMEM;

        if (r >= 0)
                r = tree_view_roots(view, drawing.direction, &roots);
        if (r >= 0)
                r = table_new(&arg_table, &drawing.table);
        if (r >= 0)
                r = push_reversed(&drawing, &roots, NULL);
        while (r >= 0 && drawing.n_waiting > 0)
                r = draw_next(&drawing);
        return r < 0 ? r : table_print(&drawing.table);
}

/* ------ what is shown ------ */

/* Whether any node from that one on is shown: a mount may be of /proc. */
static bool is_any_shown(const struct tree_view *view, const struct tree_nodes *nodes, size_t first)
{
        for (size_t i = first; i < nodes->n; i++)
                if (view->shown[nodes->nodes[i]->index])
                        return true;
        return false;
}

/* Returns 0; 1, having said which name is not known; or -ENOMEM. */
static int find_nodes(
        const struct tree_view *view, int root_fd, char *const names[], size_t n, struct tree_nodes *ret)
{
        int result = 0;

        for (size_t i = 0; i < n; i++) {
                size_t first = ret->n;
                int r = tree_target_find(view->tree, names[i], ret);

                if (r == -ENOMEM)
                        return r;
                if (r >= 0 && is_any_shown(view, ret, first))
                        continue;
                if (r >= 0)
                        log_error("%s is not on a block device.", names[i]);
                else
                        tree_target_log_unknown(view->tree, root_fd, names[i]);
                result = 1;
        }
        return result;
}

/* Who asks for a disk gets to see it, empty or not. Returns what find_nodes() does, -ENOENT if no name is known. */
static int choose_nodes(struct tree_view *view, int root_fd, char *const names[], size_t n)
{
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};
        int result, r;

        if (n == 0) {
                if (!arg_all)
                        tree_view_leave_out_empty(view);
                return 0;
        }
        result = find_nodes(view, root_fd, names, n, &nodes);
        if (result < 0)
                return result;
        if (nodes.n == 0)
                return -ENOENT;
        r = tree_view_restrict(view, &nodes);
        return r < 0 ? r : result;
}

int verb_tree(int argc, char *argv[])
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_tree_view_ struct tree_view view = {};
        _cleanup_close_ int root_fd = -EBADF;
        int unknown = 0, r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;

        root_fd = root_open();
        r = root_fd < 0 ? root_fd : tree_read(root_fd, &tree);
        if (r >= 0)
                r = tree_order(tree);
        if (r >= 0)
                r = tree_view_init(&view, tree);
        if (r < 0)
                return verb_fail(r, "Failed to find out what storage there is: %m");

        r = unknown = choose_nodes(&view, root_fd, argv + optind, (size_t) (argc - optind));
        if (r == -ENOENT)
                return EXIT_NOT_ALL_UP;
        if (r >= 0)
                r = draw(&view, root_fd);
        if (r < 0)
                return verb_fail(r, "Failed to print the tree: %m");
        return unknown ? EXIT_NOT_ALL_UP : EXIT_SUCCESS;
}
