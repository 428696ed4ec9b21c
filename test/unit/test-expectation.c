/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The VGs that somebody waits for. */

#include <check.h>

#include "fixture.h"
#include "inventory/expectations.h"
#include "shared/util.h"

#define MSEC USEC_PER_MSEC
#define START (1000 * MSEC)

static struct dm_list expectations;

static void set_up(void)
{
        dm_list_init(&expectations);
}

static void tear_down(void)
{
        expectations_done(&expectations);
}

static struct expectation *expect(const char *name)
{
        struct expectation *expectation;

        ck_assert_int_eq(expectations_add(&expectations, name, &expectation), 0);
        return expectation;
}

static bool near(uint64_t now)
{
        return expectations_are_near(&expectations, START, now);
}

/* The initrd has activated the root; the leg of its mirror that is missing does not hold up the rest. */
START_TEST(one_that_is_active)
{
        struct vg_lv lvs[] = {{.autoactivated = true, .active = true}, {.autoactivated = true}, {.active = false}};
        struct vg vg = {.lvs = lvs, .n_lvs = ELEMENTSOF(lvs)};
        struct vg_entry group = {.vg = &vg, .awaited = true};
        struct expectation *a = expect("a");

        a->group = &group;
        ck_assert(near(START));
        lvs[1].active = true;
        ck_assert(!near(START));
        (void) expect("b");
        ck_assert(near(START));
        expectation_drop(a);
}
END_TEST

START_TEST(nothing_is_expected)
{
        ck_assert(dm_list_empty(&expectations));
        ck_assert(!near(START));
        ck_assert_ptr_null(expectations_find(&expectations, "a"));
}
END_TEST

START_TEST(expected_twice)
{
        struct expectation *a = expect("a"), *b = expect("b");

        ck_assert_ptr_eq(expect("a"), a);
        ck_assert_ptr_eq(expectations_find(&expectations, "b"), b);
        expectation_drop(a);
        ck_assert_ptr_null(expectations_find(&expectations, "a"));
        ck_assert_ptr_eq(expectations_find(&expectations, "b"), b);
        expectation_drop(b);
        ck_assert(dm_list_empty(&expectations));
}
END_TEST

/* What does not come does not hold up the rest for ever. */
START_TEST(one_that_does_not_come)
{
        struct expectation *a = expect("a");

        ck_assert(near(START));
        ck_assert(near(START + 4999 * MSEC));
        ck_assert(!near(START + 5000 * MSEC));
        a->overdue = true;
        ck_assert(!near(START));
}
END_TEST

/* One that comes late goes before the others all the same, but not for ever. */
START_TEST(one_that_comes_late)
{
        struct vg vg = {.complete_usec = START + 60000 * MSEC};
        struct vg_entry group = {.vg = &vg, .awaited = true};
        struct expectation *a = expect("a");

        a->group = &group;
        ck_assert(near(START + 60001 * MSEC));
        ck_assert(!near(START + 65000 * MSEC));
        expectation_drop(a);
        ck_assert(!group.awaited);
        ck_assert(!near(START + 60001 * MSEC));
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("expectation");
        TCase *test_case = tcase_create("expectation");

        tcase_add_checked_fixture(test_case, set_up, tear_down);
        tcase_add_test(test_case, one_that_is_active);
        tcase_add_test(test_case, nothing_is_expected);
        tcase_add_test(test_case, expected_twice);
        tcase_add_test(test_case, one_that_does_not_come);
        tcase_add_test(test_case, one_that_comes_late);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
