/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the storage tree: on top of its devices, which devices.c adds, all mounts and swaps; and which of them the running
 * system cannot do without. */

#include "tree/read.h"

#include <fcntl.h>

#include "shared/kernel.h"
#include "shared/util.h"
#include "tree/devices.h"
#include "tree/order.h"

#define FSTAB "etc/fstab"
#define MOUNTINFO "proc/self/mountinfo"
#define SWAPS "proc/swaps"
#define BTRFS_DIRECTORY "sys/fs/btrfs"

#define INITRD_DIRECTORY "/run/initramfs"
#define NEXT_ROOT_DIRECTORY "/run/nextroot"
#define INITRD_OPTION "x-initrd.mount"

/* ------ mounts ------ */

static int add_entries(const struct tree *tree, int devices_fd, struct tree_nodes *ret)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(devices_fd, ".");

        for (const struct dirent *entry; directory && (entry = readdir(directory));) {
                struct tree_node *device = tree_find_kernel_name(tree, entry->d_name);
                int r = device ? tree_nodes_add(ret, device) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

int tree_find_btrfs_devices(
        const struct tree *tree, int root_fd, const struct tree_node *device, struct tree_nodes *ret)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, BTRFS_DIRECTORY);

        for (const struct dirent *entry; directory && (entry = readdir(directory));) {
                _cleanup_free_ char *path = string_format("%s/devices", entry->d_name);
                _cleanup_close_ int devices_fd = -EBADF;

                if (!path)
                        return -ENOMEM;
                devices_fd = openat(dirfd(directory), path, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (devices_fd >= 0 && faccessat(devices_fd, device->kernel_name, F_OK, AT_SYMLINK_NOFOLLOW) >= 0)
                        return add_entries(tree, devices_fd, ret);
        }
        return 0;
}

/* A file system that is not on one device has a number of its own, and says where it is from by name only. */
static int add_device_of_mount(struct tree *tree, int root_fd, struct libmnt_fs *entry, struct tree_node *mount)
{
        const char *type = mnt_fs_get_fstype(entry);
        struct tree_node *device = tree_find_number(tree, mount->number);
        _cleanup_tree_nodes_ struct tree_nodes devices = {};
        int r;

        if (!device && mnt_fs_get_srcpath(entry))
                device = tree_find_device_path(tree, mnt_fs_get_srcpath(entry));
        if (!device)
                return 0;
        r = tree_nodes_add(&devices, device);
        if (r >= 0 && type && streq(type, "btrfs"))
                r = tree_find_btrfs_devices(tree, root_fd, device, &devices);
        for (size_t i = 0; r >= 0 && i < devices.n; i++)
                r = tree_hold(tree, devices.nodes[i], mount);
        return r;
}

static struct tree_node *find_mount(const struct tree *tree, int id)
{
        uint64_t key = (uint64_t) id;

        return dm_hash_lookup_binary(tree->mount_ids, &key, sizeof(key));
}

static int add_mount(struct tree *tree, int root_fd, struct libmnt_fs *entry, struct tree_nodes *came)
{
        const char *target = mnt_fs_get_target(entry);
        struct tree_node *mount = find_mount(tree, mnt_fs_get_id(entry));
        int r;

        if (!target)
                return 0;
        /* Identifiers are used again. */
        if (mount && mount->number == mnt_fs_get_devno(entry) && streq(mount->name, target)) {
                mount->seen = true;
                return 0;
        }

        r = tree_add_node(tree, TREE_MOUNT, target, &mount);
        if (r < 0)
                return r;
        mount->mount_id = (uint64_t) mnt_fs_get_id(entry);
        mount->number = mnt_fs_get_devno(entry);
        mount->is_nfs = mnt_fs_is_netfs(entry);
        mount->seen = true;
        if (!dm_hash_insert_binary(tree->mount_ids, &mount->mount_id, sizeof(mount->mount_id), mount))
                return -ENOMEM;
        r = tree_nodes_add(came, mount);
        if (r >= 0)
                r = add_device_of_mount(tree, root_fd, entry, mount);
        return r;
}

/* Of several mounts at one place that is the last one, unless it is what the other one is mounted on. */
static int add_mount_point(struct tree *tree, struct libmnt_fs *entry, struct tree_node *mount)
{
        struct tree_node *parent = find_mount(tree, mnt_fs_get_parent_id(entry));
        const struct tree_node *other = dm_hash_lookup(tree->mount_points, mount->name);
        int r;

        if (parent) {
                r = tree_hold(tree, parent, mount);
                if (r < 0)
                        return r;
        }
        if (other && tree_nodes_have(&other->lowers, mount))
                return 0;
        return dm_hash_insert(tree->mount_points, mount->name, mount) ? 0 : -ENOMEM;
}

/* ------ swaps ------ */

static int add_swap(struct tree *tree, const char *path, struct tree_nodes *came)
{
        struct tree_node *swap = dm_hash_lookup(tree->swaps, path), *below;
        int r;

        if (swap) {
                swap->seen = true;
                return 0;
        }
        r = tree_add_node(tree, TREE_SWAP, path, &swap);
        if (r < 0)
                return r;
        swap->seen = true;
        if (!dm_hash_insert(tree->swaps, path, swap))
                return -ENOMEM;
        r = tree_nodes_add(came, swap);
        if (r < 0)
                return r;
        below = tree_find_below(tree, path);
        return below ? tree_hold(tree, below, swap) : 0;
}

/* ------ both ------ */

/* What the kernel says of them at one time. */
struct usage {
        struct mount_table mounts, swaps;
};

static int usage_read(int root_fd, struct usage *ret)
{
        int r = mount_table_read(root_fd, MOUNTINFO, &ret->mounts);

        return r < 0 ? r : mount_table_read(root_fd, SWAPS, &ret->swaps);
}

static void usage_done(struct usage *usage)
{
        mount_table_done(&usage->mounts);
        mount_table_done(&usage->swaps);
}

static int add_mounts(struct tree *tree, int root_fd, const struct mount_table *table, struct tree_nodes *came)
{
        int r;

        FOREACH_MOUNT(entry, table)
        {
                r = add_mount(tree, root_fd, entry, came);
                if (r < 0)
                        return r;
        }
        dm_hash_wipe(tree->mount_points);
        FOREACH_MOUNT(entry, table)
        {
                struct tree_node *mount = find_mount(tree, mnt_fs_get_id(entry));

                r = mount ? add_mount_point(tree, entry, mount) : 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_swaps(struct tree *tree, const struct mount_table *table, struct tree_nodes *came)
{
        FOREACH_MOUNT(entry, table)
        {
                int r = mnt_fs_get_source(entry) ? add_swap(tree, mnt_fs_get_source(entry), came) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

/* The tables only have what is there: what comes later under the same number or path is another node. */
static void forget(struct tree *tree, const struct tree_node *node)
{
        if (node->kind == TREE_SWAP)
                dm_hash_remove(tree->swaps, node->name);
        else if (find_mount(tree, (int) node->mount_id) == node)
                dm_hash_remove_binary(tree->mount_ids, &node->mount_id, sizeof(node->mount_id));
}

static int drop_unseen(struct tree *tree, struct tree_nodes *went)
{
        FOREACH_NODE(node, &tree->nodes) {
                int r;

                if (!tree_node_is_mount_or_swap(node) || node->state == TREE_GONE || node->seen)
                        continue;
                r = tree_nodes_add(went, node);
                if (r < 0)
                        return r;
                forget(tree, node);
                tree_node_gone(tree, node);
        }
        return 0;
}

static int update(struct tree *tree, int root_fd, const struct usage *usage, struct tree_nodes *went,
        struct tree_nodes *came)
{
        int r;

        FOREACH_NODE(node, &tree->nodes)
                node->seen = false;
        r = add_mounts(tree, root_fd, &usage->mounts, came);
        if (r >= 0)
                r = add_swaps(tree, &usage->swaps, came);
        return r < 0 ? r : drop_unseen(tree, went);
}

int tree_read_mounts(struct tree *tree, int root_fd, struct tree_nodes *went, struct tree_nodes *came)
{
        _cleanup_(usage_done) struct usage usage = {};
        int r;

        r = usage_read(root_fd, &usage);
        return r < 0 ? r : update(tree, root_fd, &usage, went, came);
}

/* ------ what the system cannot do without ------ */

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

/* `value` is that of an option of overlayfs: a path, or several with ":" between them. */
static int protect_layers(struct tree *tree, const char *value, size_t length)
{
        _cleanup_free_ char *paths = strndup(value, length);
        char *rest = paths;

        if (!paths)
                return -ENOMEM;
        for (const char *path; (path = strsep(&rest, ":"));) {
                struct tree_node *mount =
                        dm_hash_lookup(tree->mount_points, path) ?: tree_find_mount_of(tree, path);
                int r = mount && !mount->skip_reason ? protect_mount(mount) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

/* Where / is an overlay, as on live systems, what it is made of lies on other mounts. */
static int protect_layers_of_root(struct tree *tree, const struct mount_table *mounts)
{
        static const char *const options[] = {"lowerdir", "upperdir", "workdir"};
        struct libmnt_fs *root = mnt_table_find_target(mounts->table, "/", MNT_ITER_BACKWARD);

        if (!root || !mnt_fs_get_fstype(root) || !streq(mnt_fs_get_fstype(root), "overlay"))
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(options); i++) {
                size_t length;
                char *value;
                int r;

                if (mnt_fs_get_option(root, options[i], &value, &length) != 0 || !value)
                        continue;
                r = protect_layers(tree, value, length);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int protect_system(struct tree *tree, int root_fd, const struct usage *usage)
{
        int r;

        FOREACH_NODE(node, &tree->nodes) {
                r = node->kind == TREE_MOUNT && is_systems(node->name) ? protect_mount(node) : 0;
                if (r < 0)
                        return r;
        }
        r = protect_layers_of_root(tree, &usage->mounts);
        return r < 0 ? r : protect_mounts_of_initrd(tree, root_fd);
}

/* ------ all of it ------ */

int tree_add_usage(struct tree *tree, int root_fd)
{
        _cleanup_tree_nodes_ struct tree_nodes went = {}, came = {};
        _cleanup_(usage_done) struct usage usage = {};
        int r;

        r = usage_read(root_fd, &usage);
        if (r >= 0)
                r = update(tree, root_fd, &usage, &went, &came);
        if (r >= 0)
                r = tree_add_files(tree);
        return r < 0 ? r : protect_system(tree, root_fd, &usage);
}

int tree_read(int root_fd, struct tree **ret)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        _cleanup_tree_ struct tree *tree = NULL;
        int r;

        r = dm_devices_get(root_fd, &devices);
        if (r >= 0)
                r = dm_devices_read_details(devices);
        if (r >= 0)
                r = tree_new(&tree);
        if (r >= 0)
                r = tree_add_devices(tree, root_fd, devices);
        if (r >= 0)
                r = tree_add_usage(tree, root_fd);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(tree);
        return 0;
}
