/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/read.h"

#include "tree/devices.h"
#include "tree/keep.h"
#include "tree/mounts.h"

int tree_read(int root_fd, struct tree **ret)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_tree_nodes_ struct tree_nodes went = {}, came = {};
        int r;

        r = tree_new(&tree);
        if (r >= 0)
                r = tree_read_devices(tree, root_fd);
        if (r >= 0)
                r = tree_read_mounts(tree, root_fd, &went, &came);
        if (r >= 0)
                r = tree_add_files(tree);
        if (r >= 0)
                r = tree_leave_system_alone(tree, root_fd);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(tree);
        return 0;
}
