/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/rules.h"

#include "fixture.h"

#define LATE "usr/lib/udev/rules.d/98-late.rules"

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
                /* That of kexec-tools. */
                {"SUBSYSTEM==\"cpu\", ACTION==\"add\", GOTO=\"reload\"\nGOTO=\"end\"\n"
                 "LABEL=\"reload\"\nRUN+=\"x\"\nLABEL=\"end\"\n",
                        false},
                {"SUBSYSTEM==\"block\", GOTO=\"reload\"\nGOTO=\"end\"\n"
                 "LABEL=\"reload\"\nRUN+=\"x\"\nLABEL=\"end\"\n",
                        true},
                {"GOTO=\"end\"\nRUN+=\"x\"\nLABEL=\"end\"\nRUN+=\"y\"\n", true},
                {"GOTO=\"end\", ACTION==\"add\"\nRUN+=\"x\"\nLABEL=\"end\"\n", true},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *obstacle = NULL;

                write_file_and_directories(LATE, cases[i].text);
                ck_assert_msg(rules_find_late_program(run_fd, &obstacle) == cases[i].runs, "%s", cases[i].text);
                ck_assert(cases[i].runs == (obstacle && strstr(obstacle, "/" LATE)));
        }
        write_file_and_directories(LATE, "");
        write_file_and_directories("usr/lib/udev/rules.d/90-early.rules", "RUN+=\"x\"\n");
        ck_assert_int_eq(rules_find_late_program(run_fd, &(char *){NULL}), 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("rules");
        TCase *tcase = tcase_create("rules");

        tcase_add_checked_fixture(tcase, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(tcase, programs_of_later_rules_are_found);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
