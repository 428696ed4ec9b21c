/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/links.h"

#include <fcntl.h>

int link_make(int dir_fd, const char *name, const char *target)
{
        int r;

        if (symlinkat(target, dir_fd, name) >= 0)
                return 0;
        if (errno != EEXIST)
                return -errno;
        r = link_remove(dir_fd, name);
        if (r < 0)
                return r;
        return symlinkat(target, dir_fd, name) < 0 ? -errno : 0;
}

int link_read(int dir_fd, const char *name, char ret[LINK_TARGET_SIZE])
{
        ssize_t n = readlinkat(dir_fd, name, ret, LINK_TARGET_SIZE);

        if (n < 0)
                return -errno;
        if (n == LINK_TARGET_SIZE)
                return -EBADMSG;
        ret[n] = '\0';
        return 0;
}

int link_remove(int dir_fd, const char *name)
{
        return unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}
