/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/devices.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/major.h>
#include <sys/sysmacros.h>

#include "lvm/dm_devices.h"
#include "shared/util.h"
#include "tree/lvs.h"
#include "tree/sysfs.h"

/* Where all devices are that no hardware is behind; bcache is one of them. */
#define VIRTUAL_DEVICES "/devices/virtual/"

/* ------ device-mapper ------ */

static int add_dm_device(struct tree *tree, const struct dm_device *device)
{
        _cleanup_free_ char *kernel_name = string_format("dm-%u", minor(device->number));
        struct tree_node *node;
        int r;

        if (!kernel_name)
                return -ENOMEM;
        r = tree_add_device(tree, TREE_DM, kernel_name, device->number, &node);
        if (r >= 0)
                r = tree_set_dm(tree, node, device->name, device->uuid, device->target);
        if (r < 0)
                return r;
        node->suspended = device->suspended;
        node->read_only = device->read_only;
        return 0;
}

static int add_dm_devices(struct tree *tree, int root_fd)
{
        _cleanup_dm_devices_ struct dm_devices devices = {};
        int r;

        r = dm_devices_get(root_fd, &devices);
        if (r >= 0)
                r = dm_devices_read_details(&devices);
        for (size_t i = 0; r >= 0 && i < devices.n; i++)
                if (!tree_find_number(tree, devices.devices[i].number))
                        r = add_dm_device(tree, &devices.devices[i]);
        return r;
}

/* ------ all others ------ */

static int add_loop(struct tree *tree, int root_fd, const char *kernel_name, dev_t number)
{
        _cleanup_free_ char *file = NULL;
        struct tree_node *node;
        int r;

        r = sysfs_read_attribute(root_fd, number, "loop/backing_file", &file);
        if (r <= 0)
                return r;
        r = tree_add_device(tree, TREE_LOOP, kernel_name, number, &node);
        if (r < 0)
                return r;
        node->file = TAKE_PTR(file);
        return 0;
}

static int add_md(struct tree *tree, int root_fd, const char *kernel_name, dev_t number)
{
        _cleanup_free_ char *state = NULL;
        struct tree_node *node;
        int r;

        r = sysfs_read_attribute(root_fd, number, "md/array_state", &state);
        if (r <= 0 || streq(state, "clear"))
                return r;
        return tree_add_device(tree, TREE_MD, kernel_name, number, &node);
}

/* Whether it is a partition: 1, 0 or -ENOMEM. The directory of one lies in its disk's, whose name cannot be told
 * from that of another device; but most disks are in a directory "block". */
static int is_partition(int root_fd, dev_t number, const char *target, const char *kernel_name)
{
        static const char directory[] = "/block/";
        _cleanup_free_ char *partition = NULL;
        size_t length = strlen(directory);

        if ((size_t) (kernel_name - target) >= length && strncmp(kernel_name - length, directory, length) == 0)
                return 0;
        return sysfs_read_attribute(root_fd, number, "partition", &partition);
}

static int add_disk(struct tree *tree, const char *kernel_name, dev_t number, const char *target)
{
        struct tree_node *node;
        int r;

        r = tree_add_device(tree, TREE_DISK, kernel_name, number, &node);
        if (r < 0)
                return r;
        node->is_virtual = strstr(target, VIRTUAL_DEVICES) != NULL;
        return 0;
}

/* `target` is where the link /sys/dev/block/MAJOR:MINOR leads, to ".../block/sda/sda1" for instance. */
static int add_device(struct tree *tree, int root_fd, dev_t number, const char *target)
{
        const char *kernel_name = strrchr(target, '/');
        struct tree_node *node;
        int r;

        if (!kernel_name)
                return 0;
        kernel_name++;
        if (tree_find_kernel_name(tree, kernel_name))
                return 0;

        r = is_partition(root_fd, number, target, kernel_name);
        if (r < 0)
                return r;
        if (r > 0)
                return tree_add_device(tree, TREE_PARTITION, kernel_name, number, &node);
        /* What device-mapper does not list is on its way out. */
        if (skip_prefix(kernel_name, "dm-"))
                return 0;
        if (major(number) == LOOP_MAJOR)
                return add_loop(tree, root_fd, kernel_name, number);
        if (skip_prefix(kernel_name, "md"))
                return add_md(tree, root_fd, kernel_name, number);
        return add_disk(tree, kernel_name, number, target);
}

static int add_devices(struct tree *tree, int root_fd)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, SYSFS_BLOCK_DIRECTORY);
        int r = 0;

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));) {
                unsigned int major_number, minor_number;
                char target[PATH_MAX];
                ssize_t length;

                if (sscanf(entry->d_name, "%u:%u", &major_number, &minor_number) != 2 ||
                        tree_find_number(tree, makedev(major_number, minor_number)))
                        continue;
                length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
                if (length < 0)
                        continue;
                target[length] = '\0';
                /* The link of one that has gone may still be there. */
                if (faccessat(dirfd(directory), entry->d_name, F_OK, 0) == 0)
                        r = add_device(tree, root_fd, makedev(major_number, minor_number), target);
        }
        return r;
}

/* ------ what holds what ------ */

/* Links to devices, as the kernel lists them. A name that is not known is of one that came meanwhile, or has gone, and
 * then the link leads nowhere. */
static int add_listed_slaves(struct tree *tree, struct tree_node *node, int fd, const char *entries, size_t size)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < size;) {
                const struct dirent64 *entry = (const struct dirent64 *) (entries + i);
                struct tree_node *slave = tree_find_kernel_name(tree, entry->d_name);

                if (slave)
                        r = tree_add_edge(tree, slave, node);
                else if (entry->d_name[0] != '.')
                        node->has_lost |= faccessat(fd, entry->d_name, F_OK, 0) < 0 && errno == ENOENT;
                i += entry->d_reclen;
        }
        return r;
}

/* What it has links to in slaves/. Not with opendir(), which asks the kernel for three things more each time: there
 * may be thousands of these directories, with one or two links in each. */
static int add_slaves(struct tree *tree, int root_fd, struct tree_node *node)
{
        _Alignas(struct dirent64) char entries[2048];
        _cleanup_free_ char *path = sysfs_path(node->number, "slaves");
        _cleanup_close_ int fd = path ? openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;
        int r = path ? 0 : -ENOMEM;

        while (r >= 0 && fd >= 0) {
                ssize_t size = getdents64(fd, entries, sizeof(entries));

                if (size <= 0)
                        break;
                r = add_listed_slaves(tree, node, fd, entries, (size_t) size);
        }
        return r;
}

/* A partition's directory lies in its disk's. */
static int add_disk_of_partition(struct tree *tree, int root_fd, struct tree_node *node)
{
        _cleanup_free_ char *location = NULL;
        struct tree_node *disk;
        char *slash;
        int r;

        r = sysfs_read_location(root_fd, node->number, &location);
        if (r <= 0)
                return r;
        slash = strrchr(location, '/');
        if (slash)
                *slash = '\0';
        slash = strrchr(location, '/');
        disk = slash ? tree_find_kernel_name(tree, slash + 1) : NULL;
        return disk ? tree_add_edge(tree, disk, node) : 0;
}

/* An array whose metadata the firmware understands is part of a container, another array, of which sysfs says
 * nothing but "external:/md127/0" (or "-md127" while it is read-only). */
#define EXTERNAL "external:"

static int add_container_of_array(struct tree *tree, int root_fd, struct tree_node *node)
{
        _cleanup_free_ char *version = NULL;
        struct tree_node *container;
        char *name;
        int r;

        r = sysfs_read_attribute(root_fd, node->number, "md/metadata_version", &version);
        if (r <= 0 || !skip_prefix(version, EXTERNAL))
                return r;
        node->has_mdmon = true;
        name = version + strlen(EXTERNAL);
        if (*name != '/' && *name != '-')
                return 0;
        name++;
        name[strcspn(name, "/")] = '\0';
        container = tree_find_kernel_name(tree, name);
        return container ? tree_add_edge(tree, container, node) : 0;
}

/* What one device has in slaves/ the other one has in holders/, and reading directories is what takes the time:
 * the disks of a machine, which are most of its devices, lie on nothing. */
static bool may_have_slaves(const struct tree_node *node)
{
        return node->kind >= TREE_MULTIPATH || node->kind == TREE_MD ||
               (node->kind == TREE_DISK && node->is_virtual);
}

static int add_edges(struct tree *tree, int root_fd, struct tree_node *node)
{
        int r = 0;

        if (may_have_slaves(node))
                r = add_slaves(tree, root_fd, node);
        if (r >= 0 && node->kind == TREE_PARTITION)
                r = add_disk_of_partition(tree, root_fd, node);
        if (r >= 0 && node->kind == TREE_MD)
                r = add_container_of_array(tree, root_fd, node);
        return r;
}

int tree_read_devices(struct tree *tree, int root_fd)
{
        int r;

        r = add_dm_devices(tree, root_fd);
        if (r >= 0)
                r = add_devices(tree, root_fd);
        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++)
                r = add_edges(tree, root_fd, tree->nodes.nodes[i]);
        return r < 0 ? r : tree_add_lvm(tree);
}

int tree_add_files(struct tree *tree)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i], *below;

                if (!node->file)
                        continue;
                /* It may be a device, too. */
                below = tree_find_device_path(tree, node->file) ?: tree_find_mount_of(tree, node->file);
                if (below)
                        r = tree_add_edge(tree, below, node);
        }
        return r;
}
