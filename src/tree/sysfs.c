/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/sysfs.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sysmacros.h>

#include "shared/util.h"

char *sysfs_path(dev_t number, const char *name)
{
        return string_format(SYSFS_BLOCK_DIRECTORY "/%u:%u/%s", major(number), minor(number), name);
}

int sysfs_read_attribute(int root_fd, dev_t number, const char *name, char **ret)
{
        _cleanup_free_ char *path = sysfs_path(number, name);
        size_t size;
        int r;

        if (!path)
                return -ENOMEM;
        r = read_file_at(root_fd, path, ret, &size);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (size > 0 && (*ret)[size - 1] == '\n')
                (*ret)[size - 1] = '\0';
        return 1;
}

bool sysfs_read_switch(int root_fd, dev_t number, const char *name)
{
        _cleanup_free_ char *path = sysfs_path(number, name);
        _cleanup_close_ int fd = path ? openat(root_fd, path, O_RDONLY | O_CLOEXEC) : -EBADF;
        char value = '\0';

        return fd >= 0 && read(fd, &value, sizeof(value)) == sizeof(value) && value == '1';
}

int sysfs_read_location(int root_fd, dev_t number, char **ret)
{
        _cleanup_free_ char *path = string_format(SYSFS_BLOCK_DIRECTORY "/%u:%u", major(number), minor(number));
        char target[PATH_MAX];
        ssize_t length;

        if (!path)
                return -ENOMEM;
        length = readlinkat(root_fd, path, target, sizeof(target) - 1);
        if (length < 0)
                return 0;
        target[length] = '\0';
        *ret = strdup(target);
        return *ret ? 1 : -ENOMEM;
}
