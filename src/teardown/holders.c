/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/holders.h"

#include <sys/sysmacros.h>

#include "shared/enumeration.h"
#include "shared/log.h"
#include "shared/util.h"
#include "teardown/unmounting.h"

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
                        enumerate(names, entry->d_name);
}

/* The kernel lets go of a mount point before it has written all that there is to write, which may take long. */
static char *describe_unmounting(const struct tree_node *node)
{
        _cleanup_free_ char *trace = node->kernel_name ? unmounting_find(node->kernel_name) : NULL;
        _cleanup_enumeration_ struct enumeration mounts = {};

        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->kind == TREE_MOUNT && node->uppers.nodes[i]->state == TREE_GONE)
                        enumerate(&mounts, node->uppers.nodes[i]->name);
        enumerate_end(&mounts);
        if (mounts.text)
                return string_format("the unmounting of %s has not come to its end", mounts.text);
        return trace ? string_format("the unmounting of its file system has not come to its end (%s)", trace)
                     : strdup("");
}

/* The path of a swap may be that of the device. */
static void enumerate_mount_or_swap(const struct tree_node *node, struct enumeration *names)
{
        _cleanup_free_ char *swap = node->kind == TREE_SWAP ? string_format("swap %s", node->name) : NULL;

        enumerate(names, swap ?: node->name);
}

char *node_describe_holders(const struct tree_node *node, const struct users *users)
{
        _cleanup_enumeration_ struct enumeration holders = {};
        _cleanup_free_ char *processes = users_describe(users);

        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->state != TREE_GONE && !node->uppers.nodes[i]->kernel_name)
                        enumerate_mount_or_swap(node->uppers.nodes[i], &holders);
        enumerate_holders(node, &holders);
        enumerate_end(&holders);

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
