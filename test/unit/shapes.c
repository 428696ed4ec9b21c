/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shapes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "shared/util.h"
#include "tree/order.h"

static int root_fd = -EBADF;

void shape_set_up(void)
{
        run_directory_set_up();
        ck_assert_int_eq(mkdirat(run_fd, "root", 0755), 0);
        root_fd = openat(run_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(root_fd, 0);
        shape_write(fake_dm, "");
}

void shape_tear_down(void)
{
        close(root_fd);
        run_directory_tear_down();
}

int shape_root(void)
{
        return root_fd;
}

static void make_directories(const char *path)
{
        _cleanup_free_ char *copy = strdup(path);

        for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                ck_assert(mkdirat(root_fd, copy, 0755) == 0 || errno == EEXIST);
                *slash = '/';
        }
}

static void write_with(int flags, const char *path, const char *content)
{
        _cleanup_close_ int fd = -EBADF;

        make_directories(path);
        fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, content, strlen(content)), 0);
}

void shape_write(const char *path, const char *content)
{
        write_with(O_TRUNC, path, content);
}

void shape_link(const char *path, const char *target)
{
        make_directories(path);
        ck_assert_int_eq(symlinkat(target, root_fd, path), 0);
}

void shape_device_at(const char *location, unsigned int major_number, unsigned int minor_number)
{
        _cleanup_free_ char *directory = string_format("sys/devices/%s/", location);
        _cleanup_free_ char *link = string_format("sys/dev/block/%u:%u", major_number, minor_number);
        _cleanup_free_ char *target = string_format("../../devices/%s", location);

        make_directories(directory);
        shape_link(link, target);
}

void shape_device(const char *kernel_name, unsigned int major_number, unsigned int minor_number)
{
        _cleanup_free_ char *location = string_format("block/%s", kernel_name);

        shape_device_at(location, major_number, minor_number);
}

static void write_attribute(const char *kernel_name, const char *attribute, const char *value)
{
        _cleanup_free_ char *path = string_format("sys/devices/block/%s/%s", kernel_name, attribute);
        _cleanup_free_ char *line = string_format("%s\n", value);

        shape_write(path, line);
}

void shape_dm(unsigned int minor_number, const char *name, const char *uuid, const char *target)
{
        _cleanup_free_ char *kernel_name = string_format("dm-%u", minor_number);
        _cleanup_free_ char *number = string_format("253:%u", minor_number);
        _cleanup_free_ char *link = string_format("sys/class/block/%s", kernel_name);
        _cleanup_free_ char *device = string_format("../../devices/block/%s", kernel_name);
        _cleanup_free_ char *line = string_format("%s %s %s %s\n", number, name, uuid, target);

        shape_device(kernel_name, 253, minor_number);
        shape_link(link, device);
        write_attribute(kernel_name, "dev", number);
        write_attribute(kernel_name, "dm/name", name);
        write_attribute(kernel_name, "dm/uuid", streq(uuid, "-") ? "" : uuid);
        write_with(O_APPEND, fake_dm, line);
}

void shape_hold(const char *lower, const char *upper)
{
        _cleanup_free_ char *holder = string_format("sys/devices/block/%s/holders/%s", lower, upper);
        _cleanup_free_ char *slave = string_format("sys/devices/block/%s/slaves/%s", upper, lower);
        _cleanup_free_ char *to_upper = string_format("../../%s", upper),
                            *to_lower = string_format("../../%s", lower);

        shape_link(holder, to_upper);
        shape_link(slave, to_lower);
}

void shape_mountinfo(const char *line)
{
        write_with(O_APPEND, "proc/self/mountinfo", line);
}

void shape_mount(unsigned int id, unsigned int parent_id, unsigned int major_number, unsigned int minor_number,
        const char *mount_point)
{
        _cleanup_free_ char *line = string_format("%u %u %u:%u / %s rw shared:1 - ext4 /dev/any rw\n", id,
                parent_id, major_number, minor_number, mount_point);

        shape_mountinfo(line);
}

static struct tree *read_from(int fd)
{
        struct tree *tree;

        ck_assert_int_eq(tree_read(fd, &tree), 0);
        ck_assert_int_eq(tree_order(tree), 0);
        return tree;
}

struct tree *shape_read(void)
{
        return read_from(root_fd);
}

struct tree *shape_read_captured(const char *name)
{
        _cleanup_free_ char *path = string_format("%s/%s", getenv("HEADGATE_TEST_TREES"), name);
        _cleanup_close_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct tree *tree;

        ck_assert_int_ge(fd, 0);
        tree = read_from(fd);
        tree->root_fd = root_fd;
        return tree;
}

struct tree_node *shape_node(const struct tree *tree, const char *name)
{
        for (size_t i = 0; i < tree->nodes.n; i++)
                if (streq(tree->nodes.nodes[i]->name, name))
                        return tree->nodes.nodes[i];
        ck_abort_msg("there is no node %s", name);
}

void shape_is_held(const struct tree *tree, const char *lower, const char *upper)
{
        const struct tree_node *a = shape_node(tree, lower), *b = shape_node(tree, upper);

        ck_assert_msg(tree_nodes_have(&a->uppers, b), "%s is not held by %s", lower, upper);
        ck_assert_msg(tree_nodes_have(&b->lowers, a), "%s does not know that it holds %s", upper, lower);
}

static void check_holders_are_gone(const struct tree_node *node)
{
        for (size_t i = 0; i < node->uppers.n; i++) {
                const struct tree_node *upper = node->uppers.nodes[i];

                ck_assert_msg(upper->state == TREE_GONE || (upper->cycle && upper->cycle == node->cycle),
                        "%s goes while %s holds it", node->name, upper->name);
        }
}

static bool can_unmount(const struct tree_node *node)
{
        if ((node->kind != TREE_MOUNT && node->kind != TREE_SWAP) || node->skip_reason || node->state == TREE_GONE)
                return false;
        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->state != TREE_GONE && !node->cycle)
                        return false;
        return true;
}

static bool unmount_one(struct tree *tree)
{
        for (size_t i = 0; i < tree->nodes.n; i++)
                if (can_unmount(tree->nodes.nodes[i])) {
                        tree_node_gone(tree, tree->nodes.nodes[i]);
                        return true;
                }
        return false;
}

size_t shape_take_down(struct tree *tree)
{
        struct tree_node *node;

        tree_schedule(tree);
        do
                while ((node = tree_next_ready(tree))) {
                        ck_assert(tree_node_is_ours(node));
                        check_holders_are_gone(node);
                        tree_node_gone(tree, node);
                }
        while (unmount_one(tree));
        return tree->n_to_go - tree->n_gone;
}
