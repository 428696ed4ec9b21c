/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/volume_group_list.h"

#include <fcntl.h>

#include "shared/util.h"

#define NEW_LIST "." VOLUME_GROUP_LIST ".new"

int volume_group_list_forget(int run_fd)
{
        return unlinkat(run_fd, VOLUME_GROUP_LIST, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* ------ writing ------ */

static int copy_file(int vgs_fd, const char *vgid, FILE *file)
{
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = read_file_at(vgs_fd, vgid, &text, &size);
        if (r < 0)
                return r;
        fprintf(file, "%s %zu\n", vgid, size);
        fwrite(text, 1, size, file);
        return 0;
}

static int copy_files(int run_fd, FILE *file)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(run_fd, VOLUME_GROUP_DIRECTORY);
        int r = 0;

        if (!directory)
                return -errno;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));)
                if (entry->d_name[0] != '.')
                        r = copy_file(dirfd(directory), entry->d_name, file);
        return r;
}

/* Readers see all of it or nothing. */
static int write_new(int run_fd)
{
        int fd = openat(run_fd, NEW_LIST, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), r;
        FILE *file;

        if (fd < 0)
                return -errno;
        file = fdopen(fd, "we");
        if (!file) {
                close(fd);
                return -ENOMEM;
        }
        r = copy_files(run_fd, file);
        if (ferror(file) && r >= 0)
                r = -EIO;
        if (fclose(file) != 0 && r >= 0)
                r = -errno;
        return r;
}

int volume_group_list_write(int run_fd)
{
        int r;

        if (faccessat(run_fd, VOLUME_GROUP_LIST, F_OK, 0) == 0)
                return 0;
        r = write_new(run_fd);
        if (r >= 0 && renameat(run_fd, NEW_LIST, run_fd, VOLUME_GROUP_LIST) < 0)
                r = -errno;
        if (r < 0)
                (void) unlinkat(run_fd, NEW_LIST, 0);
        return r;
}

/* ------ reading ------ */

/* Finds the next text, and ends it with a NUL in place of what comes behind it, which is kept in `*ret_behind`. */
static int find_text(char *position, const char *end, char **ret_text, char **ret_behind)
{
        char *space = memchr(position, ' ', (size_t) MIN(end - position, LVM_ID_LENGTH + 1)), *newline;
        unsigned long size;

        /* Not sscanf(), which would look at the whole text each time. */
        if (!space)
                return -EBADMSG;
        size = strtoul(space + 1, &newline, 10);
        if (newline == space + 1 || *newline != '\n')
                return -EBADMSG;
        *ret_text = newline + 1;
        if (size > (unsigned long) (end - *ret_text))
                return -EBADMSG;
        *ret_behind = *ret_text + size;
        return 0;
}

static int read_one(const char *text, volume_group_function function, void *userdata)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        int r;

        r = volume_group_parse(text, &volume_group);
        if (r < 0)
                return r;
        r = function(volume_group, userdata);
        if (r >= 0)
                TAKE_PTR(volume_group);
        return r;
}

int volume_group_list_read(int run_fd, volume_group_function function, void *userdata)
{
        _cleanup_free_ char *list = NULL;
        size_t size;
        int r;

        r = read_file_at(run_fd, VOLUME_GROUP_LIST, &list, &size);
        if (r < 0)
                return r;
        for (char *position = list, *end = list + size; r >= 0 && position < end;) {
                char *text, *behind, first;

                r = find_text(position, end, &text, &behind);
                if (r < 0)
                        return r;
                first = *behind;
                *behind = '\0';
                r = read_one(text, function, userdata);
                *behind = first;
                position = behind;
        }
        return r;
}
