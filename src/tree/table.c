/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/table.h"

#include <fcntl.h>

static int skip_line(_unused_ struct libmnt_table *table, _unused_ const char *path, _unused_ int line)
{
        return 1;
}

int mount_table_read(int root_fd, const char *path, struct libmnt_table **ret)
{
        _cleanup_mount_table_ struct libmnt_table *table = mnt_new_table();
        _cleanup_close_ int fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *file = NULL;
        int r;

        if (fd < 0 && errno != ENOENT)
                return -errno;
        if (!table)
                return -ENOMEM;
        if (fd >= 0) {
                file = fdopen(fd, "re");
                if (!file)
                        return -errno;
                (void) TAKE_FD(fd);
                (void) mnt_table_set_parser_errcb(table, skip_line);
                r = mnt_table_parse_stream(table, file, path);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(table);
        return 0;
}
