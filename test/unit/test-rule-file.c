/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/udev.h"

#include "fixture.h"
#include "shared/util.h"

/* The run directory of the fixture serves as root. */
START_TEST(first_directory_counts)
{
        _cleanup_free_ char *path = NULL, *installed = NULL;

        ck_assert_int_eq(rule_file_find(run_fd, "69-lvm.rules", &path), -ENOENT);
        write_file_and_directories("lib/udev/rules.d/69-lvm.rules", "");
        write_file_and_directories("run/udev/rules.d/69-lvm.rules", "");

        ck_assert_int_eq(rule_file_find(run_fd, "69-lvm.rules", &path), 0);
        ck_assert_str_eq(path, "run/udev/rules.d/69-lvm.rules");
        ck_assert_int_eq(rule_file_find_installed(run_fd, "69-lvm.rules", &installed), 0);
        ck_assert_str_eq(installed, "lib/udev/rules.d/69-lvm.rules");
}
END_TEST

START_TEST(older_rule_takes_lvs)
{
        ck_assert_int_eq(rule_file_stock_takes_lvs(run_fd), 0);
        /* A mask in /run is not what is installed. */
        write_file_and_directories("run/udev/rules.d/69-dm-lvm.rules", "");
        ck_assert_int_eq(rule_file_stock_takes_lvs(run_fd), 0);

        write_file_and_directories(
                "usr/lib/udev/rules.d/69-dm-lvm.rules", "ENV{ID_FS_TYPE}!=\"LVM2_member\", GOTO=\"lvm_end\"\n");
        ck_assert_int_eq(rule_file_stock_takes_lvs(run_fd), 1);
        ck_assert_int_eq(rule_file_stock_sets_ready(run_fd), 0);
        write_file_and_directories("usr/lib/udev/rules.d/69-dm-lvm.rules", "ENV{SYSTEMD_READY}=\"1\"\n");
        ck_assert_int_eq(rule_file_stock_sets_ready(run_fd), 1);

        /* By the name that Debian gives it, which is looked for first. */
        write_file_and_directories("usr/lib/udev/rules.d/69-lvm.rules",
                "ENV{DM_UUID}==\"LVM-?*\", ENV{LVM_PVSCAN_ON_LVS}!=\"1\", GOTO=\"lvm_end\"\n");
        ck_assert_int_eq(rule_file_stock_takes_lvs(run_fd), 0);
}
END_TEST

static Suite *rule_file_suite(void)
{
        Suite *suite = suite_create("rule-file");
        TCase *tcase = tcase_create("rule-file");

        tcase_add_checked_fixture(tcase, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(tcase, first_directory_counts);
        tcase_add_test(tcase, older_rule_takes_lvs);
        suite_add_tcase(suite, tcase);
        return suite;
}

int main(void)
{
        return run_suite(rule_file_suite());
}
