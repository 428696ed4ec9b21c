/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The running/pending protocol, step by step, as flags.h numbers them, and interrupted after each step. */

#include <check.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "fixture.h"
#include "shared/flags.h"
#include "shared/util.h"

static int collect(const char *entry, void *userdata)
{
        return strv_add(userdata, entry);
}

static bool has(const struct strv *vector, const char *entry)
{
        for (size_t i = 0; i < vector->n; i++)
                if (streq(vector->strings[i], entry))
                        return true;
        return false;
}

/* The socket of R4, as systemd would hold it. */
static int listen_for_wakeups(void)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        ck_assert_int_ge(fd, 0);
        snprintf(address.sun_path, sizeof(address.sun_path), "%s/wakeup", run_directory());
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        return fd;
}

START_TEST(request_is_taken_and_finished)
{
        _cleanup_strv_ struct strv taken = {}, left = {};

        ck_assert_int_eq(flags_ask_pending(run_fd), 0);
        ck_assert_int_eq(flags_post(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_post(run_fd, "8:16"), 0);
        ck_assert_int_eq(flags_ask_pending(run_fd), 1);

        ck_assert_int_eq(flags_take_requests(run_fd, collect, &taken), 0);
        ck_assert_uint_eq(taken.n, 2);
        ck_assert(has(&taken, "8:0") && has(&taken, "8:16"));
        ck_assert_int_eq(flags_ask_pending(run_fd), 0);

        ck_assert_int_eq(flags_finish(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_take_left_over(run_fd, collect, &left), 0);
        ck_assert_uint_eq(left.n, 1);
        ck_assert(has(&left, "8:16"));
        ck_assert_int_eq(flags_finish(run_fd, "8:16"), 0);
        ck_assert_int_eq(flags_finish(run_fd, "8:16"), 0);
}
END_TEST

START_TEST(request_is_posted_twice)
{
        _cleanup_strv_ struct strv taken = {};

        ck_assert_int_eq(flags_post(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_post(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_take_requests(run_fd, collect, &taken), 0);
        ck_assert_uint_eq(taken.n, 1);
}
END_TEST

/* A request for a device that is at work is a new entry, and outlives the end of the first. */
START_TEST(request_during_work_is_kept)
{
        _cleanup_strv_ struct strv first = {}, second = {};

        ck_assert_int_eq(flags_post(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_take_requests(run_fd, collect, &first), 0);
        ck_assert_int_eq(flags_post(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_finish(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_ask_pending(run_fd), 1);
        ck_assert_int_eq(flags_take_requests(run_fd, collect, &second), 0);
        ck_assert(has(&second, "8:0"));
}
END_TEST

/* Killed after R1: the entry is there, the flag is not. */
START_TEST(requester_dies_before_the_flag)
{
        _cleanup_strv_ struct strv taken = {};

        ck_assert_int_eq(mknodat(run_fd, FLAGS_PENDING_DIRECTORY "/8:0", S_IFREG | 0600, 0), 0);
        ck_assert_int_eq(flags_ask_pending(run_fd), 1);
        ck_assert_int_eq(flags_take_requests(run_fd, collect, &taken), 0);
        ck_assert(has(&taken, "8:0"));
}
END_TEST

/* Killed after W2: the flag is gone, the entry is not. */
START_TEST(worker_dies_after_clearing_the_flag)
{
        _cleanup_strv_ struct strv taken = {};

        ck_assert_int_eq(flags_post(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_clear(run_fd, FLAGS_PENDING), 0);
        ck_assert_int_eq(flags_ask_pending(run_fd), 1);
        ck_assert_int_eq(flags_take_requests(run_fd, collect, &taken), 0);
        ck_assert(has(&taken, "8:0"));
}
END_TEST

static int die_at_second(_unused_ const char *entry, void *userdata)
{
        unsigned int *n = userdata;

        return ++*n == 2 ? -EINTR : 0;
}

/* Killed in the middle of W3: what was moved is in working.d, the rest in pending.d, and nothing is in neither. */
START_TEST(worker_dies_while_moving)
{
        _cleanup_strv_ struct strv all = {};
        unsigned int n = 0;

        for (unsigned int i = 0; i < 5; i++) {
                _cleanup_free_ char *entry = string_format("8:%u", i * 16);

                ck_assert_int_eq(flags_post(run_fd, entry), 0);
        }
        ck_assert_int_eq(flags_take_requests(run_fd, die_at_second, &n), -EINTR);

        ck_assert_int_eq(flags_take_left_over(run_fd, collect, &all), 0);
        ck_assert_uint_eq(all.n, 2);
        ck_assert_int_eq(flags_take_requests(run_fd, collect, &all), 0);
        ck_assert_uint_eq(all.n, 5);
        for (unsigned int i = 0; i < 5; i++) {
                _cleanup_free_ char *entry = string_format("8:%u", i * 16);

                ck_assert(has(&all, entry));
        }
}
END_TEST

START_TEST(lock_is_held_once)
{
        int first = -EBADF, second = -EBADF;

        ck_assert_int_eq(flags_ask_running(run_fd), FLAGS_NOT_RUNNING);
        ck_assert_int_eq(flags_take_running(run_fd, &first), FLAGS_NOT_RUNNING);
        ck_assert_int_eq(flags_ask_running(run_fd), FLAGS_IS_RUNNING);
        ck_assert_int_eq(flags_take_running(run_fd, &second), FLAGS_IS_RUNNING);
        ck_assert_int_eq(second, -EBADF);
        close(first);
        ck_assert_int_eq(flags_ask_running(run_fd), FLAGS_NOT_RUNNING);
        ck_assert_int_eq(flags_take_running(run_fd, &second), FLAGS_NOT_RUNNING);
        close(second);
}
END_TEST

/* A probe that held the lock for a moment would make a starting worker believe in another one. */
START_TEST(probe_does_not_take_the_lock)
{
        int fd = -EBADF;

        for (unsigned int i = 0; i < 100; i++) {
                ck_assert_int_eq(flags_ask_running(run_fd), FLAGS_NOT_RUNNING);
                ck_assert_int_eq(flags_take_running(run_fd, &fd), FLAGS_NOT_RUNNING);
                close(fd);
        }
}
END_TEST

/* R3 before W5 and W6 after it: the worker that is about to leave sees the entry. */
START_TEST(request_while_the_worker_leaves)
{
        int fd = -EBADF;

        ck_assert_int_eq(flags_take_running(run_fd, &fd), FLAGS_NOT_RUNNING);
        ck_assert_int_eq(flags_post(run_fd, "8:0"), 0);
        ck_assert_int_eq(flags_ask_running(run_fd), FLAGS_IS_RUNNING);
        close(fd);
        ck_assert_int_eq(flags_ask_pending(run_fd), 1);
}
END_TEST

START_TEST(wakeup_reaches_the_socket)
{
        _cleanup_close_ int fd = listen_for_wakeups();
        char text[16];

        ck_assert_int_eq(flags_wake(FLAGS_WAKE), 0);
        ck_assert_int_eq(recv(fd, text, sizeof(text), 0), strlen(FLAGS_WAKE));
        ck_assert_mem_eq(text, FLAGS_WAKE, strlen(FLAGS_WAKE));
}
END_TEST

START_TEST(full_socket_is_no_error)
{
        _cleanup_close_ int fd = listen_for_wakeups();
        char text[16];
        size_t n = 0;

        /* net.unix.max_dgram_qlen is 512 at most by default, and the buffer is smaller still. */
        for (unsigned int i = 0; i < 5000; i++)
                ck_assert_int_eq(flags_wake(FLAGS_WAKE), 0);
        while (recv(fd, text, sizeof(text), 0) > 0)
                n++;
        ck_assert_uint_lt(n, 5000);
        ck_assert_uint_gt(n, 0);
}
END_TEST

START_TEST(nobody_listens)
{
        ck_assert_int_eq(flags_wake(FLAGS_WAKE), -ENOENT);
        close(listen_for_wakeups());
        ck_assert_int_eq(flags_wake(FLAGS_WAKE), -ECONNREFUSED);
        /* No unit belongs to this directory. */
        ck_assert_int_eq(flags_restart_socket(), -ECONNREFUSED);
}
END_TEST

START_TEST(missing_directory_is_an_error)
{
        ck_assert_int_eq(unlinkat(run_fd, FLAGS_PENDING_DIRECTORY, AT_REMOVEDIR), 0);
        ck_assert_int_eq(flags_post(run_fd, "8:0"), -ENOENT);
        ck_assert_int_eq(flags_is_set(run_fd, FLAGS_PENDING), 0);
}
END_TEST

/* Killed at any moment from L2 on, a worker leaves word for the next one. */
START_TEST(leaving_worker_leaves_word)
{
        ck_assert_int_eq(flags_end_listening(run_fd), 0);
        ck_assert_int_eq(flags_is_set(run_fd, FLAGS_RESYNC), 0);

        ck_assert_int_eq(flags_set(run_fd, FLAGS_LISTENING), 0);
        ck_assert_int_eq(flags_end_listening(run_fd), 0);
        ck_assert_int_eq(flags_is_set(run_fd, FLAGS_LISTENING), 0);
        ck_assert_int_eq(flags_is_set(run_fd, FLAGS_RESYNC), 1);
}
END_TEST

START_TEST(flags_are_set_and_cleared)
{
        ck_assert_int_eq(flags_is_set(run_fd, FLAGS_LISTENING), 0);
        ck_assert_int_eq(flags_set(run_fd, FLAGS_LISTENING), 0);
        ck_assert_int_eq(flags_set(run_fd, FLAGS_LISTENING), 0);
        ck_assert_int_eq(flags_is_set(run_fd, FLAGS_LISTENING), 1);
        ck_assert_int_eq(flags_clear(run_fd, FLAGS_LISTENING), 0);
        ck_assert_int_eq(flags_clear(run_fd, FLAGS_LISTENING), 0);
        ck_assert_int_eq(flags_is_set(run_fd, FLAGS_LISTENING), 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("flags");
        TCase *test_case = tcase_create("protocol");

        tcase_add_checked_fixture(test_case, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(test_case, request_is_taken_and_finished);
        tcase_add_test(test_case, request_is_posted_twice);
        tcase_add_test(test_case, request_during_work_is_kept);
        tcase_add_test(test_case, requester_dies_before_the_flag);
        tcase_add_test(test_case, worker_dies_after_clearing_the_flag);
        tcase_add_test(test_case, worker_dies_while_moving);
        tcase_add_test(test_case, lock_is_held_once);
        tcase_add_test(test_case, probe_does_not_take_the_lock);
        tcase_add_test(test_case, request_while_the_worker_leaves);
        tcase_add_test(test_case, wakeup_reaches_the_socket);
        tcase_add_test(test_case, full_socket_is_no_error);
        tcase_add_test(test_case, nobody_listens);
        tcase_add_test(test_case, missing_directory_is_an_error);
        tcase_add_test(test_case, leaving_worker_leaves_word);
        tcase_add_test(test_case, flags_are_set_and_cleared);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
