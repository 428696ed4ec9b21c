/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/dm-names.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "shared/flags.h"
#include "shared/util.h"

static struct vg_lv lvs[] = {
        {.name = (char *) "root", .autoactivated = true},
        {.name = (char *) "swap-1", .autoactivated = true},
        {.name = (char *) "not_wanted"},
        {.name = (char *) "../../escape", .autoactivated = true},
        {.name = (char *) "x'\nSYSTEMD_WANTS='y", .autoactivated = true},
        {.name = (char *) "", .autoactivated = true},
};

static const struct vg vg = {
        .name = (char *) "debian-vg",
        .lvs = lvs,
        .n_lvs = ELEMENTSOF(lvs),
};

static int count_files(void)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(run_fd, FLAGS_DM_NAMES);
        int n = 0;

        ck_assert_ptr_nonnull(directory);
        for (struct dirent *entry; (entry = readdir(directory));)
                n += !streq(entry->d_name, ".") && !streq(entry->d_name, "..");
        return n;
}

static void assert_content(const char *name, const char *expected)
{
        _cleanup_free_ char *path = string_format(FLAGS_DM_NAMES "/%s", name), *text = NULL;

        ck_assert_int_eq(read_file_at(run_fd, path, &text, NULL), 0);
        ck_assert_str_eq(text, expected);
}

START_TEST(without_the_directory_nothing_is_written)
{
        ck_assert_int_eq(dm_names_write(run_fd, &vg), 0);
        ck_assert_int_lt(faccessat(run_fd, FLAGS_DM_NAMES, F_OK, 0), 0);
        dm_names_remove(run_fd, &vg);
}
END_TEST

/* The texts are what dmsetup splitname prints. */
START_TEST(files_are_called_as_devices_are)
{
        ck_assert_int_eq(mkdirat(run_fd, FLAGS_DM_NAMES, 0700), 0);
        /* Also over what was left. */
        for (int i = 0; i < 2; i++) {
                ck_assert_int_eq(dm_names_write(run_fd, &vg), 0);
                ck_assert_int_eq(count_files(), 2);
                assert_content("debian--vg-root", "DM_VG_NAME='debian-vg'\nDM_LV_NAME='root'\nDM_LV_LAYER=''\n");
                assert_content(
                        "debian--vg-swap--1", "DM_VG_NAME='debian-vg'\nDM_LV_NAME='swap-1'\nDM_LV_LAYER=''\n");
        }
        dm_names_remove(run_fd, &vg);
        ck_assert_int_eq(count_files(), 0);
        dm_names_remove(run_fd, &vg);
}
END_TEST

START_TEST(what_cannot_be_written_is_told)
{
        ck_assert_int_eq(mkdirat(run_fd, FLAGS_DM_NAMES, 0700), 0);
        ck_assert_int_eq(mkdirat(run_fd, FLAGS_DM_NAMES "/debian--vg-root", 0700), 0);
        ck_assert_int_eq(dm_names_write(run_fd, &vg), -EISDIR);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("dm-names");
        TCase *tcase = tcase_create("dm-names");

        tcase_add_checked_fixture(tcase, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(tcase, without_the_directory_nothing_is_written);
        tcase_add_test(tcase, files_are_called_as_devices_are);
        tcase_add_test(tcase, what_cannot_be_written_is_told);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
