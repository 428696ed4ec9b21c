/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/mount_table.h"

#include <fcntl.h>

DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)

void mount_table_done(struct mount_table *table)
{
        free(table->entries);
        mnt_unref_table(table->table);
        *table = (struct mount_table){};
}

static int list_entries(struct mount_table *table)
{
        _cleanup_(mnt_free_iterp) struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_FORWARD);

        table->entries = calloc((size_t) mnt_table_get_nents(table->table) + 1, sizeof(struct libmnt_fs *));
        if (!iterator || !table->entries)
                return -ENOMEM;
        while (mnt_table_next_fs(table->table, iterator, &table->entries[table->n]) == 0)
                table->n++;
        return 1;
}

int mount_table_read(int dir_fd, const char *path, struct mount_table *ret)
{
        _cleanup_mount_table_ struct mount_table table = {.table = mnt_new_table()};
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *file = NULL;
        int r;

        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!table.table)
                return -ENOMEM;
        file = fdopen(fd, "re");
        if (!file)
                return -ENOMEM;
        (void) TAKE_FD(fd);
        r = mnt_table_parse_stream(table.table, file, path);
        if (r >= 0)
                r = list_entries(&table);
        if (r < 0)
                return r;

        *ret = table;
        table = (struct mount_table){};
        return r;
}
