/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The block devices of a storage tree: which there are, what each is, and which holds which. */

#include "tree/devices.h"

#include <fcntl.h>
#include <linux/major.h>
#include <sys/sysmacros.h>

#include "shared/kernel.h"
#include "shared/util.h"

/* Where all devices are that no hardware is behind; bcache is one of them. */
#define VIRTUAL_DEVICES "/devices/virtual/"

/* All that have a size, in whole KiB (the kernel's block/genhd.c). */
#define PARTITIONS "proc/partitions"

/* ------ device-mapper ------ */

static int add_dm_device(struct tree *tree, const struct dm_device *device, struct tree_node **ret)
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
        *ret = node;
        return 0;
}

int tree_add_single_device(struct tree *tree, const struct dm_devices *devices, const char *kernel_name,
        dev_t number, struct tree_node **ret)
{
        const struct dm_device *device = dm_devices_find(devices, number);

        *ret = tree_find_number(tree, number);
        if (*ret)
                return 0;
        return device ? add_dm_device(tree, device, ret)
                      : tree_add_device(tree, TREE_DISK, kernel_name, number, ret);
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
        if (r < 0 || (state && streq(state, "clear")))
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

/* Of a device that is not in the tree yet, by where its link leads, to ".../block/sda/sda1" for instance. One that has gone
 * has no link any more. */
static int add_by_link(struct tree *tree, int root_fd, dev_t number)
{
        _cleanup_free_ char *target = NULL;
        const char *kernel_name;
        struct tree_node *node;
        int r;

        r = sysfs_read_location(root_fd, number, &target);
        if (r <= 0)
                return r;
        kernel_name = strrchr(target, '/');
        if (!kernel_name || tree_find_kernel_name(tree, ++kernel_name))
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

/* Those without a size, as a loop device has none before it has a file. */
static int add_empty_devices(struct tree *tree, int root_fd)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, SYSFS_BLOCK_DIRECTORY);

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        for (const struct dirent *entry; (entry = readdir(directory));) {
                dev_t number;
                int r = parse_device_number(entry->d_name, &number);

                /* The link of one that has gone may still be there. */
                if (r == -EINVAL ||
                        (r >= 0 && (tree_find_number(tree, number) || !sysfs_has_device(root_fd, number))))
                        continue;
                if (r >= 0)
                        r = add_by_link(tree, root_fd, number);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ all that have a size ------ */

/* A whole one: the kernel has 16 numbers for each in these majors (Documentation/admin-guide/devices.txt). */
static bool is_scsi_disk(dev_t number)
{
        unsigned int kind = major(number);

        return minor(number) % 16 == 0 &&
               (kind == SCSI_DISK0_MAJOR || (kind >= SCSI_DISK1_MAJOR && kind <= SCSI_DISK7_MAJOR) ||
                       (kind >= SCSI_DISK8_MAJOR && kind <= SCSI_DISK15_MAJOR));
}

/* A number, maybe behind spaces, which a space follows. Not with sscanf(), for there are thousands. */
static bool read_number(const char **text, uint64_t *ret)
{
        char *rest;

        *ret = strtoull(*text, &rest, 10);
        if (rest == *text || *rest != ' ')
                return false;
        *text = rest + 1;
        return true;
}

/* "   8        0     102400 sda". Lines of another kind are the heading. Of a SCSI disk, as most are on a machine that
 * has many, there is nothing more to be found out. */
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
                r = is_scsi_disk(number) ? add_disk(tree, line, number, "") : add_by_link(tree, root_fd, number);
        node = tree_find_number(tree, number);
        if (node)
                node->size = kib * 1024;
        return r;
}

/* A tree that was captured elsewhere may be without the file, and then nothing is known of sizes. */
static int add_others(struct tree *tree, int root_fd)
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
        FOREACH_NODE(node, &tree->nodes)
                if (result >= 0 && node->size == TREE_SIZE_UNKNOWN)
                        node->size = 0;
        return r;
}

/* ------ what holds what ------ */

/* What it has links to in slaves/. A name that is not known is of a device that came meanwhile, or has gone, and then
 * the link leads nowhere. */
static int add_slaves(struct tree *tree, int root_fd, struct tree_node *node)
{
        _cleanup_free_ char *path = sysfs_path(node->number, "slaves");
        _cleanup_closedir_ DIR *directory = path ? open_directory_at(root_fd, path) : NULL;

        if (!path)
                return -ENOMEM;
        for (const struct dirent *entry; directory && (entry = readdir(directory));) {
                struct tree_node *slave = tree_find_kernel_name(tree, entry->d_name);
                int r = slave ? tree_add_edge(slave, node) : 0;

                if (r < 0)
                        return r;
                if (!slave && entry->d_name[0] != '.')
                        node->has_lost |=
                                faccessat(dirfd(directory), entry->d_name, F_OK, 0) < 0 && errno == ENOENT;
        }
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
                struct tree_node *lower = tree_find_number(tree, lowers[i]);
                int r = lower ? tree_add_edge(lower, node) : 0;

                if (r < 0)
                        return r;
                node->has_lost |= !lower && !sysfs_has_device(root_fd, lowers[i]);
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
        return disk ? tree_add_edge(disk, node) : 0;
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
        return container ? tree_add_edge(container, node) : 0;
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

/* ------ LVs ------ */

/* An LV of the same VG below an LV is what it is made of; anything else is a PV. */
static bool has_other_vg_above(const struct tree_node *node)
{
        FOREACH_NODE(upper, &node->uppers)
                if (upper->vg && !tree_are_in_one_vg(node, upper))
                        return true;
        return false;
}

/* Both lie on the origin's data. */
static int add_snapshots(const struct tree_node *data)
{
        FOREACH_NODE(origin, &data->uppers)
                FOREACH_NODE(snapshot, &data->uppers)
                        if (origin->kind == TREE_LV_ORIGIN && snapshot->kind == TREE_LV_SNAPSHOT) {
                                int r = tree_add_edge(snapshot, origin);

                                if (r < 0)
                                        return r;
                        }
        return 0;
}

/* What sysfs does not say of LVs: which nodes are PVs, and that an origin holds its snapshots. The kernel would let go
 * of a snapshot at any time, but what is written to the origin after that would be missing in it, and it would have
 * lost its meaning when it is activated again. */
static int add_lvm(struct tree *tree)
{
        FOREACH_NODE(node, &tree->nodes) {
                int r = node->kind == TREE_LV_ORIGIN_DATA ? add_snapshots(node) : 0;

                if (r < 0)
                        return r;
                node->is_pv = has_other_vg_above(node);
        }
        return 0;
}

int tree_add_devices(struct tree *tree, int root_fd, const struct dm_devices *devices)
{
        struct tree_node *node;
        int r = 0;

        for (size_t i = 0; r >= 0 && devices && i < devices->n; i++)
                if (!tree_find_number(tree, devices->devices[i].number))
                        r = add_dm_device(tree, &devices->devices[i], &node);
        if (r >= 0)
                r = add_others(tree, root_fd);
        if (r < 0)
                return r;
        FOREACH_NODE(each, &tree->nodes) {
                r = add_edges(tree, root_fd, devices, each);
                if (r < 0)
                        return r;
        }
        return add_lvm(tree);
}

/* ------ what lies on some devices ------ */

/* Returns 1 and the number of what the directory of a device has a link to or a directory of, 0, or -ENOMEM. */
static int read_entry(int root_fd, dev_t device, const char *directory, const char *name, dev_t *ret)
{
        _cleanup_free_ char *attribute = string_format("%s/%s/dev", directory, name), *text = NULL;
        int r = attribute ? sysfs_read_attribute(root_fd, device, attribute, &text) : -ENOMEM;

        if (r <= 0)
                return r;
        r = parse_device_number(text, ret);
        return r == -EINVAL ? 0 : r < 0 ? r : 1;
}

/* Those in a directory of the node's in sysfs whose names begin with `prefix`. */
static int add_holders_in(struct tree *tree, int root_fd, const struct dm_devices *devices, struct tree_node *node,
        const char *directory_name, const char *prefix)
{
        _cleanup_free_ char *path = sysfs_path(node->number, directory_name);
        _cleanup_closedir_ DIR *directory = path ? open_directory_at(root_fd, path) : NULL;

        if (!path)
                return -ENOMEM;
        for (const struct dirent *entry; directory && (entry = readdir(directory));) {
                struct tree_node *holder;
                dev_t number;
                int r;

                if (entry->d_name[0] == '.' || !skip_prefix(entry->d_name, prefix))
                        continue;
                r = read_entry(root_fd, node->number, directory_name, entry->d_name, &number);
                if (r == 0)
                        continue;
                if (r > 0)
                        r = tree_add_single_device(tree, devices, entry->d_name, number, &holder);
                if (r >= 0)
                        r = tree_add_edge(node, holder);
                if (r < 0)
                        return r;
        }
        return 0;
}

int tree_add_holders(struct tree *tree, int root_fd, const struct dm_devices *devices)
{
        /* The list of nodes grows meanwhile. */
        for (size_t i = 0; i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];
                int r = add_holders_in(tree, root_fd, devices, node, "holders", "");

                /* The partitions of a disk. */
                if (r >= 0 && node->kind == TREE_DISK)
                        r = add_holders_in(tree, root_fd, devices, node, ".", node->kernel_name);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ files ------ */

int tree_add_files(struct tree *tree)
{
        FOREACH_NODE(node, &tree->nodes) {
                /* It may be a device, too. */
                struct tree_node *below = node->file ? tree_find_below(tree, node->file) : NULL;
                int r = below ? tree_add_edge(below, node) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}
