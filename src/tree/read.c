/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the storage tree: adds mounts and swaps to the devices of devices.c, and skips nodes that the running system needs. */

#include "tree/read.h"

#include <fcntl.h>

#include "shared/kernel.h"
#include "shared/program.h"
#include "shared/util.h"
#include "tree/order.h"

/* ------ mounts ------ */

int tree_find_btrfs_devices(const struct tree *tree, const struct tree_node *device, struct tree_nodes *ret)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(tree->root_fd, "sys/fs/btrfs");

        FOREACH_ENTRY(uuid, directory) {
                _cleanup_closedir_ DIR *devices =
                        open_directory_at(dirfd(directory), path_format("%s/devices", uuid).text);

                if (!devices || faccessat(dirfd(devices), device->kernel_name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                FOREACH_ENTRY(name, devices) {
                        struct tree_node *member = tree_find_kernel_name(tree, name);

                        if (member && tree_nodes_add(ret, member) < 0)
                                return -ENOMEM;
                }
                return 0;
        }
        return 0;
}

/* A file system that is not on a single device has a number of its own, and only the name of its source. */
static void add_devices_of_mount(struct tree *tree, struct libmnt_fs *entry, struct tree_node *mount)
{
        const char *type = mnt_fs_get_fstype(entry);
        struct tree_node *device = tree_find_number(tree, mount->number);
        _cleanup_tree_nodes_ struct tree_nodes members = {};

        if (!device && mnt_fs_get_srcpath(entry))
                device = tree_find_device_path(tree, mnt_fs_get_srcpath(entry));
        tree_add_edge(tree, device, mount);
        if (device && type && streq(type, "btrfs"))
                tree_fail(tree, tree_find_btrfs_devices(tree, device, &members));
        FOREACH_NODE(member, &members)
                tree_add_edge(tree, member, mount);
}

static struct tree_node *find_mount(const struct tree *tree, int id)
{
        uint64_t key = (uint64_t) id;

        return dm_hash_lookup_binary(tree->mount_ids, &key, sizeof(key));
}

static void add_mount(struct tree *tree, struct libmnt_fs *entry)
{
        const char *target = mnt_fs_get_target(entry), *type = mnt_fs_get_fstype(entry);
        struct tree_node *mount = find_mount(tree, mnt_fs_get_id(entry));

        if (!target)
                return;
        /* Mount IDs are reused. */
        if (!mount || mount->number != mnt_fs_get_devno(entry) || !streq(mount->name, target)) {
                mount = tree_add_node(tree, TREE_MOUNT, target);
                if (!mount)
                        return;
                mount->mount_id = (uint64_t) mnt_fs_get_id(entry);
                mount->number = mnt_fs_get_devno(entry);
                mount->is_nfs = mnt_fs_is_netfs(entry);
                if (type && streq(type, "overlay"))
                        mount->layers = tree_printf(tree, "%s", mnt_fs_get_options(entry) ?: "");
                if (!dm_hash_insert_binary(tree->mount_ids, &mount->mount_id, sizeof(mount->mount_id), mount))
                        tree_fail(tree, -ENOMEM);
                add_devices_of_mount(tree, entry, mount);
        }
        mount->seen_at = tree->n_reads;
}

/* Of several mounts at one place, the last one counts, unless another one is mounted on it. */
static void add_mount_point(struct tree *tree, struct libmnt_fs *entry)
{
        struct tree_node *mount = find_mount(tree, mnt_fs_get_id(entry));
        const struct tree_node *other = mount ? dm_hash_lookup(tree->mount_points, mount->name) : NULL;

        if (!mount)
                return;
        tree_add_edge(tree, find_mount(tree, mnt_fs_get_parent_id(entry)), mount);
        if (!other || !tree_nodes_have(&other->lowers, mount))
                if (!dm_hash_insert(tree->mount_points, mount->name, mount))
                        tree_fail(tree, -ENOMEM);
}

/* ------ swaps and loop devices ------ */

/* Adds the edge from the device with this path, or from the mount of the file. */
static void add_edge_from_path(struct tree *tree, const char *path, struct tree_node *upper)
{
        tree_add_edge(tree, tree_find_device_path(tree, path) ?: tree_find_mount_of(tree, path), upper);
}

static void add_swap(struct tree *tree, const char *path)
{
        struct tree_node *swap = NULL;

        FOREACH_NODE(node, &tree->nodes)
                if (node->kind == TREE_SWAP && node->state != TREE_GONE && streq(node->name, path))
                        swap = node;
        if (!swap) {
                swap = tree_add_node(tree, TREE_SWAP, path);
                add_edge_from_path(tree, path, swap);
        }
        if (swap)
                swap->seen_at = tree->n_reads;
}

/* ------ both ------ */

/* A later mount or swap with the same number is another node. */
static bool drop_unseen(struct tree *tree)
{
        bool dropped = false;

        FOREACH_NODE(node, &tree->nodes) {
                if (!tree_node_is_mount_or_swap(node) || node->state == TREE_GONE ||
                        node->seen_at == tree->n_reads)
                        continue;
                if (node->kind == TREE_MOUNT && find_mount(tree, (int) node->mount_id) == node)
                        dm_hash_remove_binary(tree->mount_ids, &node->mount_id, sizeof(node->mount_id));
                tree_node_gone(tree, node);
                dropped = true;
        }
        return dropped;
}

int tree_read_mounts(struct tree *tree)
{
        _cleanup_mount_table_ struct mount_table mounts = {}, swaps = {};
        bool dropped;
        int r = mount_table_read(tree->root_fd, "proc/self/mountinfo", &mounts);

        if (r >= 0)
                r = mount_table_read(tree->root_fd, "proc/swaps", &swaps);
        if (r < 0)
                return r;
        tree->n_reads++;
        FOREACH_MOUNT(entry, &mounts)
                add_mount(tree, entry);
        dm_hash_wipe(tree->mount_points);
        FOREACH_MOUNT(entry, &mounts)
                add_mount_point(tree, entry);
        FOREACH_MOUNT(entry, &swaps)
                if (mnt_fs_get_source(entry))
                        add_swap(tree, mnt_fs_get_source(entry));
        dropped = drop_unseen(tree);
        return tree->error ?: dropped;
}

/* ------ nodes that the running system needs ------ */

#define NEXT_ROOT "/run/nextroot"

/* Finds where NEXT_ROOT leads, or is to be. Returns 0 or -ENOMEM. */
static int find_next_root(const struct tree *tree, char **ret)
{
        _cleanup_free_ char *root = NULL, *target = NULL;
        int r = resolve_path_at(tree->root_fd, ".", &root)
                        ?: resolve_path_at(tree->root_fd, root_relative(NEXT_ROOT), &target);
        const char *path = r >= 0 ? skip_prefix(target, streq(root, "/") ? "" : root) : NULL;

        return r == -ENOMEM ? r : string_replace(ret, strdup(path ?: NEXT_ROOT));
}

static bool is_systems(const char *mount_point, const char *next_root)
{
        return streq(mount_point, "/") || streq(mount_point, "/usr") || streq(mount_point, "/etc") ||
               streq(mount_point, "/sysroot") || path_is_at_or_below(mount_point, "/run/initramfs") ||
               path_is_at_or_below(mount_point, next_root);
}

static void protect(struct tree *tree, struct tree_node *mount)
{
        tree_skip(mount, tree_printf(tree, "%s stays mounted", mount->name));
}

/* If / is an overlay, as on live systems, its layers are on other mounts, at the paths in its options, separated by ":". */
static void protect_layers_of_root(struct tree *tree)
{
        static const char *const options[] = {"lowerdir", "upperdir", "workdir"};
        const struct tree_node *root = dm_hash_lookup(tree->mount_points, "/");

        FOREACH_ARRAY(option, options, root && root->layers ? ELEMENTSOF(options) : 0) {
                _cleanup_free_ char *paths = NULL;
                size_t length;
                char *value, *rest;

                if (mnt_optstr_get_option(root->layers, *option, &value, &length) != 0 || !value)
                        continue;
                rest = paths = strndup(value, length);
                if (!paths)
                        tree_fail(tree, -ENOMEM);
                for (const char *path; (path = strsep(&rest, ":"));) {
                        struct tree_node *mount =
                                dm_hash_lookup(tree->mount_points, path) ?: tree_find_mount_of(tree, path);

                        if (mount)
                                protect(tree, mount);
                }
        }
}

/* An unreadable fstab has no entries; systemd could not read it, either. */
static void protect_mounts_of_initrd(struct tree *tree)
{
        _cleanup_mount_table_ struct mount_table table = {};

        if (mount_table_read(tree->root_fd, "etc/fstab", &table) == -ENOMEM)
                tree_fail(tree, -ENOMEM);
        FOREACH_MOUNT(entry, &table) {
                const char *target = mnt_fs_get_target(entry);
                struct tree_node *mount = target ? dm_hash_lookup(tree->mount_points, target) : NULL;

                if (mount && mnt_fs_get_option(entry, "x-initrd.mount", NULL, NULL) == 0)
                        protect(tree, mount);
        }
}

/* Protects devices of the initrd: lines "NAME DEVICE KEY OPTIONS" of crypttab, "NAME DATA HASH ROOTHASH OPTIONS" of veritytab. */
static void protect_devices_of_initrd(struct tree *tree)
{
        static const char *const paths[] = {"etc/crypttab", "etc/veritytab"};

        FOREACH_ELEMENT(path, paths) {
                _cleanup_free_ char *text = NULL;

                if (read_file_at(tree->root_fd, *path, &text, NULL) == -ENOMEM)
                        tree_fail(tree, -ENOMEM);
                FOREACH_CRYPTTAB_LINE(line, text) {
                        struct tree_node *device = dm_hash_lookup(tree->dm_names, line.fields[0]);
                        const char *options = line.fields[3 + (path - paths)];

                        if (device && options &&
                                mnt_optstr_get_option(options, "x-initrd.attach", NULL, NULL) == 0)
                                tree_skip(device, tree_printf(tree, "%s stays attached", device->name));
                }
        }
}

int tree_add_usage(struct tree *tree)
{
        _cleanup_free_ char *next_root = NULL;
        int r = find_next_root(tree, &next_root);

        if (r >= 0)
                r = tree_read_mounts(tree);
        if (r < 0)
                return r;
        FOREACH_NODE(node, &tree->nodes)
                /* A file may also be a device. */
                if (node->file)
                        add_edge_from_path(tree, node->file, node);
        FOREACH_NODE(node, &tree->nodes)
                if (node->kind == TREE_MOUNT && is_systems(node->name, next_root))
                        protect(tree, node);
        protect_layers_of_root(tree);
        protect_mounts_of_initrd(tree);
        protect_devices_of_initrd(tree);
        return tree->error;
}

int tree_read(int root_fd, struct tree **ret)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        _cleanup_tree_ struct tree *tree = NULL;
        int r = dm_devices_get_at(root_fd, &devices)
                ?: dm_devices_read_details(devices)
                ?: tree_new(root_fd, &tree)
                ?: tree_add_devices(tree, devices)
                ?: tree_add_usage(tree);

        if (r < 0)
                return r;
        *ret = TAKE_PTR(tree);
        return 0;
}
