/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Running lvm, with a script in its place that prints and fails as told, and finding in what lvm2 prints the line
 * that matters. */

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"
#include "lvm/command.h"

/* As lvm2 2.03.16 prints them. */
static const char output[] = "  Volume group \"vg1\" not found\n"
                             "  Cannot process volume group vg1\n"
                             "  1 logical volume(s) in volume group \"vg10\" now active\n"
                             "  device-mapper: create ioctl on vg10-lv failed: Device or resource busy\n"
                             "  pvscan[123] /dev/sda1 excluded by filters: device is partitioned.\n"
                             "  pvscan[123] PV /dev/sdaa online.\n"
                             "  VG a.b+c-d is foreign.\n"
                             "  PVs online incomplete for VG x.\n"
                             "  WARNING: Unrecognised segment type \x1b]0;red\x07\xff\r of vg2/lv\n";

static void assert_found(const char *word, const char *expected)
{
        _cleanup_free_ char *line = lvm_output_find(output, word);

        if (!expected)
                ck_assert_ptr_null(line);
        else {
                ck_assert_ptr_nonnull(line);
                ck_assert_str_eq(line, expected);
        }
}

START_TEST(line_is_found_by_a_whole_name)
{
        assert_found("vg1", "Volume group \"vg1\" not found");
        /* The summary says nothing of why there are not more. */
        assert_found("vg10", NULL);
        assert_found("vg10-lv", "device-mapper: create ioctl on vg10-lv failed: Device or resource busy");
        assert_found("vg", NULL);
        assert_found("g1", NULL);
        assert_found("/dev/sda1", "pvscan[123] /dev/sda1 excluded by filters: device is partitioned.");
        assert_found("/dev/sda", NULL);
        assert_found("/dev/sdaa", "pvscan[123] PV /dev/sdaa online.");
        assert_found("a.b+c-d", "VG a.b+c-d is foreign.");
        assert_found("a.b", NULL);
        assert_found("c-d", NULL);
        /* The full stop ends the sentence. */
        assert_found("x", "PVs online incomplete for VG x.");
        /* It goes to the journal and to terminals. */
        assert_found("vg2/lv", "WARNING: Unrecognised segment type \\x1b]0;red\\x07\\xff\\x0d of vg2/lv");
}
END_TEST

START_TEST(errors_are_no_warnings)
{
        static const struct {
                const char *output, *errors, *begin;
        } rows[] = {
                {"", "", ""},
                {"  1 logical volume(s) in volume group \"vg1\" now active\n", "", ""},
                {"  PVs online not found for VG vg1, using all devices.\n", "", ""},
                {"  WARNING: Checksum error on /dev/sde.\n  WARNING: repair it.\n", "",
                        "WARNING: Checksum error on /dev/sde.; WARNING: repair it."},
                {"  WARNING: odd.\n  ioctl failed: busy\n  ioctl failed: busy\n",
                        "ioctl failed: busy\nioctl failed: busy\n", "WARNING: odd.; ioctl failed: busy"},
                {"  a\n  b\n  c\n  d\n  e", "a\nb\nc\nd\ne\n", "a; b; c; d"},
                {"a\x1b", "a\x1b\n", "a\\x1b"},
        };
        _cleanup_free_ char *errors = lvm_output_errors(rows[_i].output),
                            *begin = lvm_output_begin(rows[_i].output);

        ck_assert_str_eq(errors, rows[_i].errors);
        ck_assert_str_eq(begin, rows[_i].begin);
}
END_TEST

START_TEST(output_and_status_are_kept)
{
        char path[] = "/tmp/headgate-test-command-XXXXXX";
        static const char script[] = "#!/bin/sh\necho \"to the left: $*\"\necho to the right >&2\nexit 5\n";
        _cleanup_strv_ struct strv arguments = {};
        _cleanup_free_ char *printed = NULL;
        struct lvm_command command;
        int fd, status;

        fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, script, strlen(script)), 0);
        ck_assert_int_eq(fchmod(fd, 0700), 0);
        close(fd);
        ck_assert_int_eq(setenv("HEADGATE_LVM", path, true), 0);

        ck_assert_int_eq(strv_add(&arguments, "vgchange"), 0);
        ck_assert_int_eq(strv_add(&arguments, "a b"), 0);
        ck_assert_int_eq(command_start(lvm_program(), &arguments, &command), 0);
        ck_assert_int_eq(waitpid(command.pid, &status, 0), command.pid);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 5);
        ck_assert_int_eq(lvm_command_read_output(&command, &printed), 0);
        ck_assert_str_eq(printed, "to the left: vgchange a b\nto the right\n");
        lvm_command_done(&command);
        ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(longest_program_counts)
{
        static const struct {
                const char *name; /* at each look, a second after the one before */
        } looks[] = {{NULL}, {"thin_check"}, {"thin_check"}, {NULL}, {"thin_check"}, {"cache_check"}, {NULL}};
        struct program_times times = {.looked_usec = 7 * USEC_PER_SEC};

        for (size_t i = 0; i < ELEMENTSOF(looks); i++)
                program_times_add(&times, looks[i].name, (8 + i) * USEC_PER_SEC);
        ck_assert_str_eq(times.longest.name, "thin_check");
        ck_assert_uint_eq(times.longest.usec, 3 * USEC_PER_SEC);
        /* The worker may have had no time to look. */
        program_times_add(&times, "era_check", 60 * USEC_PER_SEC);
        program_times_add(&times, "era_check", 61 * USEC_PER_SEC);
        ck_assert_str_eq(times.longest.name, "thin_check");
        program_times_add(&times, "era_check", 62 * USEC_PER_SEC);
        ck_assert_str_eq(times.longest.name, "era_check");
        ck_assert_uint_eq(times.longest.usec, 4 * USEC_PER_SEC);
}
END_TEST

static int note_programs(struct job *job, int exit_status, _unused_ const char *printed, void *userdata)
{
        *(struct program_times *) userdata = job->programs;
        return sd_event_exit(sd_event_source_get_event(job->source), exit_status);
}

START_TEST(program_of_lvm_is_found)
{
        char path[] = "/tmp/headgate-test-command-XXXXXX";
        static const char script[] = "#!/bin/sh\nsleep 2.5\nexit 0\n";
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_strv_ struct strv arguments = {};
        struct program_times times = {};
        struct job *job;
        sigset_t signals;
        int fd = mkstemp(path);

        sigemptyset(&signals);
        sigaddset(&signals, SIGCHLD);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &signals, NULL), 0);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, script, strlen(script)), 0);
        ck_assert_int_eq(fchmod(fd, 0700), 0);
        close(fd);
        ck_assert_int_eq(setenv("HEADGATE_LVM", path, true), 0);
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(strv_add(&arguments, "vgchange"), 0);
        ck_assert_int_eq(job_start(event, JOB_ACTIVATE, &arguments, note_programs, &times, &job), 0);
        ck_assert_int_eq(sd_event_loop(event), 0);
        ck_assert_str_eq(times.longest.name, "sleep");
        ck_assert_uint_ge(times.longest.usec, USEC_PER_SEC);
        ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* What `program` prints, of /proc/self; NULL if that is too much. */
static char *printed_by(const char *program, const char *argument)
{
        _cleanup_strv_ struct strv arguments = {};
        struct lvm_command command;
        char *printed = NULL;
        int status, r;

        ck_assert_int_eq(setenv("HEADGATE_LVM", program, true), 0);
        ck_assert_int_eq(strv_add(&arguments, argument), 0);
        ck_assert_int_eq(command_start(lvm_program(), &arguments, &command), 0);
        ck_assert_int_eq(waitpid(command.pid, &status, 0), command.pid);
        ck_assert_int_eq(status, 0);
        r = lvm_command_read_output(&command, &printed);
        ck_assert_int_eq(r, printed ? 0 : -EFBIG);
        lvm_command_done(&command);
        return printed;
}

START_TEST(environment_is_its_own)
{
        static const char expected[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\0"
                                       "LC_ALL=C\0"
                                       "DEVLINKS=\0";
        static const char with_directory[] = "LVM_SYSTEM_DIR=/somewhere";
        char *printed;

        ck_assert_int_eq(setenv("DM_DEV_DIR", "/elsewhere", true), 0);
        ck_assert_int_eq(setenv("NOTIFY_SOCKET", "/elsewhere", true), 0);
        ck_assert_int_eq(setenv("PATH", "/elsewhere", true), 0);
        printed = printed_by("/bin/cat", "/proc/self/environ");
        ck_assert_mem_eq(printed, expected, sizeof(expected));
        free(printed);

        ck_assert_int_eq(setenv("LVM_SYSTEM_DIR", "/somewhere", true), 0);
        printed = printed_by("/bin/cat", "/proc/self/environ");
        ck_assert_int_eq(unsetenv("LVM_SYSTEM_DIR"), 0);
        ck_assert_mem_eq(printed, expected, sizeof(expected) - 1);
        ck_assert_mem_eq(printed + sizeof(expected) - 1, with_directory, sizeof(with_directory));
        free(printed);
}
END_TEST

START_TEST(only_standard_descriptors_are_open)
{
        _cleanup_free_ char *printed = NULL;

        /* Some that are inherited, as those of libraries may be. */
        for (int i = 0; i < 20; i++)
                ck_assert_int_ge(open("/", O_RDONLY | O_DIRECTORY), 0);
        printed = printed_by("/bin/ls", "/proc/self/fd");
        /* The last one is of the directory that it lists. */
        ck_assert_str_eq(printed, "0\n1\n2\n3\n");
}
END_TEST

START_TEST(too_much_output_is_an_error)
{
        _cleanup_free_ char *less = NULL;
        _cleanup_free_ char *more = NULL;

        less = printed_by("/usr/bin/seq", "1000000");
        ck_assert_uint_eq(strlen(less), 6888896);
        more = printed_by("/usr/bin/seq", "3000000");
        ck_assert_ptr_null(more);
}
END_TEST

START_TEST(missing_program_is_an_error)
{
        _cleanup_strv_ struct strv arguments = {};
        struct lvm_command command;

        ck_assert_int_eq(setenv("HEADGATE_LVM", "/nonexistent/lvm", true), 0);
        ck_assert_int_eq(strv_add(&arguments, "pvscan"), 0);
        ck_assert_int_eq(command_start(lvm_program(), &arguments, &command), -ENOENT);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("command");
        TCase *test_case = tcase_create("command");

        tcase_add_test(test_case, line_is_found_by_a_whole_name);
        tcase_add_loop_test(test_case, errors_are_no_warnings, 0, 6);
        tcase_add_test(test_case, output_and_status_are_kept);
        tcase_add_test(test_case, environment_is_its_own);
        tcase_add_test(test_case, only_standard_descriptors_are_open);
        tcase_add_test(test_case, too_much_output_is_an_error);
        tcase_add_test(test_case, missing_program_is_an_error);
        tcase_add_test(test_case, longest_program_counts);
        tcase_add_test(test_case, program_of_lvm_is_found);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
