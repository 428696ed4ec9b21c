/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/configuration.h"

#include <fcntl.h>
#include <libdevmapper.h>

#include "shared/util.h"

int configuration_event_activation(void)
{
        /* What the local file says counts more: lvm2 merges it over the other. */
        static const char *const names[] = {"lvm.conf", "lvmlocal.conf"};
        const char *directory = getenv("LVM_SYSTEM_DIR") ?: "/etc/lvm";
        int event_activation = 1;

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_free_ char *path = string_format("%s/%s", directory, names[i]);
                _cleanup_free_ char *text = NULL;
                struct dm_config_tree *tree;

                if (!path || read_file_at(AT_FDCWD, path, &text, NULL) < 0)
                        continue;
                tree = dm_config_from_string(text);
                if (!tree)
                        continue;
                event_activation = dm_config_tree_find_bool(tree, "global/event_activation", event_activation);
                dm_config_destroy(tree);
        }
        return event_activation != 0;
}
