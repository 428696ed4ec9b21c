/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/keep.h"

#include "shared/util.h"
#include "tree/table.h"

#define FSTAB "etc/fstab"
#define MOUNTINFO "proc/self/mountinfo"
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

/* The mount that a path lies on, of those that are there; NULL for none. */
static struct tree_node *find_mount_of(const struct tree *tree, const char *path)
{
        struct tree_node *found = NULL;

        for (size_t i = 0; i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];

                if (node->kind == TREE_MOUNT && is_at_or_below(path, node->name) &&
                        (!found || strlen(node->name) > strlen(found->name)))
                        found = node;
        }
        return found;
}

/* `value` is that of an option of overlayfs: a path, or several with ":" between them. */
static int leave_layers_alone(struct tree *tree, const char *value, size_t length)
{
        _cleanup_free_ char *paths = strndup(value, length);
        char *rest = paths;
        int r = paths ? 0 : -ENOMEM;

        for (const char *path; r >= 0 && (path = strsep(&rest, ":"));) {
                struct tree_node *mount = find_mount_of(tree, path);

                if (mount && !mount->left_alone)
                        r = leave_mount_alone(mount);
        }
        return r;
}

/* Where / is an overlay, as on live systems, what it is made of lies on other mounts. */
static int leave_roots_layers_alone(struct tree *tree, int root_fd)
{
        static const char *const options[] = {"lowerdir", "upperdir", "workdir"};
        _cleanup_mount_table_ struct libmnt_table *table = NULL;
        struct libmnt_fs *root;
        int r;

        r = mount_table_read(root_fd, MOUNTINFO, &table);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        root = mnt_table_find_target(table, "/", MNT_ITER_BACKWARD);
        if (!root || !mnt_fs_get_fstype(root) || !streq(mnt_fs_get_fstype(root), "overlay"))
                return 0;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(options); i++) {
                size_t length;
                char *value;

                if (mnt_fs_get_option(root, options[i], &value, &length) == 0 && value)
                        r = leave_layers_alone(tree, value, length);
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
        if (r >= 0)
                r = leave_roots_layers_alone(tree, root_fd);
        return r < 0 ? r : leave_initrds_mounts_alone(tree, root_fd);
}
