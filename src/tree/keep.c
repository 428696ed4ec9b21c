/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/keep.h"

#include "shared/util.h"
#include "tree/table.h"

#define FSTAB "etc/fstab"
#define INITRD_DIRECTORY "/run/initramfs"
#define NEXT_ROOT_DIRECTORY "/run/nextroot"
#define INITRD_OPTION "x-initrd.mount"

static bool is_at_or_below(const char *mount_point, const char *directory)
{
        const char *rest = skip_prefix(mount_point, directory);

        return rest && (*rest == '\0' || *rest == '/');
}

static bool is_systems(const char *mount_point)
{
        return streq(mount_point, "/") || streq(mount_point, "/usr") || streq(mount_point, "/etc") ||
               is_at_or_below(mount_point, INITRD_DIRECTORY) || is_at_or_below(mount_point, NEXT_ROOT_DIRECTORY);
}

static int leave_mount_alone(struct tree_node *mount)
{
        _cleanup_free_ char *reason = string_format("%s stays mounted", mount->name);

        return reason ? tree_leave_alone(mount, reason) : -ENOMEM;
}

/* The entries of an fstab that cannot be read are none: systemd will not have understood it either. */
static int leave_initrds_mounts_alone(struct tree *tree, int root_fd)
{
        _cleanup_mount_table_ struct libmnt_table *table = NULL;
        _cleanup_mount_iterator_ struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_FORWARD);
        struct libmnt_fs *entry;
        int r;

        r = iterator ? mount_table_read(root_fd, FSTAB, &table) : -ENOMEM;
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        while (r >= 0 && mnt_table_next_fs(table, iterator, &entry) == 0) {
                const char *options = mnt_fs_get_options(entry), *target = mnt_fs_get_target(entry);
                struct tree_node *mount = target ? dm_hash_lookup(tree->mount_points, target) : NULL;
                size_t length;
                char *value;

                if (mount && options && mnt_optstr_get_option(options, INITRD_OPTION, &value, &length) == 0)
                        r = leave_mount_alone(mount);
        }
        return r;
}

int tree_leave_system_alone(struct tree *tree, int root_fd)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];

                if (node->kind == TREE_MOUNT && is_systems(node->name))
                        r = leave_mount_alone(node);
        }
        return r < 0 ? r : leave_initrds_mounts_alone(tree, root_fd);
}
