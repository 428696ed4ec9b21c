/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mountinfo and swaps, with a line "----" between them, as teardown reads them: twice, since a second look with the same
 * files must find that nothing has come or gone. Then all is taken down, which has to come to an end. */

#include <sys/sysmacros.h>

#include "fuzz.h"
#include "shared/util.h"
#include "tree/order.h"
#include "tree/read.h"

#define SEPARATOR "----\n"

static void add_device(struct tree *tree, unsigned int minor_number)
{
        _cleanup_free_ char *kernel_name = string_format("dm-%u", minor_number);
        _cleanup_free_ char *name = string_format("data-lv%u", minor_number);
        struct tree_node *node;

        fuzz_check(kernel_name && name);
        node = tree_add_device(tree, TREE_DM, kernel_name, makedev(254, minor_number));
        fuzz_check(node);
        tree_set_dm(tree, node, name, "", "linear");
        fuzz_check(tree->error == 0);
}

static void take_down(struct tree *tree)
{
        size_t limit = tree->nodes.n * tree->nodes.n + 1;
        struct tree_node *node;

        fuzz_check(tree_order(tree) == 0);
        tree_schedule(tree);
        while ((node = tree_next_ready(tree))) {
                fuzz_check(limit-- > 0);
                fuzz_check(tree_kind_is_removable(node->kind));
                tree_node_gone(tree, node);
        }
        fuzz_check(tree->n_gone <= tree->n_to_go);
}

int fuzz_one(const uint8_t *data, size_t size)
{
        const uint8_t *separator = memmem(data, size, SEPARATOR, strlen(SEPARATOR));
        size_t mounts_size = separator ? (size_t) (separator - data) : size;
        _cleanup_tree_ struct tree *tree = NULL;

        fuzz_write("proc/self/mountinfo", data, mounts_size);
        if (separator) {
                separator += strlen(SEPARATOR);
                fuzz_write("proc/swaps", separator, (size_t) (data + size - separator));
        } else
                fuzz_write("proc/swaps", "", 0);

        fuzz_check(tree_new(fuzz_root(), &tree) == 0);
        for (unsigned int i = 0; i < 4; i++)
                add_device(tree, i);
        /* Nothing has gone the first time. */
        fuzz_check(tree_read_mounts(tree) <= 0);
        fuzz_check(tree_read_mounts(tree) <= 1);
        take_down(tree);
        return 0;
}
