/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/devices.h"

#include <fcntl.h>
#include <linux/major.h>
#include <sys/sysmacros.h>

#include "lvm/dm_devices.h"
#include "shared/util.h"
#include "tree/lvs.h"
#include "tree/sysfs.h"

/* Where all devices are that no hardware is behind; bcache is one of them. */
#define VIRTUAL_DEVICES "/devices/virtual/"

/* All that have a size, in whole KiB (the kernel's block/genhd.c). */
#define PARTITIONS "proc/partitions"

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

static int add_dm_devices(struct tree *tree, const struct dm_devices *devices)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < devices->n; i++)
                if (!tree_find_number(tree, devices->devices[i].number))
                        r = add_dm_device(tree, &devices->devices[i]);
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

/* Of a device that is not in the tree yet. One that has gone has no link any more. */
static int add_by_link(struct tree *tree, int root_fd, dev_t number)
{
        _cleanup_free_ char *target = NULL;
        int r;

        r = sysfs_read_location(root_fd, number, &target);
        return r <= 0 ? r : add_device(tree, root_fd, number, target);
}

/* Those without a size, as a loop device has none before it has a file. */
static int add_empty_devices(struct tree *tree, int root_fd)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, SYSFS_BLOCK_DIRECTORY);
        int r = 0;

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));) {
                unsigned int major_number, minor_number;
                char end;

                if (sscanf(entry->d_name, "%u:%u%c", &major_number, &minor_number, &end) == 2 &&
                        !tree_find_number(tree, makedev(major_number, minor_number)) &&
                        /* The link of one that has gone may still be there. */
                        faccessat(dirfd(directory), entry->d_name, F_OK, 0) == 0)
                        r = add_by_link(tree, root_fd, makedev(major_number, minor_number));
        }
        return r;
}

/* ------ all that have a size ------ */

/* A number behind spaces, and where it ends. */
static bool read_number(const char **text, uint64_t *ret)
{
        char *end;

        *ret = strtoull(*text, &end, 10);
        if (end == *text || *end != ' ')
                return false;
        *text = end;
        return true;
}

/* A whole one: the kernel has 16 numbers for each in these majors (Documentation/admin-guide/devices.txt). */
static bool is_scsi_disk(dev_t number)
{
        unsigned int kind = major(number);

        return minor(number) % 16 == 0 &&
               (kind == SCSI_DISK0_MAJOR || (kind >= SCSI_DISK1_MAJOR && kind <= SCSI_DISK7_MAJOR) ||
                       (kind >= SCSI_DISK8_MAJOR && kind <= SCSI_DISK15_MAJOR));
}

/* "   8        0     102400 sda". Lines of another kind are the heading. Most disks of a machine that has many are SCSI
 * disks, and of these there is nothing more to be found out. */
static int add_line(struct tree *tree, int root_fd, const char *line)
{
        uint64_t major_number, minor_number, kib;
        struct tree_node *node;
        dev_t number;
        int r = 0;

        if (!read_number(&line, &major_number) || !read_number(&line, &minor_number) || !read_number(&line, &kib))
                return 0;
        number = makedev((unsigned int) major_number, (unsigned int) minor_number);
        if (!tree_find_number(tree, number))
                r = is_scsi_disk(number) ? add_disk(tree, line + 1, number, "")
                                         : add_by_link(tree, root_fd, number);
        node = tree_find_number(tree, number);
        if (node)
                node->size = kib * 1024;
        return r;
}

/* A tree that was captured elsewhere may be without the file, and then nothing is known of sizes. */
static int add_devices(struct tree *tree, int root_fd)
{
        _cleanup_free_ char *text = NULL;
        char *rest;
        int result, r = 0;

        result = read_file_at(root_fd, PARTITIONS, &text, NULL);
        if (result == -ENOMEM)
                return result;
        rest = text;
        for (const char *line; r >= 0 && (line = strsep(&rest, "\n"));)
                r = add_line(tree, root_fd, line);
        if (r >= 0)
                r = add_empty_devices(tree, root_fd);
        for (size_t i = 0; result >= 0 && i < tree->nodes.n; i++)
                if (tree->nodes.nodes[i]->size == TREE_SIZE_UNKNOWN)
                        tree->nodes.nodes[i]->size = 0;
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

/* What it has links to in slaves/. Not with opendir(), which asks the kernel for three things more each time. */
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

/* A number that is not in the tree is of a device that came meanwhile, or has gone. */
static int add_lower(struct tree *tree, int root_fd, dev_t number, struct tree_node *node)
{
        struct tree_node *lower = tree_find_number(tree, number);
        _cleanup_free_ char *path = NULL;

        if (lower)
                return tree_add_edge(tree, lower, node);
        path = sysfs_path(number, "");
        if (!path)
                return -ENOMEM;
        node->has_lost |= faccessat(root_fd, path, F_OK, 0) < 0 && errno == ENOENT;
        return 0;
}

/* Device-mapper says the same at a quarter of the price, which counts where there are thousands. */
static int add_lowers(struct tree *tree, int root_fd, const struct dm_devices *devices, struct tree_node *node)
{
        dev_t lowers[DM_LOWERS_MAX];
        size_t n;

        if (node->kind < TREE_MULTIPATH || !dm_devices_read_lowers(devices, node->number, lowers, &n))
                return add_slaves(tree, root_fd, node);
        for (size_t i = 0; i < n; i++) {
                int r = add_lower(tree, root_fd, lowers[i], node);

                if (r < 0)
                        return r;
        }
        return 0;
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

static int add_edges(struct tree *tree, int root_fd, const struct dm_devices *devices, struct tree_node *node)
{
        int r = 0;

        if (may_have_slaves(node))
                r = add_lowers(tree, root_fd, devices, node);
        if (r >= 0 && node->kind == TREE_PARTITION)
                r = add_disk_of_partition(tree, root_fd, node);
        if (r >= 0 && node->kind == TREE_MD)
                r = add_container_of_array(tree, root_fd, node);
        return r;
}

int tree_read_devices(struct tree *tree, int root_fd)
{
        _cleanup_dm_devices_ struct dm_devices devices = {};
        int r;

        r = dm_devices_get(root_fd, &devices);
        if (r >= 0)
                r = dm_devices_read_details(&devices);
        if (r >= 0)
                r = add_dm_devices(tree, &devices);
        if (r >= 0)
                r = add_devices(tree, root_fd);
        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++)
                r = add_edges(tree, root_fd, &devices, tree->nodes.nodes[i]);
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
