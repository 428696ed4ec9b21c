/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which VGs go first, and when. */

#include <check.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "inventory/expectations.h"
#include "shared/util.h"

#define MSEC USEC_PER_MSEC

static struct expectations expectations;

static void set_up(void)
{
        expectations = (struct expectations){};
        dm_list_init(&expectations.list);
}

static void tear_down(void)
{
        expectations_done(&expectations);
}

static const char *make_id(char kind, unsigned int number)
{
        static char id[LVM_ID_SIZE];

        snprintf(id, sizeof(id), "%c%031u", kind, number);
        return id;
}

/* A VG whose PVs are `first` to `last`. */
static struct expectation *expect(const char *name, unsigned int first, unsigned int last)
{
        struct volume_group *backup = calloc(1, sizeof(*backup));
        struct expectation *expectation;

        ck_assert_ptr_nonnull(backup);
        *backup = (struct volume_group){.name = strdup(name), .n_pvs = last - first + 1};
        memcpy(backup->vgid, make_id('v', first), LVM_ID_SIZE);
        backup->pvs = calloc(backup->n_pvs, sizeof(*backup->pvs));
        ck_assert(backup->name && backup->pvs);
        for (unsigned int i = 0; i < backup->n_pvs; i++)
                memcpy(backup->pvs[i].pvid, make_id('p', first + i), LVM_ID_SIZE);
        ck_assert_int_eq(expectations_add(&expectations, name, backup, &expectation), 0);
        return expectation;
}

static bool announce(unsigned int number)
{
        return expectations_announce(&expectations, make_id('p', number), makedev(8, number));
}

/* When the disks are to be read, counted from the first VG whose disks were all announced. */
static uint64_t ready_at(uint64_t after)
{
        uint64_t until = expectations_ready_at(&expectations, expectations.announced_usec + after);

        return until == 0 || until == USEC_INFINITY ? until : until - expectations.announced_usec;
}

START_TEST(nothing_is_expected)
{
        ck_assert(dm_list_empty(&expectations.list));
        ck_assert(!announce(1));
        ck_assert_uint_eq(ready_at(0), USEC_INFINITY);
        ck_assert_ptr_null(expectations_find(&expectations, "a"));
}
END_TEST

START_TEST(all_are_there_at_once)
{
        struct expectation *a = expect("a", 1, 2), *b = expect("b", 3, 3);

        ck_assert(!dm_list_empty(&expectations.list));
        ck_assert(announce(1));
        ck_assert(announce(3));
        ck_assert(!announce(4));
        ck_assert_int_eq(a->state, EXPECTATION_WAITING);
        ck_assert_int_eq(b->state, EXPECTATION_ANNOUNCED);
        ck_assert_uint_gt(ready_at(0), 0);
        ck_assert(announce(2));
        ck_assert_int_eq(a->state, EXPECTATION_ANNOUNCED);
        ck_assert_uint_eq(ready_at(0), 0);

        expectations_take_announced(&expectations);
        ck_assert_uint_eq(ready_at(0), USEC_INFINITY);
        ck_assert(!dm_list_empty(&expectations.list));
}
END_TEST

/* The same disk twice is not two disks. */
START_TEST(one_disk_announced_twice)
{
        struct expectation *a = expect("a", 1, 2);

        ck_assert(announce(1));
        ck_assert(announce(1));
        ck_assert_int_eq(a->state, EXPECTATION_WAITING);
        ck_assert_uint_eq(ready_at(0), USEC_INFINITY);
}
END_TEST

/* A disk that does not come holds up its own VG, and the others only for a while. */
START_TEST(others_do_not_wait_for_ever)
{
        struct expectation *a = expect("a", 1, 2);

        expect("b", 3, 3);
        announce(1);
        announce(3);
        ck_assert_uint_ge(ready_at(0), 500 * MSEC);
        ck_assert_uint_le(ready_at(0), 10000 * MSEC);
        ck_assert_uint_eq(ready_at(ready_at(0)), 0);
        expectations_take_announced(&expectations);
        ck_assert_uint_eq(ready_at(20000 * MSEC), USEC_INFINITY);

        /* It comes late. Nothing else is waited for, so it goes ahead. */
        announce(2);
        ck_assert_int_eq(a->state, EXPECTATION_ANNOUNCED);
        ck_assert_uint_eq(ready_at(0), 0);
}
END_TEST

/* Without a backup nobody knows which disks to wait for. */
START_TEST(no_backup)
{
        struct expectation *expectation;

        ck_assert_int_eq(expectations_add(&expectations, "a", NULL, &expectation), 0);
        ck_assert_ptr_eq(expectations_find(&expectations, "a"), expectation);
        ck_assert(!announce(1));
        ck_assert_uint_eq(ready_at(0), USEC_INFINITY);
        expectation->state = EXPECTATION_TAKEN;
        expectation_drop(expectation);
        ck_assert(dm_list_empty(&expectations.list));
}
END_TEST

START_TEST(expected_twice)
{
        struct expectation *a = expect("a", 1, 2);

        announce(1);
        ck_assert_ptr_eq(expect("a", 1, 2), a);
        ck_assert_uint_eq(volume_group_count(a->backup).seen, 1);
}
END_TEST

/* Two backups may name one PV, if it was moved: to drop one must not lose the other. */
START_TEST(pv_of_two_backups)
{
        struct expectation *old = expect("old", 1, 2), *new = expect("new", 2, 3);

        expectation_drop(old);
        ck_assert(announce(2));
        ck_assert(announce(3));
        ck_assert_int_eq(new->state, EXPECTATION_ANNOUNCED);
        ck_assert_ptr_null(expectations_find(&expectations, "old"));
        expectation_drop(new);
        ck_assert(!announce(2));
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("expectation");
        TCase *test_case = tcase_create("expectation");

        tcase_add_checked_fixture(test_case, set_up, tear_down);
        tcase_add_test(test_case, nothing_is_expected);
        tcase_add_test(test_case, all_are_there_at_once);
        tcase_add_test(test_case, one_disk_announced_twice);
        tcase_add_test(test_case, others_do_not_wait_for_ever);
        tcase_add_test(test_case, no_backup);
        tcase_add_test(test_case, expected_twice);
        tcase_add_test(test_case, pv_of_two_backups);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
