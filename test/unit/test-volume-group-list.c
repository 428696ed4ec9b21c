/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The VGs' files once more in one. */

#include "lvm/volume_group_list.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "shared/util.h"

static int vgs_fd = -EBADF;

static void set_up(void)
{
        run_directory_set_up();
        ck_assert_int_eq(mkdirat(run_fd, VOLUME_GROUP_DIRECTORY, 0755), 0);
        vgs_fd = openat(run_fd, VOLUME_GROUP_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(vgs_fd, 0);
}

static void tear_down(void)
{
        close(vgs_fd);
        run_directory_tear_down();
}

static void save(unsigned int number)
{
        struct volume_group volume_group = {.seqno = number};

        volume_group.name = string_format("vg%u", number);
        ck_assert_ptr_nonnull(volume_group.name);
        snprintf(volume_group.vgid, sizeof(volume_group.vgid), "%032u", number);
        ck_assert_int_eq(volume_group_save(vgs_fd, &volume_group), 0);
        free(volume_group.name);
}

/* Adds up the numbers of the VGs, which are in no order. */
static int count(struct volume_group *volume_group, void *userdata)
{
        uint64_t *sum = userdata;

        *sum += volume_group->seqno;
        volume_group_free(volume_group);
        return 0;
}

static void assert_sum(uint64_t expected)
{
        uint64_t sum = 0;

        ck_assert_int_eq(volume_group_list_read(run_fd, count, &sum), 0);
        ck_assert_uint_eq(sum, expected);
}

START_TEST(there_is_none)
{
        uint64_t sum = 0;

        ck_assert_int_eq(volume_group_list_read(run_fd, count, &sum), -ENOENT);
        ck_assert_int_eq(volume_group_list_forget(run_fd), 0);
}
END_TEST

START_TEST(all_files_are_in_it)
{
        ck_assert_int_eq(volume_group_list_write(run_fd), 0);
        assert_sum(0);
        ck_assert_int_eq(volume_group_list_forget(run_fd), 0);

        for (unsigned int i = 1; i <= 100; i++)
                save(i);
        /* A writer was killed. */
        ck_assert_int_eq(write_file_atomic_at(vgs_fd, ".0.new", "x"), 0);
        ck_assert_int_eq(volume_group_list_write(run_fd), 0);
        assert_sum(5050);
}
END_TEST

START_TEST(it_is_made_once)
{
        save(1);
        ck_assert_int_eq(volume_group_list_write(run_fd), 0);
        save(2);
        ck_assert_int_eq(volume_group_list_write(run_fd), 0);
        assert_sum(1);
        ck_assert_int_eq(volume_group_list_forget(run_fd), 0);
        ck_assert_int_eq(volume_group_list_write(run_fd), 0);
        assert_sum(3);
}
END_TEST

static const char *const damaged[] = {
        "x",
        "x\n",
        "00000000000000000000000000000001",
        "00000000000000000000000000000001 \n",
        "00000000000000000000000000000001 1",
        "00000000000000000000000000000001 1\n",
        "00000000000000000000000000000001 18446744073709551615\nx",
        "00000000000000000000000000000001 -1\nx",
        "00000000000000000000000000000001 1 \nx",
        "00000000000000000000000000000001 1\n{",
        "000000000000000000000000000000001 0\n",
};

START_TEST(damage_is_noticed)
{
        uint64_t sum = 0;

        ck_assert_int_eq(write_file_atomic_at(run_fd, VOLUME_GROUP_LIST, damaged[_i]), 0);
        ck_assert_int_eq(volume_group_list_read(run_fd, count, &sum), -EBADMSG);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("volume-group-list");
        TCase *test_case = tcase_create("volume-group-list");

        tcase_add_checked_fixture(test_case, set_up, tear_down);
        tcase_add_test(test_case, there_is_none);
        tcase_add_test(test_case, all_files_are_in_it);
        tcase_add_test(test_case, it_is_made_once);
        tcase_add_loop_test(test_case, damage_is_noticed, 0, ELEMENTSOF(damaged));
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
