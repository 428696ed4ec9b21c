/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which lines headgate status --follow prints again after a look, and the summary of all VGs. */

#include "cli/status.h"

#include "fixture.h"

#define N_MAX 3

struct look {
        struct line lines[N_MAX];
};

#define LINE(name_, state_, reason_, ...)                                                                         \
        {                                                                                                         \
                .event = "status", .name = (char *) (name_), .state = (state_), .reason = (char *) (reason_),     \
                __VA_ARGS__                                                                                       \
        }
#define ACTIVE(name, ...) LINE(name, "active", "", __VA_ARGS__)

/* What is expected of the lines of both looks, by the order of their names: c(hange), r(emoved), or - for nothing. */
static const struct {
        struct look before, after;
        const char *expected_before, *expected_after;
} rows[] = {
        {{}, {}, "", ""},
        {{}, {{ACTIVE("a")}}, "", "c"},
        {{{ACTIVE("a")}}, {}, "r", ""},
        {{{ACTIVE("a"), ACTIVE("b")}}, {{ACTIVE("a"), ACTIVE("b")}}, "--", "--"},
        {{{ACTIVE("b")}}, {{ACTIVE("a"), ACTIVE("b"), ACTIVE("c")}}, "-", "c-c"},
        {{{ACTIVE("a"), ACTIVE("b"), ACTIVE("c")}}, {{ACTIVE("b")}}, "r-r", "-"},
        /* Names on the command line have any order. */
        {{{ACTIVE("b"), ACTIVE("a")}}, {{LINE("b", "failed", ""), ACTIVE("a")}}, "--", "-c"},

        {{{ACTIVE("a")}}, {{LINE("a", "failed", "")}}, "-", "c"},
        {{{ACTIVE("a")}}, {{ACTIVE("a", .pvs = "1/2")}}, "-", "c"},
        {{{ACTIVE("a")}}, {{ACTIVE("a", .lvs = "1/2")}}, "-", "c"},
        {{{ACTIVE("a")}}, {{ACTIVE("a", .since_usec = 1)}}, "-", "c"},
        {{{ACTIVE("a")}}, {{LINE("a", "active", "overdue")}}, "-", "c"},
        /* Time goes on. */
        {{{ACTIVE("a")}}, {{ACTIVE("a", .time_usec = 1, .took_usec = 1)}}, "-", "-"},

        /* VGs with one name. */
        {{{ACTIVE("a", .uuid = "1")}}, {{ACTIVE("a", .uuid = "1"), ACTIVE("a", .uuid = "2")}}, "-", "-c"},
        {{{ACTIVE("a", .uuid = "2")}}, {{ACTIVE("a", .uuid = "2"), ACTIVE("a", .uuid = "1")}}, "-", "c-"},
        {{{ACTIVE("a", .uuid = "1")}}, {{ACTIVE("a", .uuid = "2")}}, "r", "c"},
        /* Its PVs have appeared. */
        {{{LINE("a", "absent", "")}}, {{ACTIVE("a", .uuid = "2")}}, "-", "c"},
        {{{ACTIVE("a")}}, {{ACTIVE("a", .uuid = "2")}}, "-", "-"},
};

static struct lines lines_of(struct look *look)
{
        struct lines lines = {.lines = look->lines};

        while (lines.n < N_MAX && look->lines[lines.n].name)
                lines.n++;
        return lines;
}

static void expect(const struct lines *lines, const char *expected)
{
        ck_assert_uint_eq(lines->n, strlen(expected));
        for (size_t i = 0; i < lines->n; i++)
                ck_assert_int_eq(lines->lines[i].event ? lines->lines[i].event[0] : '-', expected[i]);
}

START_TEST(compared)
{
        struct look before = rows[_i].before, after = rows[_i].after;
        struct lines old = lines_of(&before), new = lines_of(&after);

        lines_compare(&old, &new);
        expect(&old, rows[_i].expected_before);
        expect(&new, rows[_i].expected_after);
}
END_TEST

static const struct {
        size_t n_in_state[_VG_STATUS_MAX];
        const char *expected;
} summaries[] = {
        {{[VG_STATUS_ACTIVE] = 300}, "300 of 300 VGs active."},
        {{[VG_STATUS_ACTIVE] = 1}, "1 of 1 VG active."},
        {{[VG_STATUS_ACTIVE] = 2, [VG_STATUS_SKIPPED] = 1}, "2 of 3 VGs active; 1 skipped."},
        {{[VG_STATUS_WAITING] = 1}, "0 of 1 VG active; 1 waiting: headgate why"},
        {{[VG_STATUS_ACTIVE] = 298, [VG_STATUS_ABSENT] = 1, [VG_STATUS_WAITING] = 1},
                "298 of 300 VGs active; 1 waiting, 1 absent: headgate why"},
        {{[VG_STATUS_SKIPPED] = 1, [VG_STATUS_UNKNOWN] = 2},
                "0 of 3 VGs active; 1 skipped, 2 unknown: headgate why"},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                "1 of 10 VGs active; 1 waiting, 1 complete, 1 activating, 1 degraded, 1 skipped, 1 failed, "
                "1 deactivated, 1 absent, 1 unknown: headgate why"},
};

START_TEST(summarized)
{
        struct lines lines = {};
        _cleanup_free_ char *summary = NULL;

        memcpy(lines.n_in_state, summaries[_i].n_in_state, sizeof(lines.n_in_state));
        summary = lines_summarize(&lines);
        ck_assert_ptr_nonnull(summary);
        ck_assert_str_eq(summary, summaries[_i].expected);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("status-lines");
        TCase *test_case = tcase_create("status-lines");

        tcase_add_loop_test(test_case, compared, 0, ELEMENTSOF(rows));
        tcase_add_loop_test(test_case, summarized, 0, ELEMENTSOF(summaries));
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
