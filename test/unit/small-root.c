/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "small-root.h"

#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "shared/program.h"
#include "shared/util.h"

static char small_root_path[PATH_MAX];
static int small_root_fd = -EBADF;

int small_root_set_up(const char *name)
{
        _cleanup_free_ char *path = NULL, *text = NULL;
        char *position;

        snprintf(small_root_path, sizeof(small_root_path), "%s/headgate-tree-XXXXXX", getenv("TMPDIR") ?: "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(small_root_path));
        ck_assert_int_eq(setenv("HEADGATE_ROOT", small_root_path, true), 0);
        small_root_fd = root_open();
        ck_assert_int_ge(small_root_fd, 0);

        path = string_format("%s/%s", getenv("HEADGATE_TEST_ROOTS"), name);
        ck_assert_ptr_nonnull(path);
        ck_assert_int_eq(read_file_at(AT_FDCWD, path, &text, NULL), 0);
        for (char *line = strtok_r(text, "\n", &position); line; line = strtok_r(NULL, "\n", &position))
                if (line[0] != '#')
                        small_root_add(line);
        return small_root_fd;
}

static void make_parents(char *path)
{
        for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                ck_assert(mkdirat(small_root_fd, path, 0755) == 0 || errno == EEXIST);
                *slash = '/';
        }
}

static void append(const char *path, const char *line)
{
        _cleanup_close_ int fd = openat(small_root_fd, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, line, strlen(line)), 0);
        ck_assert_int_eq(write_all(fd, "\n", 1), 0);
}

void small_root_add(const char *line)
{
        _cleanup_free_ char *path = strdup(line);
        char *arrow, *equals;

        ck_assert_ptr_nonnull(path);
        arrow = strstr(path, " -> ");
        equals = strstr(path, " = ");
        if (arrow)
                *arrow = '\0';
        else if (equals)
                *equals = '\0';
        make_parents(path);
        if (arrow)
                ck_assert_int_eq(symlinkat(arrow + strlen(" -> "), small_root_fd, path), 0);
        else
                append(path, equals ? equals + strlen(" = ") : "");
}

void small_root_empty(const char *path)
{
        _cleanup_close_ int fd = openat(small_root_fd, path, O_WRONLY | O_TRUNC | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
}

void small_root_tear_down(void)
{
        close(small_root_fd);
        remove_tree(small_root_path);
}
