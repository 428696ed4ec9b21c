/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a name that there is not was probably meant to be, and the time spans that people type. */

#include "shared/names.h"

#include "fixture.h"
#include "shared/program.h"
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

static const struct {
        const char *text;
        int r;
        uint64_t usec;
} spans[] = {
        {"5", 0, 5 * USEC_PER_SEC},
        {"0", 0, 0},
        {"1s", 0, USEC_PER_SEC},
        {"2min", 0, 120 * USEC_PER_SEC},
        {"1min 30s", 0, 90 * USEC_PER_SEC},
        {"1min30s", 0, 90 * USEC_PER_SEC},
        {" 1 minute  30 ", 0, 90 * USEC_PER_SEC},
        {"500ms", 0, 500 * USEC_PER_MSEC},
        {"1.5s", 0, 1500 * USEC_PER_MSEC},
        {".5", 0, 500 * USEC_PER_MSEC},
        {"7us", 0, 7},
        {"1h 1d 1w", 0, (1 + 24 + 168) * 3600 * USEC_PER_SEC},
        {"4294967295", 0, UINT32_MAX *USEC_PER_SEC},
        {"9999999w", -ERANGE, 0},
        {"", -EINVAL, 0},
        {" ", -EINVAL, 0},
        {"s", -EINVAL, 0},
        {".", -EINVAL, 0},
        {"1..5s", -EINVAL, 0},
        {"1.2.3", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"+1", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
        {"0x10", -EINVAL, 0},
        {"inf", -EINVAL, 0},
        {"nan", -EINVAL, 0},
        {"5x", -EINVAL, 0},
        {"5 3", -EINVAL, 0},
        {"5 3s", -EINVAL, 0},
        {"5 lightyears", -EINVAL, 0},
        {"5s,", -EINVAL, 0},
        {"5\ns", -EINVAL, 0},
};

START_TEST(time_span)
{
        uint64_t usec = 0;

        ck_assert_int_eq(parse_time_span(spans[_i].text, &usec), spans[_i].r);
        ck_assert_uint_eq(usec, spans[_i].usec);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("suggestion");
        TCase *tcase = tcase_create("suggestion");

        tcase_add_loop_test(tcase, distance, 0, ELEMENTSOF(pairs));
        tcase_add_loop_test(tcase, nearest, 0, ELEMENTSOF(names));
        tcase_add_loop_test(tcase, time_span, 0, ELEMENTSOF(spans));
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
