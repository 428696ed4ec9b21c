/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan teardown: what is taken down at shutdown, and in which order. */

#include "cli/teardown-table.h"
#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/program.h"
#include "teardown/scope.h"
#include "tree/order.h"
#include "tree/read.h"

static struct table_options arg_table;

static void help(void)
{
        printf("Usage: headgate plan teardown [OPTION...]\n\n"
               "Show in which order storage is taken down at shutdown.\n\n" TABLE_HELP "\n"
               "Exit status: 0, or 2 if something could not be read.\n\n"
               "See headgate-plan(8).\n");
}

/* Trees of nothing but disks, partitions and mounts are no business of teardown. */
static bool is_removable(const struct tree_node *node)
{
        return tree_kind_is_removable(node->kind);
}

static const struct table_verb verb = {&teardown_table, .help = help, .takes_no_names = true};

int plan_teardown(int argc, char *argv[])
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_close_ int root_fd = -EBADF;
        int r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;

        root_fd = root_open();
        r = root_fd < 0 ? root_fd : tree_read(root_fd, &tree);
        if (r >= 0)
                r = teardown_scope_apply(tree, root_fd, TEARDOWN_ALL);
        if (r >= 0)
                r = tree_order(tree);
        if (r < 0)
                return verb_fail(r, "Failed to find out what storage there is: %m");
        r = teardown_table_print(tree, is_removable, &arg_table);
        if (r < 0)
                return verb_fail(r, "Failed to print the table: %m");
        return EXIT_SUCCESS;
}
