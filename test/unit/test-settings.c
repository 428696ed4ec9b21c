/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/settings.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "shared/log.h"
#include "shared/program.h"

#define DEFAULT_DEADLINE (30 * USEC_PER_SEC)

/* The run directory of the fixture serves as root. */
static void set_up(void)
{
        run_directory_set_up();
        ck_assert_int_eq(mkdirat(run_fd, "etc", 0755), 0);
        ck_assert_int_eq(mkdirat(run_fd, "etc/headgate", 0755), 0);
}

static void write_settings(const char *text)
{
        _cleanup_close_ int fd = openat(run_fd, "etc/headgate/headgate.conf", O_WRONLY | O_CREAT | O_TRUNC, 0644);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, text, strlen(text)), 0);
}

/* What the settings are with this text, and what is said about it, as a line for each problem. */
static void read_settings(const char *text, struct settings *ret, struct problems *ret_problems)
{
        *ret_problems = (struct problems){};
        write_settings(text);
        ck_assert_int_eq(settings_read(run_fd, ret, ret_problems), 0);
}

static void assert_defaults(const struct settings *settings)
{
        ck_assert_uint_eq(settings->deadline_usec, DEFAULT_DEADLINE);
        ck_assert(settings->direct_activation);
        ck_assert(settings->parallel_teardown);
        ck_assert_uint_eq(settings->teardown_deadline_usec, DEFAULT_DEADLINE);
        ck_assert_uint_eq(settings->boot_vgs.n, 0);
        ck_assert_uint_eq(settings->net_vgs.n, 0);
        ck_assert_uint_eq(settings->policies.n, 0);
}

START_TEST(no_file_means_defaults)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        ck_assert_int_eq(settings_read(run_fd, &settings, &problems), 0);
        assert_defaults(&settings);
        ck_assert_int_eq(problems.error, 0);
}
END_TEST

START_TEST(comments_mean_defaults)
{
        static const char *const texts[] = {"", "\n", "# deadline = 5", " # deadline = 5\n\t\n#\n"};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings(texts[_i], &settings, &problems);
        assert_defaults(&settings);
        ck_assert_int_eq(problems.error, 0);
}
END_TEST

START_TEST(every_key)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings("# how long\n"
                      "deadline = 5\n"
                      "direct_activation=0\n"
                      "parallel_teardown=0\n"
                      "teardown_deadline = 6\n"
                      "boot_volume_groups = [ \"data\", \"a.b+c_d\" ]\n"
                      "net_volume_groups = \"san\"\n",
                &settings, &problems);
        ck_assert_uint_eq(problems.lines.n, 0);
        ck_assert_uint_eq(settings.deadline_usec, 5 * USEC_PER_SEC);
        ck_assert(!settings.direct_activation);
        ck_assert(!settings.parallel_teardown);
        ck_assert_uint_eq(settings.teardown_deadline_usec, 6 * USEC_PER_SEC);
        ck_assert_uint_eq(settings.boot_vgs.n, 2);
        ck_assert_str_eq(settings.boot_vgs.strings[0], "data");
        ck_assert_str_eq(settings.boot_vgs.strings[1], "a.b+c_d");
        ck_assert_uint_eq(settings.net_vgs.n, 1);
        ck_assert_str_eq(settings.net_vgs.strings[0], "san");
}
END_TEST

static const struct {
        const char *value;
        uint64_t seconds; /* 0: not taken */
} deadline_rows[] = {
        {"1", 1},
        {"86400", 86400},
        {"0", 0},
        {"86401", 0},
        {"-1", 0},
        {"99999999999999999999999999", 0},
};

/* Of both keys, which do not touch each other. */
START_TEST(bounds_of_deadlines)
{
        bool is_teardown = _i % 2 != 0;
        const char *value = deadline_rows[_i / 2].value;
        uint64_t seconds = deadline_rows[_i / 2].seconds;
        uint64_t expected = seconds > 0 ? seconds * USEC_PER_SEC : DEFAULT_DEADLINE;
        _cleanup_free_ char *text =
                string_format("%s = %s\n", is_teardown ? "teardown_deadline" : "deadline", value);
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings(text, &settings, &problems);
        ck_assert_uint_eq(settings.deadline_usec, is_teardown ? DEFAULT_DEADLINE : expected);
        ck_assert_uint_eq(settings.teardown_deadline_usec, is_teardown ? expected : DEFAULT_DEADLINE);
        ck_assert_uint_eq(problems.lines.n, seconds > 0 ? 0 : 1);
}
END_TEST

/* Each is one line that names the file and the key, and leaves the default. */
START_TEST(what_is_wrong_has_its_default)
{
        static const struct {
                const char *text;
                const char *key;
        } rows[] = {
                {"deadline = \"soon\"", "deadline"},
                {"deadline = 1.5", "deadline"},
                {"deadline = [ 5, 6 ]", "deadline"},
                {"deadline { }", "deadline"},
                {"direct_activation = 2", "direct_activation"},
                {"direct_activation = \"off\"", "direct_activation"},
                {"boot_volume_groups = 7", "boot_volume_groups"},
                {"boot_volume_groups = [ \"a\", 7 ]", "boot_volume_groups"},
                {"boot_volume_groups = [ \"-a\" ]", "boot_volume_groups"},
                {"net_volume_groups { a = \"b\" }", "net_volume_groups"},
                {"net_volume_groups = [ \"a/b\" ]", "net_volume_groups"},
                {"parallel_teardown = 32", "parallel_teardown"},
                {"teardown_deadline = \"never\"", "teardown_deadline"},
                {"deadlines = 5", "deadlines"},
                {"section { deadline = 5 }", "section"},
        };
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings(rows[_i].text, &settings, &problems);
        assert_defaults(&settings);
        ck_assert_int_eq(problems.error, -EINVAL);
        ck_assert_uint_eq(problems.lines.n, 1);
        ck_assert_ptr_nonnull(strstr(problems.lines.strings[0], "/etc/headgate/headgate.conf: "));
        ck_assert_ptr_nonnull(strstr(problems.lines.strings[0], rows[_i].key));
}
END_TEST

/* The section that counts, whether it allows degraded and expects the VG, and its deadline in seconds. */
START_TEST(policies)
{
        static const struct {
                const char *name;
                bool degraded, expected;
                uint64_t seconds;
        } rows[] = {
                {"data", true, true, 90},
                {"vg_last", true, true, 7},
                {"vg_first", false, true, 12},
                {"vg_other", false, false, 8},
                {"media", true, true, 7},
                {"plain", false, true, 7},
                {"yes2", true, true, 7},
        };
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings("volume_groups {\n"
                      "    \"vg_f*\" { deadline = 12 }\n"
                      "    vg_* { degraded = \"no\" expected = \"no\" deadline = 8 }\n"
                      "    data { degraded = \"yes\" deadline = 90 }\n"
                      "    vg_last { degraded = \"yes\" }\n"
                      "    \"[lm]edia\" { degraded = 1 }\n"
                      "    yes? { degraded = \"yes\" }\n"
                      "    empty { }\n"
                      "}\n"
                      "deadline = 7\n",
                &settings, &problems);
        ck_assert_uint_eq(problems.lines.n, 0);
        ck_assert_uint_eq(settings.policies.n, 7);
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                const struct policy policy = settings_get_policy(&settings, rows[i].name);

                ck_assert_msg(policy.degraded == rows[i].degraded, "%s", rows[i].name);
                ck_assert_msg(policy.expected == rows[i].expected, "%s", rows[i].name);
                ck_assert_uint_eq(policy.deadline_usec, rows[i].seconds * USEC_PER_SEC);
        }
}
END_TEST

/* Each is one line that names the file, the VG and the key, and everything else counts. */
START_TEST(wrong_policies)
{
        static const struct {
                const char *text;
                const char *line;
        } rows[] = {
                {"data { degrade = \"yes\" }", "volume_groups/data: unknown key \"degrade\"."},
                {"data { degraded = \"maybe\" }",
                        "volume_groups/data: degraded must be 0 or 1, \"no\" or \"yes\"."},
                {"data { degraded = 2 }", "volume_groups/data: degraded must be 0 or 1, \"no\" or \"yes\"."},
                {"data { degraded = [ \"yes\", \"no\" ] }",
                        "volume_groups/data: degraded must be 0 or 1, \"no\" or \"yes\"."},
                {"data { degraded { } }", "volume_groups/data: degraded must be 0 or 1, \"no\" or \"yes\"."},
                {"data { deadline = 0 }",
                        "volume_groups/data: deadline must be a number of seconds from 1 to 86400."},
                {"data* { deadline = \"5\" }",
                        "volume_groups/data*: deadline must be a number of seconds from 1 to 86400."},
                {"data = \"yes\"", "volume_groups/data must be a section: data { ... }."},
                {"\"a b\" { degraded = \"yes\" }",
                        "volume_groups: \"a b\" is neither a valid VG name nor a pattern."},
                {"\"a\nb*\" { degraded = \"yes\" }",
                        "volume_groups: \"a\\x0ab*\" is neither a valid VG name nor a pattern."},
        };
        _cleanup_free_ char *text = string_format(
                "volume_groups {\n%s\nother { degraded = \"yes\" deadline = 9 }\n}\ndeadline = 7", rows[_i].text);
        _cleanup_free_ char *line = string_format("/etc/headgate/headgate.conf: %s", rows[_i].line);
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings(text, &settings, &problems);
        ck_assert_uint_eq(problems.lines.n, 1);
        ck_assert_str_eq(problems.lines.strings[0], line);
        ck_assert(!settings_get_policy(&settings, "data").degraded);
        ck_assert_uint_eq(settings_get_policy(&settings, "data").deadline_usec, 7 * USEC_PER_SEC);
        ck_assert(settings_get_policy(&settings, "other").degraded);
        ck_assert_uint_eq(settings_get_policy(&settings, "other").deadline_usec, 9 * USEC_PER_SEC);
}
END_TEST

START_TEST(policies_that_are_no_section)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings("volume_groups = [ \"data\" ]\n", &settings, &problems);
        assert_defaults(&settings);
        ck_assert_uint_eq(problems.lines.n, 1);
        ck_assert_str_eq(problems.lines.strings[0],
                "/etc/headgate/headgate.conf: volume_groups must be a section that contains one section for each VG.");
}
END_TEST

START_TEST(the_rest_counts)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings("nonsense = 1\n"
                      "boot_volume_groups = [ \"good\", \"a\nb\", \"better\" ]\n"
                      "direct_activation = \"\"\n"
                      "deadline = 7\n",
                &settings, &problems);
        ck_assert_uint_eq(problems.lines.n, 3);
        ck_assert_ptr_nonnull(strstr(problems.lines.strings[1], "a\\x0ab"));
        ck_assert_uint_eq(settings.deadline_usec, 7 * USEC_PER_SEC);
        ck_assert_uint_eq(settings.boot_vgs.n, 2);
        ck_assert_str_eq(settings.boot_vgs.strings[1], "better");
}
END_TEST

START_TEST(malformed_files)
{
        static const char *const texts[] = {
                "deadline = ",
                "deadline = 5 }",
                "deadline 5",
                "= 5",
                "{ deadline = 5 }",
        };
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        read_settings(texts[_i], &settings, &problems);
        assert_defaults(&settings);
        ck_assert_ptr_nonnull(strstr(problems.lines.strings[0], ".conf: Parse error at byte "));
        ck_assert_uint_eq(problems.lines.n, 1);
        ck_assert_int_ne(problems.error, 0);
}
END_TEST

/* libdevmapper's parser would take these with it. */
START_TEST(deep_sections_are_refused)
{
        static char text[2 * 1000 * 1000 + 1];
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        for (size_t i = 0; i < sizeof(text) - 1; i += 2)
                memcpy(text + i, "a{", 2);
        read_settings(text, &settings, &problems);
        assert_defaults(&settings);
        ck_assert_uint_eq(problems.lines.n, 1);
}
END_TEST

START_TEST(a_directory_in_its_place)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};

        ck_assert_int_eq(mkdirat(run_fd, "etc/headgate/headgate.conf", 0755), 0);
        ck_assert_int_eq(settings_read(run_fd, &settings, &problems), 0);
        assert_defaults(&settings);
        ck_assert_int_eq(problems.error, -EISDIR);
        ck_assert_uint_eq(problems.lines.n, 1);
}
END_TEST

/* The root that tests choose. */
START_TEST(root_of_the_tests)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_close_ int root_fd = -EBADF;

        write_settings("deadline = 3");
        ck_assert_int_eq(setenv("HEADGATE_ROOT", run_directory(), true), 0);
        ck_assert_str_eq(root_path(), run_directory());
        ck_assert(root_is_chosen());
        root_fd = root_open();
        ck_assert_int_eq(unsetenv("HEADGATE_ROOT"), 0);
        ck_assert_str_eq(root_path(), "/");
        ck_assert(!root_is_chosen());
        ck_assert_int_ge(root_fd, 0);
        ck_assert_int_eq(settings_read(root_fd, &settings, &problems), 0);
        ck_assert_uint_eq(settings.deadline_usec, 3 * USEC_PER_SEC);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("settings");
        TCase *tcase = tcase_create("settings");

        /* It takes libdevmapper's messages. */
        log_open("test-settings", LOG_TARGET_STDERR);
        tcase_add_checked_fixture(tcase, set_up, run_directory_tear_down);
        tcase_add_test(tcase, no_file_means_defaults);
        tcase_add_loop_test(tcase, comments_mean_defaults, 0, 4);
        tcase_add_test(tcase, every_key);
        tcase_add_loop_test(tcase, bounds_of_deadlines, 0, 2 * ELEMENTSOF(deadline_rows));
        tcase_add_loop_test(tcase, what_is_wrong_has_its_default, 0, 15);
        tcase_add_test(tcase, policies);
        tcase_add_loop_test(tcase, wrong_policies, 0, 10);
        tcase_add_test(tcase, policies_that_are_no_section);
        tcase_add_test(tcase, the_rest_counts);
        tcase_add_loop_test(tcase, malformed_files, 0, 5);
        tcase_add_test(tcase, deep_sections_are_refused);
        tcase_add_test(tcase, a_directory_in_its_place);
        tcase_add_test(tcase, root_of_the_tests);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
