/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate tree: what lies on what, from disks to mounts or the other way round. */

#include <getopt.h>

#include "cli/tree-columns.h"
#include "cli/tree-target.h"
#include "cli/tree-view.h"
#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/root.h"
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
               "Exit status: 0, or 2 if a name is not known or something could not be read.\n\n"
               "See headgate-tree(8).\n");
}

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
        struct tree_line line = {
                .node = place.node,
                .root_fd = drawing->root_fd,
                .tree_name = drawing->view->tree->names[place.node->component],
                .again = drawing->drawn[place.node->index],
        };
        struct libscols_line *made;
        int r;

        r = tree_view_children(drawing->view, place.node, drawing->direction, &children);
        if (r < 0)
                return r;
        drawing->drawn[place.node->index] = true;
        line.cut = line.again && children.n > 0;
        r = table_add_line(&drawing->table, place.parent, &line, &made);
        return r < 0 || line.again ? r : push_reversed(drawing, &children, made);
}

static int draw(const struct tree_view *view, int root_fd, const struct table_verb *verb)
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
                r = table_new(verb, &arg_table, &drawing.table);
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
        const struct table_verb verb = tree_table_verb(help, switches, ELEMENTSOF(switches));
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
        if (r < 0) {
                (void) log_error_errno(r, "Failed to find out what storage there is: %m");
                return EXIT_CANNOT_TELL;
        }

        r = unknown = choose_nodes(&view, root_fd, argv + optind, (size_t) (argc - optind));
        if (r == -ENOENT)
                return EXIT_NOT_ALL_UP;
        if (r >= 0)
                r = draw(&view, root_fd, &verb);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to print the tree: %m");
                return EXIT_CANNOT_TELL;
        }
        return unknown ? EXIT_NOT_ALL_UP : EXIT_SUCCESS;
}
