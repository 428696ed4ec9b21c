/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/read.h"

#include "shared/kernel.h"
#include "shared/util.h"
#include "tree/devices.h"
#include "tree/mounts.h"

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

static int protect_mount(struct tree_node *mount)
{
        _cleanup_free_ char *reason = string_format("%s stays mounted", mount->name);

        return reason ? tree_skip(mount, reason) : -ENOMEM;
}

/* The entries of an fstab that cannot be read are none: systemd will not have understood it either. */
static int protect_mounts_of_initrd(struct tree *tree, int root_fd)
{
        _cleanup_mount_table_ struct mount_table table = {};
        int r;

        r = mount_table_read(root_fd, FSTAB, &table);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        FOREACH_MOUNT(entry, &table)
        {
                const char *options = mnt_fs_get_options(entry), *target = mnt_fs_get_target(entry);
                struct tree_node *mount = target ? dm_hash_lookup(tree->mount_points, target) : NULL;
                size_t length;
                char *value;

                if (!mount || !options || mnt_optstr_get_option(options, INITRD_OPTION, &value, &length) != 0)
                        continue;
                r = protect_mount(mount);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The mount that a path lies on, of those that are there; NULL for none. */
static struct tree_node *find_mount_of(const struct tree *tree, const char *path)
{
        struct tree_node *found = NULL;

        FOREACH_NODE(node, &tree->nodes)
                if (node->kind == TREE_MOUNT && is_at_or_below(path, node->name) &&
                        (!found || strlen(node->name) > strlen(found->name)))
                        found = node;
        return found;
}

/* `value` is that of an option of overlayfs: a path, or several with ":" between them. */
static int protect_layers(struct tree *tree, const char *value, size_t length)
{
        _cleanup_free_ char *paths = strndup(value, length);
        char *rest = paths;

        if (!paths)
                return -ENOMEM;
        for (const char *path; (path = strsep(&rest, ":"));) {
                struct tree_node *mount = find_mount_of(tree, path);
                int r = mount && !mount->skip_reason ? protect_mount(mount) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

/* Where / is an overlay, as on live systems, what it is made of lies on other mounts. */
static int protect_layers_of_root(struct tree *tree, int root_fd)
{
        static const char *const options[] = {"lowerdir", "upperdir", "workdir"};
        _cleanup_mount_table_ struct mount_table table = {};
        struct libmnt_fs *root;
        int r;

        r = mount_table_read(root_fd, MOUNTINFO, &table);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        root = mnt_table_find_target(table.table, "/", MNT_ITER_BACKWARD);
        if (!root || !mnt_fs_get_fstype(root) || !streq(mnt_fs_get_fstype(root), "overlay"))
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(options); i++) {
                size_t length;
                char *value;

                if (mnt_fs_get_option(root, options[i], &value, &length) != 0 || !value)
                        continue;
                r = protect_layers(tree, value, length);
                if (r < 0)
                        return r;
        }
        return 0;
}

int tree_protect_system(struct tree *tree, int root_fd)
{
        int r;

        FOREACH_NODE(node, &tree->nodes) {
                r = node->kind == TREE_MOUNT && is_systems(node->name) ? protect_mount(node) : 0;
                if (r < 0)
                        return r;
        }
        r = protect_layers_of_root(tree, root_fd);
        return r < 0 ? r : protect_mounts_of_initrd(tree, root_fd);
}

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
                r = tree_protect_system(tree, root_fd);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(tree);
        return 0;
}
