/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fixture.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "shared/flags.h"
#include "shared/util.h"

int run_fd = -EBADF;

static char run_path[PATH_MAX];

const char *run_directory(void)
{
        return run_path;
}

void run_directory_set_up(void)
{
        _cleanup_free_ char *lvm_path = NULL;

        snprintf(run_path, sizeof(run_path), "%s/headgate-test-XXXXXX", getenv("TMPDIR") ?: "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(run_path));
        lvm_path = string_format("%s/lvm", run_path);
        ck_assert_ptr_nonnull(lvm_path);
        ck_assert_int_eq(setenv("HEADGATE_RUN_DIRECTORY", run_path, true), 0);
        ck_assert_int_eq(setenv("HEADGATE_LVM_RUN_DIRECTORY", lvm_path, true), 0);
        run_fd = flags_open_run_directory();
        ck_assert_int_ge(run_fd, 0);
        ck_assert_int_eq(flags_prepare(run_fd), 0);
}

void put_record(int dir_fd, const char *key, const char *text)
{
        _cleanup_record_file_ struct record_file *file = NULL;
        struct record_writer *writer;
        int r = record_file_read(dir_fd, &file);

        ck_assert(r == 0 || r == -ENOENT);
        ck_assert_int_eq(record_writer_new(dir_fd, file, &writer), 0);
        ck_assert_int_eq(record_writer_put(writer, key, text), 0);
        ck_assert_int_eq(record_writer_commit(writer), 0);
        record_writer_free(writer);
}

/* In the worker's state that shows as this. */
void save_vg(int dir_fd, const struct vg *vg)
{
        _cleanup_free_ char *text = NULL;
        struct vg copy = *vg;
        enum vg_state state = 0;

        do {
                ck_assert_int_lt(state, _VG_STATE_SETTABLE);
                vg_state_enter(&copy, state++);
        } while (copy.status != vg->status || copy.overdue != vg->overdue ||
                 copy.lost_after_active != vg->lost_after_active);
        ck_assert_int_eq(vg_print(&copy, &text), 0);
        put_record(dir_fd, vg->vgid, text);
}

void write_file_and_directories(const char *path, const char *text)
{
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *directory = strdup(path);

        for (char *slash = directory; (slash = strchr(slash, '/')); *slash++ = '/') {
                *slash = '\0';
                ck_assert(mkdirat(run_fd, directory, 0755) == 0 || errno == EEXIST);
        }
        fd = openat(run_fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, text, strlen(text)), 0);
}

static int remove_one(
        const char *path, _unused_ const struct stat *status, _unused_ int type, _unused_ struct FTW *ftw)
{
        return remove(path);
}

void remove_tree(const char *path)
{
        ck_assert_int_eq(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void run_directory_tear_down(void)
{
        close(run_fd);
        remove_tree(run_path);
}

int run_suite(Suite *suite)
{
        SRunner *runner = srunner_create(suite);
        int n_failed;

        srunner_run_all(runner, CK_ENV);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
