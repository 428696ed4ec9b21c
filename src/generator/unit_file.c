/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/unit_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "shared/util.h"

int unit_file_make_directory(int unit_fd, const char *name)
{
        return mkdirat(unit_fd, name, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int unit_file_write_drop_in(int unit_fd, const char *unit, const char *name, const char *text)
{
        _cleanup_free_ char *directory = string_format("%s.d", unit);
        _cleanup_free_ char *path = string_format("%s.d/%s.conf", unit, name);
        /* systemd reads no files with other endings. */
        _cleanup_free_ char *temporary = string_format("%s.d/.%s.new", unit, name);
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!directory || !path || !temporary)
                return -ENOMEM;
        r = unit_file_make_directory(unit_fd, directory);
        if (r < 0)
                return r;
        fd = openat(unit_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0)
                return -errno;

        /* Half of a drop-in would activate other VGs than it should, and so would an empty one. */
        r = write_all(fd, text, strlen(text));
        if (r >= 0 && renameat2(unit_fd, temporary, unit_fd, path, RENAME_NOREPLACE) < 0)
                r = -errno;
        if (r < 0)
                (void) unlinkat(unit_fd, temporary, 0);
        return r;
}
