/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/holders.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

#include "shared/log.h"
#include "shared/names.h"
#include "shared/util.h"

static char *find_in_sysfs(const char *kernel_name)
{
        _cleanup_closedir_ DIR *directory = opendir("/sys/fs");

        if (!directory)
                return NULL;
        for (const struct dirent *entry; (entry = readdir(directory));) {
                _cleanup_free_ char *path = string_format("%s/%s", entry->d_name, kernel_name);

                if (entry->d_name[0] != '.' && path && faccessat(dirfd(directory), path, F_OK, 0) == 0)
                        return string_printable(entry->d_name);
        }
        return NULL;
}

bool thread_is_of_device(const char *thread, const char *kernel_name)
{
        const char *name = strchr(thread, '/');
        const char *rest = name ? skip_prefix(name + 1, kernel_name) : NULL;

        return rest && !isalnum((unsigned char) *rest);
}

/* Those of user space may be called anything, and kernel threads alone have no program. */
static bool is_kernel_thread(int processes_fd, const char *pid)
{
        _cleanup_free_ char *path = string_format("%s/exe", pid);
        char target;

        return path && readlinkat(processes_fd, path, &target, 1) < 0 && errno == ENOENT;
}

static char *find_thread(const char *kernel_name)
{
        _cleanup_closedir_ DIR *directory = opendir("/proc");

        if (!directory)
                return NULL;
        for (const struct dirent *entry; (entry = readdir(directory));) {
                _cleanup_free_ char *path = NULL, *name = NULL;

                if (!isdigit((unsigned char) entry->d_name[0]))
                        continue;
                path = string_format("%s/comm", entry->d_name);
                if (!path || read_file_at(dirfd(directory), path, &name, NULL) < 0)
                        continue;
                name[strcspn(name, "\n")] = '\0';
                if (thread_is_of_device(name, kernel_name) && is_kernel_thread(dirfd(directory), entry->d_name))
                        return string_printable(name);
        }
        return NULL;
}

/* What the kernel still has of a file system that nobody sees mounted any more: its directory in sysfs, as
 * "ext4" (/sys/fs/TYPE/DEVICE, the kernel's Documentation/ABI/testing/sysfs-fs-ext4 and -xfs), or a thread of its
 * own that is called after the device, "jbd2/dm-3-8" or "xfsaild/dm-3". NULL if there is no trace, or no memory. */
static char *find_unmounting(const char *kernel_name)
{
        return find_in_sysfs(kernel_name) ?: find_thread(kernel_name);
}

char *node_describe(const struct tree_node *node)
{
        _cleanup_free_ char *name = string_printable(node->name);

        return !node->kernel_name || streq(node->name, node->kernel_name)
                       ? TAKE_PTR(name)
                       : string_format("%s (%s)", name ?: "?", node->kernel_name);
}

/* What the kernel says now of what lies on it; the tree may be older. */
static void enumerate_holders(const struct tree_node *node, struct enumeration *names)
{
        /* Of a mount that number may be of the device that is below it. */
        _cleanup_free_ char *path = !node->kernel_name ? NULL
                                                       : string_format("/sys/dev/block/%u:%u/holders",
                                                                 major(node->number), minor(node->number));
        _cleanup_closedir_ DIR *directory = path ? opendir(path) : NULL;

        if (!directory)
                return;
        for (const struct dirent *entry; (entry = readdir(directory));)
                if (entry->d_name[0] != '.')
                        enumeration_add(names, entry->d_name);
}

/* The kernel lets go of a mount point before it has written all that there is to write, which may take long. */
static char *describe_unmounting(const struct tree_node *node)
{
        _cleanup_free_ char *trace = node->kernel_name ? find_unmounting(node->kernel_name) : NULL;
        _cleanup_enumeration_ struct enumeration mounts = {};

        FOREACH_NODE(upper, &node->uppers)
                if (upper->kind == TREE_MOUNT && upper->state == TREE_GONE)
                        enumeration_add(&mounts, upper->name);
        enumeration_end(&mounts);
        if (mounts.text)
                return string_format("the unmounting of %s has not come to its end", mounts.text);
        return trace ? string_format("the unmounting of its file system has not come to its end (%s)", trace)
                     : strdup("");
}

/* The path of a swap may be that of the device. */
static void enumerate_mount_or_swap(const struct tree_node *node, struct enumeration *names)
{
        _cleanup_free_ char *swap = node->kind == TREE_SWAP ? string_format("swap %s", node->name) : NULL;

        enumeration_add(names, swap ?: node->name);
}

char *node_describe_holders(const struct tree_node *node, const struct users *users)
{
        _cleanup_enumeration_ struct enumeration holders = {};
        _cleanup_free_ char *processes = users_describe(users);

        FOREACH_NODE(upper, &node->uppers)
                if (upper->state != TREE_GONE && !upper->kernel_name)
                        enumerate_mount_or_swap(upper, &holders);
        enumerate_holders(node, &holders);
        enumeration_end(&holders);

        if (!holders.text && processes && *processes == '\0')
                return describe_unmounting(node);
        return string_format("%s%s%s%s", holders.text ? "held by " : "", holders.text ?: "",
                holders.text && processes && *processes ? "; " : "", processes ?: "");
}

void nodes_find_users(struct usage_query *queries, size_t n)
{
        int r = users_find(queries, n);

        if (r < 0)
                log_debug("Failed to look for processes: %s", strerror(-r));
}
