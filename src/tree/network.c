/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which disks are reached by a network, by the names and paths that the kernel gives them, and what lies on these. */

#include "tree/network.h"

#include "shared/kernel.h"
#include "shared/util.h"

/* Followed by a number. "etherd!e0.1" is ATA over Ethernet. */
static const char *const network_names[] = {"drbd", "etherd!e", "nbd", "rbd", "rnbd"};

/* As /sys/class/nvme/nvmeN/transport has them. "loop" is a target of the same machine, which comes and goes like
 * the others. */
static const char *const nvme_network_transports[] = {"fc", "loop", "rdma", "tcp"};

static bool begins_with_digit(const char *string)
{
        return string && *string >= '0' && *string <= '9';
}

static bool has_network_name(const char *kernel_name)
{
        for (size_t i = 0; i < ELEMENTSOF(network_names); i++)
                if (begins_with_digit(skip_prefix(kernel_name, network_names[i])))
                        return true;
        return false;
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

/* ------ NVMe ------ */

/* `directory` is that of a controller, as seen from the disk's. */
static int has_network_transport(int root_fd, dev_t number, const char *directory)
{
        _cleanup_free_ char *name = string_format("%s/transport", directory);
        _cleanup_free_ char *transport = NULL;
        int r;

        r = name ? sysfs_read_attribute(root_fd, number, name, &transport) : -ENOMEM;
        if (r <= 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(nvme_network_transports); i++)
                if (streq(transport, nvme_network_transports[i]))
                        return 1;
        return 0;
}

/* A disk lies in the directory of its controller or of its subsystem. */
static int is_on_fabrics(int root_fd, dev_t number)
{
        _cleanup_free_ char *path = sysfs_path(number, "..");
        _cleanup_closedir_ DIR *directory = path ? open_directory_at(root_fd, path) : NULL;
        int r = path ? has_network_transport(root_fd, number, "..") : -ENOMEM;

        if (!directory)
                return r;
        for (const struct dirent *entry; r == 0 && (entry = readdir(directory));) {
                _cleanup_free_ char *controller = NULL;

                if (!begins_with_digit(skip_prefix(entry->d_name, "nvme")))
                        continue;
                controller = string_format("../%s", entry->d_name);
                r = controller ? has_network_transport(root_fd, number, controller) : -ENOMEM;
        }
        return r;
}

/* ------ all of them ------ */

static int is_network_disk(int root_fd, const struct tree_node *disk)
{
        _cleanup_free_ char *location = NULL;
        int r;

        if (has_network_name(disk->kernel_name))
                return 1;
        if (begins_with_digit(skip_prefix(disk->kernel_name, "nvme")))
                return is_on_fabrics(root_fd, disk->number);
        r = sysfs_read_location(root_fd, disk->number, &location);
        return r <= 0 ? r : lies_below(location, "/session") || lies_below(location, "/ctlr_");
}

static int mark_with_uppers(struct tree_node *node)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = tree_nodes_add(&waiting, node);

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                if (node->on_network)
                        continue;
                node->on_network = true;
                r = tree_nodes_add_all(&waiting, &node->uppers);
        }
        return r;
}

int tree_find_network(struct tree *tree, int root_fd)
{
        FOREACH_NODE(node, &tree->nodes) {
                int r = node->kind == TREE_DISK ? is_network_disk(root_fd, node) : node->is_nfs;

                if (r > 0)
                        r = mark_with_uppers(node);
                if (r < 0)
                        return r;
        }
        return 0;
}
