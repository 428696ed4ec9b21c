/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/sysfs.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sysmacros.h>

#include "shared/util.h"

/* An attribute is at most a page. */
#define ATTRIBUTE_SIZE 4096

char *sysfs_path(dev_t number, const char *name)
{
        return string_format(SYSFS_BLOCK_DIRECTORY "/%u:%u/%s", major(number), minor(number), name);
}

bool sysfs_has_device(int root_fd, dev_t number)
{
        _cleanup_free_ char *path = sysfs_path(number, "");

        return !path || faccessat(root_fd, path, F_OK, 0) >= 0 || errno != ENOENT;
}

int sysfs_read_at(int dir_fd, const char *path, char **ret)
{
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        char text[ATTRIBUTE_SIZE];
        ssize_t size;

        if (fd < 0)
                return -errno;
        size = read(fd, text, sizeof(text));
        if (size < 0)
                return -errno;
        if (size > 0 && text[size - 1] == '\n')
                size--;
        *ret = strndup(text, (size_t) size);
        return *ret ? 0 : -ENOMEM;
}

int sysfs_read_attribute(int root_fd, dev_t number, const char *name, char **ret)
{
        _cleanup_free_ char *path = sysfs_path(number, name);
        int r = path ? sysfs_read_at(root_fd, path, ret) : -ENOMEM;

        return r == -ENOMEM ? r : r >= 0;
}

int sysfs_read_location(int root_fd, dev_t number, char **ret)
{
        _cleanup_free_ char *path = string_format(SYSFS_BLOCK_DIRECTORY "/%u:%u", major(number), minor(number));
        char target[PATH_MAX];
        ssize_t length;

        if (!path)
                return -ENOMEM;
        length = readlinkat(root_fd, path, target, sizeof(target));
        if (length < 0)
                return 0;
        *ret = strndup(target, (size_t) length);
        return *ret ? 1 : -ENOMEM;
}

int sysfs_read_name(int root_fd, dev_t number, char **ret)
{
        _cleanup_free_ char *location = NULL;
        int r;

        r = sysfs_read_location(root_fd, number, &location);
        if (r <= 0)
                return r;
        *ret = strdup(strrchr(location, '/') + 1);
        return *ret ? 1 : -ENOMEM;
}
