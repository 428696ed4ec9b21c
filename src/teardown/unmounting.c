/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/unmounting.h"

#include <ctype.h>
#include <fcntl.h>

#include "shared/util.h"

#define FILE_SYSTEMS_DIRECTORY "/sys/fs"
#define PROCESSES_DIRECTORY "/proc"

static char *find_in_sysfs(const char *kernel_name)
{
        _cleanup_closedir_ DIR *directory = opendir(FILE_SYSTEMS_DIRECTORY);

        if (!directory)
                return NULL;
        for (const struct dirent *entry; (entry = readdir(directory));) {
                _cleanup_free_ char *path = string_format("%s/%s", entry->d_name, kernel_name);

                if (entry->d_name[0] != '.' && path && faccessat(dirfd(directory), path, F_OK, 0) == 0)
                        return string_printable(entry->d_name);
        }
        return NULL;
}

bool unmounting_is_thread_of(const char *thread, const char *kernel_name)
{
        const char *name = strchr(thread, '/');
        const char *rest = name ? skip_prefix(name + 1, kernel_name) : NULL;

        return rest && !isalnum((unsigned char) *rest);
}

/* Those of user space may be called anything, and kernel threads alone have no program. */
static bool is_kernel_thread(int processes_fd, const char *pid)
{
        _cleanup_free_ char *path = string_format("%s/exe", pid);
        char target;

        return path && readlinkat(processes_fd, path, &target, 1) < 0 && errno == ENOENT;
}

static char *find_thread(const char *kernel_name)
{
        _cleanup_closedir_ DIR *directory = opendir(PROCESSES_DIRECTORY);

        if (!directory)
                return NULL;
        for (const struct dirent *entry; (entry = readdir(directory));) {
                _cleanup_free_ char *path = NULL, *name = NULL;

                if (!isdigit((unsigned char) entry->d_name[0]))
                        continue;
                path = string_format("%s/comm", entry->d_name);
                if (!path || read_file_at(dirfd(directory), path, &name, NULL) < 0)
                        continue;
                name[strcspn(name, "\n")] = '\0';
                if (unmounting_is_thread_of(name, kernel_name) &&
                        is_kernel_thread(dirfd(directory), entry->d_name))
                        return string_printable(name);
        }
        return NULL;
}

char *unmounting_find(const char *kernel_name)
{
        return find_in_sysfs(kernel_name) ?: find_thread(kernel_name);
}
