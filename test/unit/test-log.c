/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is logged is one line, whatever is in it. The journal and the kernel's log are told the same text. */

#include "shared/log.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>

#include "fake-journald.h"
#include "fixture.h"
#include "own-namespace.h"
#include "shared/util.h"

/* More than the queue of a socket takes, by any setting of net.unix.max_dgram_qlen that is in use. */
#define MANY_LINES 3000

/* Standard error leads here while something is logged. */
static int file_fd;

static void assert_written(const char *expected)
{
        char text[256] = {};

        ck_assert_int_ge(pread(file_fd, text, sizeof(text) - 1, 0), 0);
        ck_assert_int_eq(ftruncate(file_fd, 0), 0);
        ck_assert_int_eq(lseek(file_fd, 0, SEEK_SET), 0);
        ck_assert_str_eq(text, expected);
}

START_TEST(messages_are_one_line)
{
        int kept_fd = dup(STDERR_FILENO);

        file_fd = memfd_create("standard error", MFD_CLOEXEC);
        ck_assert_int_ge(dup2(file_fd, STDERR_FILENO), 0);
        log_open("test", LOG_TARGET_STDERR);

        log_warning("Ignoring \"%s\".", "a\n<3>headgate: all is lost");
        assert_written("test: Ignoring \"a\\x0a<3>headgate: all is lost\".\n");
        log_error("%s", "\x1b[2J\x07\x7f\xc3\xbc\xff");
        assert_written("test: \\x1b[2J\\x07\\x7f\\xc3\\xbc\\xff\n");
        /* As programs print it. */
        log_info("vgchange has said: %s", "first\nsecond\n\n");
        assert_written("test: vgchange has said: first\\x0asecond\n");
        log_event(LOG_ERR, "00000000000000000000000000000000", "VG \r is active.", &(struct strv){});
        assert_written("test: VG \\x0d is active.\n");
        log_info("\n");
        assert_written("test: \n");

        ck_assert_int_ge(dup2(kept_fd, STDERR_FILENO), 0);
        close(kept_fd);
        close(file_fd);
}
END_TEST

static void read_line(int fd, char *text, size_t size)
{
        ssize_t length = recv(fd, text, size - 1, MSG_DONTWAIT);

        ck_assert_int_ge(length, 0);
        text[length] = '\0';
}

static unsigned int count_lines(int fd)
{
        static char text[4096];
        unsigned int n = 0;

        while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
                n++;
        return n;
}

START_TEST(lines_reach_the_journal)
{
        static char text[4096], long_field[600 * 1024 + 1] = "HEADGATE_LONG=";
        int fd = fake_journald_new();

        log_open("test", LOG_TARGET_JOURNAL);
        log_event(LOG_ERR, "00000000000000000000000000000000", "One line.",
                &(struct strv){(char *[]){(char *) "HEADGATE_TREE=a\nb"}, 1});
        read_line(fd, text, sizeof(text));
        ck_assert_ptr_nonnull(strstr(text, "MESSAGE=One line.\nPRIORITY=3\nSYSLOG_IDENTIFIER=test\n"));
        ck_assert_ptr_nonnull(strstr(text, "HEADGATE_TREE\n\3"));
        ck_assert_mem_eq(
                strstr(text, "HEADGATE_TREE\n") + strlen("HEADGATE_TREE\n"), "\3\0\0\0\0\0\0\0a\nb\n", 12);

        memset(long_field + strlen(long_field), 'x', sizeof(long_field) - 1 - strlen(long_field));
        log_event(LOG_ERR, "00000000000000000000000000000000", "A long one.",
                &(struct strv){(char *[]){long_field}, 1});
        read_line(fd, text, sizeof(text));
        ck_assert_str_eq(text, "MESSAGE=A long one.\nPRIORITY=3\nSYSLOG_IDENTIFIER=test\n"
                               "MESSAGE_ID=00000000000000000000000000000000\n");
        /* A message that is too long by itself is counted. */
        log_warning("%s", long_field);
        log_close();
        read_line(fd, text, sizeof(text));
        ck_assert_ptr_nonnull(strstr(text, "; 1 line was lost.\n"));
        close(fd);
}
END_TEST

START_TEST(a_journald_that_does_not_read_costs_a_second)
{
        static char text[4096];
        char expected[256];
        int fd = fake_journald_new();
        uint64_t begin = now_usec();
        unsigned int n;

        log_open("test", LOG_TARGET_JOURNAL);
        for (size_t i = 0; i < MANY_LINES; i++)
                log_warning("Line %zu.", i);
        ck_assert_uint_lt(now_usec() - begin, 2 * USEC_PER_SEC);
        n = count_lines(fd);
        ck_assert_uint_lt(n, MANY_LINES);

        log_warning("The next one.");
        read_line(fd, text, sizeof(text));
        (void) snprintf(expected, sizeof(expected),
                "MESSAGE=systemd-journald did not read its socket; %u lines were lost.\n", MANY_LINES - n);
        ck_assert_ptr_nonnull(strstr(text, expected));
        read_line(fd, text, sizeof(text));
        ck_assert_ptr_nonnull(strstr(text, "MESSAGE=The next one.\n"));
        ck_assert_uint_eq(count_lines(fd), 0);
        close(fd);
}
END_TEST

static void ignore_signal(_unused_ int number)
{
}

/* Longer in all than it is waited for if it does not read. */
static bool reads_slowly(int fd)
{
        const struct timeval timeout = {.tv_sec = 30};
        unsigned int n = 0;

        if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0)
                return false;
        while (n < MANY_LINES && usleep(500) == 0 && recv(fd, (char[1]){}, 1, 0) == 1)
                n++;
        return n == MANY_LINES && count_lines(fd) == 0;
}

START_TEST(a_slow_journald_gets_all_lines)
{
        const struct itimerval often = {{.tv_usec = 1000}, {.tv_usec = 1000}};
        const struct sigaction action = {.sa_handler = ignore_signal};
        uint64_t before_usec, behind_usec = 0, most_usec = 0;
        int fd = fake_journald_new(), status;
        pid_t journald = fork();

        ck_assert_int_ge(journald, 0);
        if (journald == 0)
                _exit(reads_slowly(fd) ? EXIT_SUCCESS : EXIT_FAILURE);
        /* Signals interrupt the waiting. */
        ck_assert_int_ge(sigaction(SIGALRM, &action, NULL), 0);
        ck_assert_int_ge(setitimer(ITIMER_REAL, &often, NULL), 0);
        log_open("test", LOG_TARGET_JOURNAL);
        for (size_t i = 0; i < MANY_LINES; i++) {
                before_usec = now_usec();
                log_warning("Line %zu.", i);
                behind_usec += now_usec() - before_usec;
                behind_usec -= MIN(behind_usec, 2 * USEC_PER_MSEC);
                most_usec = MAX(most_usec, behind_usec);
        }
        ck_assert_int_ge(setitimer(ITIMER_REAL, &(struct itimerval){}, NULL), 0);
        log_close();
        ck_assert_int_eq(waitpid(journald, &status, 0), journald);
        /* On a busy machine, lines may take longer than is made up for line by line. */
        if (most_usec < USEC_PER_SEC)
                ck_assert_int_eq(status, 0);
        close(fd);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("log");
        TCase *test_case = tcase_create("log");

        tcase_add_test(test_case, messages_are_one_line);
        tcase_add_test(test_case, lines_reach_the_journal);
        tcase_add_test(test_case, a_slow_journald_gets_all_lines);
        /* The last one: a process waits for a second in all. */
        tcase_add_test(test_case, a_journald_that_does_not_read_costs_a_second);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
