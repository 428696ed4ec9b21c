/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* lvm2's locks of VGs: who has one, and that a file that somebody removes is not taken for one. */

#include "lvm/online.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fixture.h"
#include "shared/util.h"

static struct vg_locks locks;
static char *directory, *path; /* of the lock of VG "data" */

/* Somebody who has the lock removes the file, as lvm2 does, between our open() and our flock(). */
static bool steal;

int flock(int fd, int operation)
{
        if (steal) {
                steal = false;
                ck_assert_int_eq(unlink(path), 0);
        }
        return (int) syscall(SYS_flock, fd, operation);
}

static void set_up(void)
{
        run_directory_set_up();
        directory = string_format("%s/lock", run_directory());
        path = string_format("%s/V_data", directory);
        ck_assert_int_eq(vg_locks_init(&locks, directory), 0);
}

static void tear_down(void)
{
        vg_locks_done(&locks);
        free(directory);
        free(path);
        run_directory_tear_down();
}

static bool is_locked(void)
{
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
        return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* Of the last attempt: 0 or a negative errno, -ENOENT without one. */
static int result_of(const char *name)
{
        FOREACH_ARRAY(lock, locks.locks, locks.n)
                if (streq(lock->name, name))
                        return MIN(lock->fd, 0);
        return -ENOENT;
}

START_TEST(a_lock_is_taken_and_released)
{
        ck_assert_int_eq(result_of("data"), -ENOENT);
        ck_assert_int_eq(vg_locks_take(&locks, "data", 0), 1);
        ck_assert_int_eq(result_of("data"), 0);
        ck_assert(is_locked());
        ck_assert_int_eq(vg_locks_take(&locks, "data", 0), 0);
        ck_assert_int_eq(result_of("other"), -ENOENT);

        vg_locks_done(&locks);
        ck_assert_int_eq(access(path, F_OK), -1);
        ck_assert(!is_locked());
}
END_TEST

START_TEST(somebody_has_the_lock)
{
        uint64_t started = now_usec();
        int fd;

        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        /* lvm2 that only reads. */
        ck_assert_int_eq(flock(fd, LOCK_SH), 0);
        ck_assert_int_eq(vg_locks_take(&locks, "data", started + 100 * USEC_PER_MSEC), 0);
        ck_assert_uint_ge(now_usec(), started + 100 * USEC_PER_MSEC);
        ck_assert_int_eq(result_of("data"), -EAGAIN);
        /* The time is over for others, too. */
        ck_assert_int_eq(vg_locks_take(&locks, "other", started), 1);
        ck_assert_int_eq(result_of("other"), 0);

        close(fd);
        ck_assert_int_eq(vg_locks_take(&locks, "data", started), 1);
        ck_assert_int_eq(result_of("data"), 0);
}
END_TEST

START_TEST(a_lock_of_others_is_left_alone)
{
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        ck_assert_int_eq(flock(fd, LOCK_EX), 0);
        ck_assert_int_eq(vg_locks_take(&locks, "data", 0), 0);
        vg_locks_done(&locks);
        ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(the_file_is_removed_meanwhile)
{
        steal = true;
        ck_assert_int_eq(vg_locks_take(&locks, "data", 0), 1);
        ck_assert(!steal);
        ck_assert_int_eq(result_of("data"), 0);
        ck_assert(is_locked());
}
END_TEST

/* By somebody who does not know what he does. */
START_TEST(another_file_is_not_removed)
{
        ck_assert_int_eq(vg_locks_take(&locks, "data", 0), 1);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert(!is_locked());
        vg_locks_done(&locks);
        ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_directory_that_cannot_be)
{
        struct vg_locks none;

        ck_assert_int_eq(vg_locks_init(&none, "/dev/null/lock"), -ENOTDIR);
        vg_locks_done(&none);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("locks");
        TCase *tcase = tcase_create("locks");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, a_lock_is_taken_and_released);
        tcase_add_test(tcase, somebody_has_the_lock);
        tcase_add_test(tcase, a_lock_of_others_is_left_alone);
        tcase_add_test(tcase, the_file_is_removed_meanwhile);
        tcase_add_test(tcase, another_file_is_not_removed);
        tcase_add_test(tcase, a_directory_that_cannot_be);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
