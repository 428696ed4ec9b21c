/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Block devices in sysfs, mounts, states of processes, paths, and times of files. */

#include "shared/kernel.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shared/util.h"

/* An attribute is at most a page. */
#define ATTRIBUTE_SIZE 4096

/* ------ sysfs ------ */

struct path sysfs_path(dev_t number, const char *name)
{
        return path_format(SYSFS_BLOCK_DIRECTORY "/%u:%u/%s", major(number), minor(number), name);
}

bool sysfs_has_device(int root_fd, dev_t number)
{
        return faccessat(root_fd, sysfs_path(number, "").text, F_OK, 0) >= 0 || errno != ENOENT;
}

int sysfs_read_at(int dir_fd, const char *path, char **ret)
{
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        char text[ATTRIBUTE_SIZE];
        ssize_t size;

        size = fd < 0 ? -1 : read(fd, text, sizeof(text));
        if (size < 0)
                return -errno;
        if (size > 0 && text[size - 1] == '\n')
                size--;
        *ret = strndup(text, (size_t) size);
        return *ret ? 0 : -ENOMEM;
}

int sysfs_read_attribute(int root_fd, dev_t number, const char *name, char **ret)
{
        int r = sysfs_read_at(root_fd, sysfs_path(number, name).text, ret);

        return r == -ENOMEM ? r : r >= 0;
}

int sysfs_read_location(int root_fd, dev_t number, char **ret)
{
        struct path path = path_format(SYSFS_BLOCK_DIRECTORY "/%u:%u", major(number), minor(number));

        return read_link_at(root_fd, path.text, ret);
}

int sysfs_read_name(int root_fd, dev_t number, char **ret)
{
        _cleanup_free_ char *location = NULL;
        int r = sysfs_read_location(root_fd, number, &location);

        if (r <= 0)
                return r;
        *ret = strdup(strrchr(location, '/') + 1);
        return *ret ? 1 : -ENOMEM;
}

int sysfs_read_upper_map(int root_fd, dev_t number, char **ret)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, sysfs_path(number, "holders").text);
        int r = 0;

        FOREACH_ENTRY(name, directory) {
                _cleanup_free_ char *uuid = NULL;

                r = sysfs_read_attribute(root_fd, number, path_format("holders/%s/dm/uuid", name).text, &uuid);
                if (r < 0)
                        return r;
                if (skip_prefix(name, "md") || (uuid && skip_prefix(uuid, "mpath-"))) {
                        *ret = strdup(name);
                        return *ret ? 1 : -ENOMEM;
                }
        }
        return 0;
}

uint64_t diskseq_read(dev_t number)
{
        _cleanup_free_ char *text = NULL;
        const char *line;

        /* A partition has the number of its disk. */
        if (sysfs_read_at(AT_FDCWD, path_format("/%s", sysfs_path(number, "uevent").text).text, &text) < 0)
                return 0;
        line = strstr(text, "\nDISKSEQ=");
        return line ? strtoull(line + strlen("\nDISKSEQ="), NULL, 10) : 0;
}

/* ------ mounts ------ */

DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)

int mount_table_read(int dir_fd, const char *path, struct mount_table *ret)
{
        _cleanup_(mnt_free_iterp) struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_FORWARD);
        _cleanup_mount_table_ struct mount_table table = {.table = mnt_new_table()};
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *file = NULL;
        int r;

        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!iterator || !table.table || !(file = fdopen(fd, "re")))
                return -ENOMEM;
        (void) TAKE_FD(fd);
        r = mnt_table_parse_stream(table.table, file, path);
        if (r < 0)
                return r;
        table.entries = calloc((size_t) mnt_table_get_nents(table.table) + 1, sizeof(struct libmnt_fs *));
        if (!table.entries)
                return -ENOMEM;
        while (mnt_table_next_fs(table.table, iterator, &table.entries[table.n]) == 0)
                table.n++;

        *ret = TAKE_STRUCT(table);
        return 1;
}

void mount_table_done(struct mount_table *table)
{
        free(table->entries);
        mnt_unref_table(table->table);
        *table = (struct mount_table){};
}

struct crypttab_line crypttab_lines(char *text)
{
        struct crypttab_line line = {};

        line.rest = text;
        return line;
}

bool crypttab_next_line(struct crypttab_line *line)
{
        char *text;

        while ((text = strsep(&line->rest, "\n"))) {
                line->number++;
                memset(line->fields, 0, sizeof(line->fields));
                if (dm_split_words(text, ELEMENTSOF(line->fields), 0, line->fields) > 0 && *line->fields[0] != '#')
                        return true;
        }
        return false;
}

bool process_waits_for_disk(pid_t pid)
{
        _cleanup_free_ char *text = NULL;
        const char *state;

        if (read_file_at(AT_FDCWD, path_format("/proc/%i/stat", pid).text, &text, NULL) < 0)
                return false;
        state = strrchr(text, ')');
        return state && strncmp(state, ") D", 3) == 0;
}

/* While any file is renamed or mounted, the kernel cannot verify "..", and wants a retry (openat2(2), EAGAIN).
 * After this many in a row there must be another cause. */
#define OPEN_TRIES 1000

int open_path_at(int dir_fd, const char *path, uint64_t resolve)
{
        const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};

        for (unsigned int tries = 1;; tries++) {
                /* glibc of Debian 12 has no function for it. */
                int fd = (int) syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

                if (fd >= 0)
                        return fd;
                if (errno != EAGAIN || tries == OPEN_TRIES)
                        return -errno;
        }
}

int resolve_path_at(int root_fd, const char *path, char **ret)
{
        _cleanup_close_ int fd = open_path_at(root_fd, path, RESOLVE_IN_ROOT);
        int r = fd < 0 ? fd : read_link_at(AT_FDCWD, path_format("/proc/self/fd/%d", fd).text, ret);

        return r > 0 ? 0 : r ?: -EIO;
}

int read_birth_at(int dir_fd, const char *path, int flags, uint64_t *ret_usec)
{
        struct statx status;

        if (statx(dir_fd, path, flags, STATX_BTIME, &status) < 0)
                return -errno;
        if (!(status.stx_mask & STATX_BTIME))
                return -ENODATA;
        *ret_usec = (uint64_t) status.stx_btime.tv_sec * USEC_PER_SEC + status.stx_btime.tv_nsec / 1000;
        return 0;
}
