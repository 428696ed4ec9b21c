/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The block devices of a storage tree, their kinds, and the edges between them. */

#include "tree/read.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/major.h>
#include <sys/sysmacros.h>

#include "shared/kernel.h"
#include "shared/util.h"
#include "tree/walk.h"

/* Directory of devices without hardware, such as bcache. */
#define VIRTUAL_DEVICES "/devices/virtual/"

/* Devices with a size, in whole KiB (the kernel's block/genhd.c). */
#define PARTITIONS "proc/partitions"

/* Reads a sysfs attribute, to be freed by the caller; NULL if there is none. */
static char *read_attribute(struct tree *tree, dev_t number, const char *name)
{
        char *value = NULL;

        tree_fail(tree, sysfs_read_attribute(tree->root_fd, number, name, &value));
        return value;
}

static DIR *open_directory(const struct tree *tree, dev_t number, const char *name)
{
        return open_directory_at(tree->root_fd, sysfs_path(number, name).text);
}

/* ------ nodes ------ */

static void add_dm_device(struct tree *tree, const struct dm_device *device)
{
        const char *kernel_name = tree_printf(tree, "dm-%u", minor(device->number));
        struct tree_node *node = tree_add_device(tree, TREE_DM, kernel_name, device->number);

        if (!node)
                return;
        tree_set_dm(tree, node, device->name, device->uuid, device->target);
        node->suspended = device->suspended;
        node->read_only = device->read_only;
}

static void add_disk(struct tree *tree, const char *kernel_name, dev_t number, const char *target)
{
        struct tree_node *node = tree_add_device(tree, TREE_DISK, kernel_name, number);

        if (node)
                node->is_virtual = strstr(target, VIRTUAL_DEVICES) != NULL;
}

/* The directory of a partition is in that of its disk, which may have any name. But most disks are in a directory "block", so
 * they are no partitions. */
static bool is_partition(struct tree *tree, dev_t number, const char *target, const char *kernel_name)
{
        static const char directory[] = "/block/";
        _cleanup_free_ char *partition = NULL;
        size_t length = strlen(directory);

        if ((size_t) (kernel_name - target) >= length && strncmp(kernel_name - length, directory, length) == 0)
                return false;
        partition = read_attribute(tree, number, "partition");
        return partition != NULL;
}

/* Adds a device that is not in the tree yet, by the target of its link, such as ".../block/sda/sda1". A removed device has no
 * link. */
static void add_by_link(struct tree *tree, dev_t number)
{
        _cleanup_free_ char *target = NULL, *file = NULL, *state = NULL;
        const char *kernel_name;
        struct tree_node *node;

        tree_fail(tree, sysfs_read_location(tree->root_fd, number, &target));
        kernel_name = target ? strrchr(target, '/') : NULL;
        if (!kernel_name || tree_find_kernel_name(tree, ++kernel_name))
                return;
        if (is_partition(tree, number, target, kernel_name)) {
                tree_add_device(tree, TREE_PARTITION, kernel_name, number);
        } else if (skip_prefix(kernel_name, "dm-")) {
                return; /* device-mapper does not list it any more */
        } else if (major(number) == LOOP_MAJOR) {
                file = read_attribute(tree, number, "loop/backing_file");
                node = file ? tree_add_device(tree, TREE_LOOP, kernel_name, number) : NULL;
                if (node)
                        node->file = tree_printf(tree, "%s", file);
        } else if (skip_prefix(kernel_name, "md")) {
                state = read_attribute(tree, number, "md/array_state");
                if (!state || !streq(state, "clear"))
                        tree_add_device(tree, TREE_MD, kernel_name, number);
        } else {
                add_disk(tree, kernel_name, number, target);
        }
}

/* Adds devices without a size, such as an empty drive, or a container of md arrays. */
static int add_empty_devices(struct tree *tree)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(tree->root_fd, SYSFS_BLOCK_DIRECTORY);

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        FOREACH_ENTRY(name, directory) {
                dev_t number;
                int r = parse_device_number(name, &number);

                if (r == -ENOMEM)
                        return r;
                /* The link of a removed device may still exist. */
                if (r >= 0 && !tree_find_number(tree, number) && sysfs_has_device(tree->root_fd, number))
                        add_by_link(tree, number);
        }
        return 0;
}

/* Whether it is a whole SCSI disk: in these majors, each has 16 numbers (Documentation/admin-guide/devices.txt). */
static bool is_scsi_disk(dev_t number)
{
        unsigned int kind = major(number);

        return minor(number) % 16 == 0 &&
               (kind == SCSI_DISK0_MAJOR || (kind >= SCSI_DISK1_MAJOR && kind <= SCSI_DISK7_MAJOR) ||
                       (kind >= SCSI_DISK8_MAJOR && kind <= SCSI_DISK15_MAJOR));
}

/* Adds a line " 8 0 102400 sda"; ignores the heading. A SCSI disk, as most are on a machine with many disks, needs no further
 * reads. */
static void add_line(struct tree *tree, const char *line)
{
        unsigned int major_number, minor_number;
        struct tree_node *node;
        int name_at = 0;
        uint64_t kib;
        dev_t number;

        if (sscanf(line, "%u %u %" SCNu64 " %n", &major_number, &minor_number, &kib, &name_at) != 3)
                return;
        number = makedev(major_number, minor_number);
        if (!tree_find_number(tree, number) && is_scsi_disk(number))
                add_disk(tree, line + name_at, number, "");
        else if (!tree_find_number(tree, number))
                add_by_link(tree, number);
        node = tree_find_number(tree, number);
        if (node)
                node->size = kib * 1024;
}

/* Adds devices that are not device-mapper's. A captured tree may lack the file; then sizes are unknown. */
static int add_others(struct tree *tree)
{
        _cleanup_free_ char *text = NULL;
        int result, r;

        result = read_file_at(tree->root_fd, PARTITIONS, &text, NULL);
        if (result == -ENOMEM)
                return result;
        FOREACH_LINE(line, text)
                add_line(tree, line);
        r = add_empty_devices(tree);
        FOREACH_NODE(node, &tree->nodes)
                if (result >= 0 && node->size == TREE_SIZE_UNKNOWN)
                        node->size = 0;
        return r;
}

/* ------ edges ------ */

/* Adds edges from its links in slaves/. An unknown name belongs to a new device, or to a removed one with a dangling link. */
static void add_slaves(struct tree *tree, struct tree_node *node)
{
        _cleanup_closedir_ DIR *directory = open_directory(tree, node->number, "slaves");

        FOREACH_ENTRY(name, directory) {
                struct tree_node *slave = tree_find_kernel_name(tree, name);

                tree_add_edge(tree, slave, node);
                node->has_lost |= !slave && faccessat(dirfd(directory), name, F_OK, 0) < 0 && errno == ENOENT;
        }
}

/* Device-mapper's list has the same edges at a quarter of the cost, which counts with thousands of devices. */
static void add_lowers(struct tree *tree, const struct dm_devices *devices, struct tree_node *node)
{
        dev_t lowers[DM_LOWERS_MAX];
        size_t n;

        if (node->kind < TREE_MULTIPATH || !dm_devices_read_lowers(devices, node->number, lowers, &n)) {
                add_slaves(tree, node);
                return;
        }
        FOREACH_ARRAY(number, lowers, n) {
                struct tree_node *lower = tree_find_number(tree, *number);

                tree_add_edge(tree, lower, node);
                node->has_lost |= !lower && !sysfs_has_device(tree->root_fd, *number);
        }
}

/* A partition's directory is in that of its disk. */
static void add_disk_of_partition(struct tree *tree, struct tree_node *node)
{
        _cleanup_free_ char *location = NULL;
        char *slash;

        tree_fail(tree, sysfs_read_location(tree->root_fd, node->number, &location));
        slash = location ? strrchr(location, '/') : NULL;
        if (!slash)
                return;
        *slash = '\0';
        slash = strrchr(location, '/');
        if (slash)
                tree_add_edge(tree, tree_find_kernel_name(tree, slash + 1), node);
}

/* An array with firmware metadata is part of a container, which is another array. sysfs has this relation only as
 * "external:/md127/0" (or "-md127" while read-only). */
static void add_container_of_array(struct tree *tree, struct tree_node *node)
{
        _cleanup_free_ char *version = read_attribute(tree, node->number, "md/metadata_version");
        const char *external = version ? skip_prefix(version, "external:") : NULL;

        node->has_mdmon = external;
        if (external && (*external == '/' || *external == '-'))
                tree_add_edge(tree,
                        tree_find_kernel_name(
                                tree, path_format("%.*s", (int) strcspn(external + 1, "/"), external + 1).text),
                        node);
}

/* sysfs does not show that an origin has to be removed before its snapshots. The kernel would remove a snapshot at any time. But
 * it would miss later writes to the origin, and be useless when activated again. */
static void add_snapshots(struct tree *tree, const struct tree_node *data)
{
        FOREACH_NODE(origin, &data->uppers)
                if (origin->kind == TREE_LV_ORIGIN)
                        FOREACH_NODE(snapshot, &data->uppers)
                                if (snapshot->kind == TREE_LV_SNAPSHOT)
                                        tree_add_edge(tree, snapshot, origin);
}

bool dm_device_is_visible_lv(const struct dm_device *device)
{
        return device->vg && strlen(device->uuid) >= LVM_UUID_LENGTH && *device->layer == '\0' &&
               !skip_prefix(device->lv, "pvmove") && !strstr(device->lv, "_vorigin") &&
               tree_kind_of_dm(device->uuid, device->target, device->lv) < TREE_LV_COW;
}

int tree_add_devices(struct tree *tree, const struct dm_devices *devices)
{
        int r;

        FOREACH_DM_DEVICE(device, devices)
                if (!tree_find_number(tree, device->number))
                        add_dm_device(tree, device);
        r = add_others(tree);
        if (r < 0)
                return r;
        FOREACH_NODE(node, &tree->nodes) {
                /* slaves/ of one device is holders/ of another, and reading directories is slow. Most devices are disks, which
                 * have no slaves, so only those above are read. */
                if (node->kind >= TREE_MULTIPATH || node->kind == TREE_MD ||
                        (node->kind == TREE_DISK && node->is_virtual))
                        add_lowers(tree, devices, node);
                if (node->kind == TREE_PARTITION)
                        add_disk_of_partition(tree, node);
                if (node->kind == TREE_MD)
                        add_container_of_array(tree, node);
        }
        FOREACH_NODE(node, &tree->nodes) {
                if (node->kind == TREE_LV_ORIGIN_DATA)
                        add_snapshots(tree, node);
                /* An LV below an LV of the same VG is a hidden LV; below anything else it is a PV. */
                node->is_pv =
                        ANY(FOREACH_NODE(upper, &node->uppers), upper->vg && !tree_are_in_one_vg(node, upper));
        }
        return tree->error;
}

/* ------ the network ------ */

/* Followed by a number. "etherd!e0.1" is ATA over Ethernet. */
static const char *const network_names[] = {"drbd", "etherd!e", "nbd", "rbd", "rnbd"};

static bool begins_with_digit(const char *string)
{
        return string && *string >= '0' && *string <= '9';
}

static bool lies_below(const char *location, const char *directory)
{
        for (const char *slash = location; slash; slash = strchr(slash + 1, '/')) {
                const char *rest = skip_prefix(slash, directory);

                if (begins_with_digit(rest) && rest[strspn(rest, "0123456789")] == '/')
                        return true;
        }
        return false;
}

/* The directory of a disk is in that of its controller, or in that of its subsystem, which has links to its controllers. */
static bool is_on_fabrics(struct tree *tree, dev_t number, const char *location)
{
        _cleanup_closedir_ DIR *directory = open_directory(tree, number, "..");

        if (strstr(location, SYSFS_NVME_FABRICS))
                return true;
        FOREACH_ENTRY(name, directory) {
                _cleanup_free_ char *target = NULL;

                tree_fail(tree, read_link_at(dirfd(directory), name, &target));
                if (target && strstr(target, SYSFS_NVME_FABRICS))
                        return true;
        }
        return false;
}

static bool is_network_disk(struct tree *tree, const struct tree_node *disk)
{
        _cleanup_free_ char *location = NULL;

        FOREACH_ELEMENT(name, network_names)
                if (begins_with_digit(skip_prefix(disk->kernel_name, *name)))
                        return true;
        tree_fail(tree, sysfs_read_location(tree->root_fd, disk->number, &location));
        if (location && begins_with_digit(skip_prefix(disk->kernel_name, "nvme")))
                return is_on_fabrics(tree, disk->number, location);
        return location && (lies_below(location, "/session") || lies_below(location, "/ctlr_"));
}

int tree_find_network(struct tree *tree)
{
        _cleanup_tree_walk_ struct tree_walk above = tree_walk_new(tree);

        FOREACH_NODE(node, &tree->nodes)
                if (node->is_nfs || (node->kind == TREE_DISK && is_network_disk(tree, node)))
                        tree_walk_add(&above, node);
        tree_walk_up(&above);
        FOREACH_NODE(node, &tree->nodes)
                node->on_network = tree_walk_has(&above, node);
        return tree->error;
}
