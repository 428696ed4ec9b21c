/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/sought.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "shared/util.h"
#include "teardown/device_number.h"
#include "teardown/namespaces.h"

/* Some of a process's links, and what it means if one leads below a mount point. */
static const struct {
        const char *name;
        const char *verb;
} process_links[] = {
        {"cwd", "has its working directory at"},
        {"root", "has its root directory at"},
        {"exe", "runs"},
};

/* The process that is just looked at. */
struct process {
        int fd; /* its directory in /proc */
        pid_t pid;
        struct sought *sought;
        size_t n;
};

/* What a link says, whatever it leads to. Returns whether there is one. */
static bool read_link(int dir_fd, const char *name, char target[static PATH_MAX])
{
        ssize_t length = readlinkat(dir_fd, name, target, PATH_MAX - 1);

        target[MAX(length, 0)] = '\0';
        return length >= 0;
}

/* The name of a file that was deleted goes on with " (deleted)". */
static bool lies_at(const char *path, const char *mount_point)
{
        const char *rest = skip_prefix(path, streq(mount_point, "/") ? "" : mount_point);

        return rest && (rest[0] == '/' || rest[0] == '\0');
}

static int add_users_of_mounts(const struct process *process, const char *path, const char *verb, const char *end)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < process->n; i++) {
                struct sought *sought = &process->sought[i];
                _cleanup_free_ char *printable = NULL;

                if (!sought->mount_point || !lies_at(path, sought->mount_point))
                        continue;
                printable = string_printable(path);
                r = users_add(&sought->users, process->fd, process->pid,
                        printable ? string_format("%s %s%s", verb, printable, end) : NULL);
        }
        return r;
}

static int add_users_of_devices(const struct process *process, dev_t number)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && number != 0 && i < process->n; i++)
                if (process->sought[i].number == number)
                        r = users_add(&process->sought[i].users, process->fd, process->pid, strdup("has it open"));
        return r;
}

static int look_at_files(const struct process *process)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(process->fd, "fd");
        int r = 0;

        if (!directory)
                return 0;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));) {
                char target[PATH_MAX];

                /* Of what has no name, as pipes, there is only a kind and a number. */
                if (!read_link(dirfd(directory), entry->d_name, target) || target[0] != '/')
                        continue;
                r = add_users_of_mounts(process, target, "has", " open");
                if (r >= 0)
                        r = add_users_of_devices(
                                process, device_number_of_link(dirfd(directory), entry->d_name, target));
        }
        return r;
}

static int look_at_links(const struct process *process)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(process_links); i++) {
                char target[PATH_MAX];

                if (read_link(process->fd, process_links[i].name, target))
                        r = add_users_of_mounts(process, target, process_links[i].verb, "");
        }
        return r;
}

/* Neither kernel threads nor processes that have ended run a program. */
static bool runs_a_program(int process_fd)
{
        char target[PATH_MAX];

        return read_link(process_fd, "exe", target) || errno != ENOENT;
}

static int look_at(const struct process *process, struct namespaces *namespaces)
{
        int r;

        if (!runs_a_program(process->fd))
                return 0;
        r = namespaces_look(namespaces, process->fd, process->pid, process->sought, process->n);
        if (r >= 0)
                r = look_at_links(process);
        return r < 0 ? r : look_at_files(process);
}

int sought_find_users(struct sought *sought, size_t n)
{
        _cleanup_closedir_ DIR *directory = opendir("/proc");
        _cleanup_namespaces_ struct namespaces namespaces = {};
        int r;

        if (!directory)
                return -errno;
        r = namespaces_init(&namespaces);
        /* By number, the lowest one first (the kernel's fs/proc/base.c). */
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));) {
                _cleanup_close_ int fd = -EBADF;
                uint32_t pid;

                if (parse_u32(entry->d_name, &pid) < 0 || (pid_t) pid == getpid())
                        continue;
                fd = openat(dirfd(directory), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (fd >= 0)
                        r = look_at(&(struct process){fd, (pid_t) pid, sought, n}, &namespaces);
        }
        return r;
}
