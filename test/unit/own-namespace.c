/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "own-namespace.h"

#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared/util.h"

void own_namespace_write(const char *path, const char *text)
{
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0 || write_all(fd, text, strlen(text)) < 0)
                err(EXIT_FAILURE, "%s", path);
}

static void become_root(void)
{
        _cleanup_free_ char *user = string_format("0 %u 1\n", geteuid());
        _cleanup_free_ char *group = string_format("0 %u 1\n", getegid());

        if (!user || !group || unshare(CLONE_NEWUSER) < 0)
                err(EXIT_FAILURE, "Failed to make a user namespace");
        own_namespace_write("/proc/self/uid_map", user);
        own_namespace_write("/proc/self/setgroups", "deny");
        own_namespace_write("/proc/self/gid_map", group);
}

void own_namespace_enter(int flags)
{
        if (geteuid() != 0)
                become_root();
        if (unshare(flags) < 0)
                err(EXIT_FAILURE, "Failed to make namespaces");
}
