/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/util.h"

#include "fixture.h"

START_TEST(the_first_error_counts)
{
        _cleanup_problems_ struct problems problems = {};

        problems_add(&problems, -EACCES, "first");
        problems_add(&problems, -ENOENT, "second");
        ck_assert_int_eq(problems.error, -EACCES);
        ck_assert_uint_eq(problems.lines.n, 2);
        ck_assert_str_eq(problems.lines.strings[0], "first");
        ck_assert_str_eq(problems.lines.strings[1], "second");
}
END_TEST

START_TEST(errors_have_words)
{
        _cleanup_problems_ struct problems problems = {};

        problems_add(&problems, -ENOENT, "%s: %m", "/etc/fstab");
        ck_assert_str_eq(problems.lines.strings[0], "/etc/fstab: No such file or directory");
}
END_TEST

/* A name that forges a line of the log, one that turns the terminal red, and one that is not ASCII. */
START_TEST(lines_are_printable)
{
        _cleanup_problems_ struct problems problems = {};

        problems_add(&problems, -EINVAL, "%s", "a\nkernel: panic");
        problems_add(&problems, -EINVAL, "%s", "\x1b[31m\x7f");
        problems_add(&problems, -EINVAL, "%s", "\xc3\xa9 ~");
        ck_assert_str_eq(problems.lines.strings[0], "a\\x0akernel: panic");
        ck_assert_str_eq(problems.lines.strings[1], "\\x1b[31m\\x7f");
        ck_assert_str_eq(problems.lines.strings[2], "\\xc3\\xa9 ~");
}
END_TEST

START_TEST(starts_and_ends_empty)
{
        struct problems problems = {};

        ck_assert_int_eq(problems.error, 0);
        problems_add(&problems, -EINVAL, "one");
        problems_done(&problems);
        ck_assert_int_eq(problems.error, 0);
        ck_assert_uint_eq(problems.lines.n, 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("problems");
        TCase *tcase = tcase_create("problems");

        tcase_add_test(tcase, the_first_error_counts);
        tcase_add_test(tcase, errors_have_words);
        tcase_add_test(tcase, lines_are_printable);
        tcase_add_test(tcase, starts_and_ends_empty);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
