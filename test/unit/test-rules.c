/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/rules.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "shared/program.h"

#define LATE "usr/lib/udev/rules.d/98-late.rules"

/* Whether there is a late file, which is named. */
static bool names_late(void)
{
        _cleanup_rules_ struct rules rules = {};

        ck_assert_int_eq(rules_read(&rules, run_fd), 0);
        ck_assert_uint_eq(rules.obstacles.n, rules.late);
        ck_assert(!rules.late || strstr(rules.obstacles.strings[0], "/" LATE));
        return rules.late;
}

/* lvm2 waits for none of them. */
START_TEST(programs_of_later_rules_are_found)
{
        static const struct {
                const char *text;
                bool runs;
        } cases[] = {
                {"", false},
                {"# RUN+=\"x\"\n", false},
                {"RUN+=\"x\"\n", true},
                {"ACTION==\"add|remove\", RUN+=\"x\"\n", false},
                {"ACTION==\"add|change\", RUN+=\"x\"\n", true},
                {"ACTION!=\"add\", RUN+=\"x\"\n", true},
                {"SUBSYSTEM==\"net\", RUN+=\"x\"\n", false},
                {"SUBSYSTEM==\"b*\", RUN+=\"x\"\n", true},
                {"SUBSYSTEMS==\"scsi\", RUN+=\"x\"\n", false},
                {"KERNEL==\"dm-[0-9]*\", RUN{program}+=\"x\"\n", true},
                {"ENV{DM_UUID}==\"LVM-?*\", \\\n RUN+=\"x\"\n", true},
                /* As udev has them: lines that go on, with comments in between, and none that begins in a comment. */
                {"ACTION==\"remove\", \\\n GOTO=\"end\"\nRUN+=\"x\"\nLABEL=\"end\"\n", true},
                {"ENV{ID_FS_TYPE}!=\"?*\", \\\n  GOTO=\"end\"\nRUN+=\"x\"\nLABEL=\"end\"\n", true},
                {"ACTION==\"add\", \\\n  ENV{X}=\"1\"\nACTION==\"change\", RUN+=\"x\"\n", true},
                {"KERNEL==\"dm-*\", \\\n ACTION==\"add|change\", \\\n RUN+=\"x\"\n", true},
                {"KERNEL==\"sd*\", \\\n# of disks\n RUN+=\"x\"\n", false},
                {"KERNEL==\"dm-*\", \\\n# KERNEL==\"sd*\", \\\n RUN+=\"x\"\n", true},
                {"# a comment \\\nRUN+=\"x\"\n", true},
                {"KERNEL==\"sd*\", \\\n RUN+=\"x\" \\", false},
                {"KERNEL==\"sd*\", \\\r\n RUN+=\"x\"\r\n", true},
                /* Keys and values. */
                {"ENV{Y}==\"a ACTION==\\\"add\\\"\", RUN+=\"x\"\n", true},
                {"ENV{RUN}=\"RUN\", SYMLINK+=\"RUN\"\n", false},
                {"ACTION == \"add\" RUN += \"x\"\n", false},
                {"ACTION == \"change\" RUN += \"x\"\n", true},
                {"ACTION==i\"ADD\", RUN+=\"x\"\n", true},
                {"ACTION==\"add\", RUN+=\"x\n", true},
                {"ACTION==\"add\", RUN\n", true},
                {"KERNEL!=\"dm-*\", RUN+=\"x\"\n", false},
                {"KERNEL!=\"dm-1\", RUN+=\"x\"\n", true},
                {"KERNEL==\"dm-1\", RUN+=\"x\"\n", true},
                {"KERNEL==\"d*|sd*\", RUN+=\"x\"\n", true},
                {"KERNEL==\"dasd*|sd*\", RUN+=\"x\"\n", false},
                {"DEVPATH==\"*/virtual/*\", RUN+=\"x\"\n", true},
                {"DEVPATH==\"/devices/pci*\", RUN+=\"x\"\n", false},
                /* Ways through a file. */
                {"ENV{X}!=\"1\", GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"KERNEL!=\"sd*\", GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n", false},
                {"KERNEL!=\"sd*\", GOTO=\"a\"\nLABEL=\"b\", RUN+=\"x\"\nLABEL=\"a\"\n", false},
                {"ENV{X}==\"1\", GOTO=\"b\"\nGOTO=\"a\"\nLABEL=\"b\", RUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"PROGRAM=\"/bin/x\", GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"IMPORT{program}=\"/bin/x\", GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"LABEL=\"a\"\nGOTO=\"a\"\nRUN+=\"x\"\n", true},
                {"GOTO=\"nowhere\"\nRUN+=\"x\"\n", true},
                {"GOTO=\"nowhere\"\nSYMLINK+=\"x\"\n", false},
                /* That of kexec-tools. */
                {"SUBSYSTEM==\"cpu\", ACTION==\"add\", GOTO=\"reload\"\nGOTO=\"end\"\n"
                 "LABEL=\"reload\"\nRUN+=\"x\"\nLABEL=\"end\"\n",
                        false},
                {"SUBSYSTEM==\"block\", GOTO=\"reload\"\nGOTO=\"end\"\n"
                 "LABEL=\"reload\"\nRUN+=\"x\"\nLABEL=\"end\"\n",
                        true},
                {"GOTO=\"end\"\nRUN+=\"x\"\nLABEL=\"end\"\nRUN+=\"y\"\n", true},
                /* Lines that udev leaves out, with the LABEL or GOTO in them. */
                {"GOTO=\"a\"\nRUN+=\"x\"\nLABEL==\"a\"\n", true},
                {"GOTO=\"a\"\nRUN+=\"x\"\nLABEL+=\"a\"\n", true},
                {"GOTO=\"a\"\nRUN+=\"x\"\nLABEL=+\"a\"\n", true},
                {"GOTO=\"a\"\nRUN+=\"x\"\nLABEL{b}=\"a\"\n", true},
                {"GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\", NO_SUCH_KEY==\"1\"\n", true},
                {"GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\", NO_SUCH_KEY==\"1\", ACTION==\"add\"\n", true},
                {"GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\", \\", true},
                {"GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\", \\\n", true},
                {"GOTO=\"a\"\nLABEL=\"a\", NO_SUCH_KEY=\"1\"\nRUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"GOTO=\"a\"\nLABEL=\"a\"\nGOTO=\"b\"\nRUN+=\"x\"\nLABEL=\"\"\n", true},
                {"GOTO==\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"WAIT_FOR=\"x\", GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"ACTION=\"change\", GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"NAME=\"%k\", GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n", true},
                {"GOTO=\"a\", GOTO=\"b\"\nLABEL=\"a\"\nRUN+=\"x\"\nLABEL=\"b\"\n", true},
                /* Not a pattern, so the backslash is one. */
                {"ACTION!=\"chan\\ge\", RUN+=\"x\"\n", true},
                {"GOTO=\"end\", ACTION==\"add\"\nRUN+=\"x\"\nLABEL=\"end\"\n", true},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                write_file_and_directories(LATE, cases[i].text);
                ck_assert_msg(names_late() == cases[i].runs, "%s", cases[i].text);
        }
        for (size_t length = 16000; length <= 17000; length += 1000) {
                _cleanup_free_ char *text =
                        string_format("GOTO=\"a\"\nRUN+=\"x\"\nLABEL=\"a\"\n#%*s\n", (int) length, "");

                write_file_and_directories(LATE, text);
                ck_assert_int_eq(names_late(), length > 16384);
        }
        write_file_and_directories(LATE, "");
        write_file_and_directories("usr/lib/udev/rules.d/90-early.rules", "RUN+=\"x\"\n");
        ck_assert(!names_late());
}
END_TEST

/* Of files with one name, the first counts. */
START_TEST(masked_rules_do_not_count)
{
        static const char *const above = "etc/udev/rules.d/98-late.rules";
        write_file_and_directories(LATE, "RUN+=\"x\"\n");
        write_file_and_directories(above, "");
        ck_assert(!names_late());
        ck_assert_int_eq(unlinkat(run_fd, above, 0), 0);
        ck_assert_int_eq(symlinkat("/dev/null", run_fd, above), 0);
        ck_assert(!names_late());
        ck_assert_int_eq(unlinkat(run_fd, above, 0), 0);
        ck_assert_int_eq(mkdirat(run_fd, above, 0700), 0);
        ck_assert(!names_late());
        ck_assert_int_eq(unlinkat(run_fd, above, AT_REMOVEDIR), 0);
        ck_assert(names_late());
}
END_TEST

/* That is no reason to have no copies. */
START_TEST(rules_that_cannot_be_read_may_run_programs)
{
        write_file_and_directories(LATE, "");
        ck_assert_int_eq(unlinkat(run_fd, LATE, 0), 0);
        ck_assert_int_eq(symlinkat("98-late.rules", run_fd, LATE), 0);
        ck_assert(names_late());
}
END_TEST

#define ORIGINAL "usr/lib/udev/rules.d/55-dm.rules"
#define OVERRIDE "run/udev/rules.d/55-dm.rules"
#define CALL "ENV{DM_COOKIE}==\"?*\", IMPORT{program}=\"/sbin/dmsetup udevflags $env{DM_COOKIE}\"\n"

static bool override_has(const char *word)
{
        _cleanup_free_ char *text = NULL;

        return read_file_at(run_fd, OVERRIDE, &text, NULL) >= 0 && strstr(text, word);
}

static bool is_stale(void)
{
        _cleanup_rules_ struct rules rules = {};

        ck_assert_int_eq(rules_read(&rules, run_fd), 0);
        return ANY(FOREACH_ARRAY(override, rules.overrides, OVERRIDES_N), override->stale);
}

/* An upgrade, a change by hand, and one half made. */
START_TEST(overrides_follow_their_originals)
{
        struct rules rules = {};

        ck_assert_int_eq(setenv("HEADGATE_ROOT", run_directory(), true), 0);
        write_file_and_directories(ORIGINAL, "# first\n" CALL);
        write_file_and_directories("run/headgate/pending.d/x", "");
        ck_assert_int_eq(install_rule_overrides(), 0);
        ck_assert(override_has("# first"));
        ck_assert(!is_stale());
        ck_assert_int_eq(rules_refresh(&rules, run_fd), 1);

        write_file_and_directories(ORIGINAL, "# second\n" CALL);
        ck_assert(is_stale());
        ck_assert_int_eq(rules_refresh(&rules, run_fd), 1);
        ck_assert(override_has("# second"));
        ck_assert(!is_stale());
        ck_assert_int_eq(rules_refresh(&rules, run_fd), 1);

        write_file_and_directories(LATE, "RUN+=\"x\"\n");
        ck_assert_int_eq(rules_refresh(&rules, run_fd), 0);
        ck_assert_int_eq(unlinkat(run_fd, LATE, 0), 0);
        ck_assert_int_eq(rules_refresh(&rules, run_fd), 1);

        ck_assert_int_eq(unlinkat(run_fd, ORIGINAL, 0), 0);
        ck_assert(is_stale());
        ck_assert_int_eq(rules_refresh(&rules, run_fd), 1);
        ck_assert_int_lt(faccessat(run_fd, OVERRIDE, F_OK, 0), 0);
        ck_assert(!is_stale());

        write_file_and_directories(ORIGINAL, "# third\n" CALL);
        ck_assert_int_eq(rules_refresh(&rules, run_fd), 1);
        ck_assert(override_has("# third"));
        write_file_and_directories(ORIGINAL, "RUN+=\"/sbin/dmsetup udevflags\"\n");
        ck_assert_int_eq(rules_refresh(&rules, run_fd), 1);
        ck_assert_int_lt(faccessat(run_fd, OVERRIDE, F_OK, 0), 0);
        rules_done(&rules);
}
END_TEST

/* Within one tick of the kernel's clock for files. */
START_TEST(changes_at_the_same_moment_are_noticed)
{
        const char *const paths[] = {LATE};
        struct stat known = {};

        for (size_t i = 0; i < 200; i++) {
                write_file_and_directories(LATE, "# a\n");
                (void) files_have_changed(run_fd, paths, 1, &known);
                write_file_and_directories(LATE, "# b\n");
                ck_assert(files_have_changed(run_fd, paths, 1, &known));
        }
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("rules");
        TCase *tcase = tcase_create("rules");

        tcase_add_checked_fixture(tcase, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(tcase, programs_of_later_rules_are_found);
        tcase_add_test(tcase, masked_rules_do_not_count);
        tcase_add_test(tcase, rules_that_cannot_be_read_may_run_programs);
        tcase_add_test(tcase, overrides_follow_their_originals);
        tcase_add_test(tcase, changes_at_the_same_moment_are_noticed);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
