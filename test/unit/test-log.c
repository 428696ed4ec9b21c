/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is logged is one line, whatever is in it. The journal and the kernel's log are told the same text. */

#include "shared/log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <syslog.h>

#include "fixture.h"

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
        log_event(LOG_ERR, "00000000000000000000000000000000", "VG \r is active.", NULL, 0);
        assert_written("test: VG \\x0d is active.\n");
        log_info("\n");
        assert_written("test: \n");

        ck_assert_int_ge(dup2(kept_fd, STDERR_FILENO), 0);
        close(kept_fd);
        close(file_fd);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("log");
        TCase *test_case = tcase_create("log");

        tcase_add_test(test_case, messages_are_one_line);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
