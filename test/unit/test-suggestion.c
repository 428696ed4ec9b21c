/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a name that there is not was probably meant to be. */

#include "shared/names.h"

#include "fixture.h"
#include "shared/util.h"

static const struct {
        const char *a, *b;
        size_t distance;
} pairs[] = {
        {"", "", 0},
        {"", "data", 4},
        {"data", "data", 0},
        {"DATA", "data", 0},
        {"dta", "data", 1},
        {"dataa", "data", 1},
        {"date", "data", 1},
        {"adta", "data", 1},
        {"statsu", "status", 1},
        {"home", "data", 4},
};

START_TEST(distance)
{
        ck_assert_uint_eq(suggestion_distance(pairs[_i].a, pairs[_i].b), pairs[_i].distance);
        ck_assert_uint_eq(suggestion_distance(pairs[_i].b, pairs[_i].a), pairs[_i].distance);
}
END_TEST

static const struct {
        const char *wanted, *meant;
} names[] = {
        {"dta", "data"},
        {"vg001", "vg0001"},
        {"vg0003", "vg0002"},
        {"systme", "system"},
        {"x", NULL},
        {"backup", NULL},
        {"", NULL},
};

START_TEST(nearest)
{
        static const char *const candidates[] = {"system", "data", "vg0001", "vg0002"};
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = names[_i].wanted};

        for (size_t i = 0; i < ELEMENTSOF(candidates); i++)
                suggestion_consider(&suggestion, candidates[i]);
        ck_assert_pstr_eq(suggestion.nearest, names[_i].meant);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("suggestion");
        TCase *tcase = tcase_create("suggestion");

        tcase_add_loop_test(tcase, distance, 0, ELEMENTSOF(pairs));
        tcase_add_loop_test(tcase, nearest, 0, ELEMENTSOF(names));
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
