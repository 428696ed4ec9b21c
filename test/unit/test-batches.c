/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How long devices are gathered, how many vgchanges are at work at a time, and what puts deadlines off. */

#include <check.h>
#include <inttypes.h>

#include "deadline-rules.h"
#include "fixture.h"
#include "inventory/batches.h"
#include "shared/util.h"

#define MSEC USEC_PER_MSEC
#define START (1000 * MSEC)
#define LONG_USEC (60 * USEC_PER_SEC)

START_TEST(nothing_waits)
{
        struct gather gather = {};

        ck_assert_uint_eq(gather_until(&gather, false, false, START), USEC_INFINITY);
        ck_assert_uint_eq(gather_until(&gather, false, false, START), USEC_INFINITY);
        gather_note(&gather, true, START);
        ck_assert_uint_ne(gather_until(&gather, false, false, START), USEC_INFINITY);
        gather = (struct gather){};
        ck_assert_uint_eq(gather_until(&gather, false, false, START), USEC_INFINITY);
}
END_TEST

START_TEST(single_disk_waits_little)
{
        struct gather gather = {};
        uint64_t until;

        gather_note(&gather, true, START);
        until = gather_until(&gather, false, false, START);
        ck_assert_uint_gt(until, START);
        ck_assert_uint_le(until, START + 50 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, false, false, until), 0);
        /* What else udev is busy with does not matter after boot. */
        ck_assert_uint_eq(gather_until(&gather, false, false, until), 0);
}
END_TEST

/* Disks that come without end must not hold up the first ones, at boot neither. */
START_TEST(burst_is_bounded)
{
        const bool booting = _i != 0;
        struct gather gather = {};
        uint64_t now = START;

        while (now < START + 1000 * MSEC) {
                gather_note(&gather, true, now);
                if (gather_until(&gather, booting, false, now) == 0)
                        break;
                now += 5 * MSEC;
        }
        ck_assert_uint_ge(now, START + 100 * MSEC);
        ck_assert_uint_le(now, START + 300 * MSEC);
}
END_TEST

START_TEST(boot_waits_longer_for_the_next_one)
{
        struct gather gather = {};

        gather_note(&gather, true, START);
        ck_assert_uint_gt(gather_until(&gather, true, false, START), gather_until(&gather, false, false, START));
        ck_assert_uint_le(gather_until(&gather, true, false, START), START + 100 * MSEC);
}
END_TEST

/* Somebody makes an LV each 200 ms: the first change is read at once, those that follow a second after that; while booting each is. */
/* Five a second, without a pause. */
START_TEST(changes_in_a_row_are_read_together)
{
        const bool booting = _i != 0;
        struct gather gather = {.read_usec = 1};
        uint64_t first = 0, last = 0;
        size_t n = 0;

        for (uint64_t now = 10 * START; now < 20 * START; now += 10 * MSEC) {
                if (now % (200 * MSEC) == 0)
                        gather_note(&gather, false, now);
                if (gather_until(&gather, booting, false, now) > 0)
                        continue;
                first = first ?: now;
                last = now;
                gather = (struct gather){.read_usec = now};
                n++;
        }
        ck_assert_uint_le(first, 10 * START + 240 * MSEC);
        if (booting)
                ck_assert_uint_eq(n, 50);
        else
                ck_assert_uint_eq(n, 2);
        ck_assert_uint_ge(last, 15 * START);
}
END_TEST

/* A change of a VG of many PVs is one event for each: while udev handles them, none is read. */
START_TEST(changes_wait_for_udev)
{
        struct gather gather = {.read_usec = START};
        uint64_t now = 10 * START, last;

        for (; now < 14 * START; now += 100 * MSEC) {
                gather_note(&gather, false, now);
                ck_assert_uint_gt(gather_until(&gather, false, true, now + 99 * MSEC), now + 99 * MSEC);
        }
        /* The last events may not have been received yet. */
        last = now - 100 * MSEC + GATHER_CHANGES_USEC;
        ck_assert_uint_gt(gather_until(&gather, false, false, last), last);
        ck_assert_uint_eq(gather_until(&gather, false, false, last + 50 * MSEC), 0);
        /* Other devices may keep it busy. */
        ck_assert_uint_gt(gather_until(&gather, false, true, now), now);
        ck_assert_uint_eq(gather_until(&gather, false, true, now + 900 * MSEC), 0);
        /* Or the changes do not end. */
        gather_note(&gather, false, now + 900 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, false, true, now + 950 * MSEC), now + 1000 * MSEC);
}
END_TEST

START_TEST(what_somebody_waits_for_does_not_wait_for_udev)
{
        struct gather gather = {.read_usec = START};

        gather_note(&gather, false, 10 * START);
        gather_note(&gather, true, 10 * START + 500 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, false, true, 10 * START + 520 * MSEC), 0);
}
END_TEST

START_TEST(the_last_change_is_read_after_a_second)
{
        struct gather gather = {.read_usec = 10 * START};

        gather_note(&gather, false, 10 * START + 300 * MSEC);
        gather_note(&gather, false, 10 * START + 800 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, false, false, 11 * START), 11 * START + 800 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, false, false, 11 * START + 800 * MSEC), 0);
}
END_TEST

/* What is more than a change takes along the changes that were put off, and waits for its like. */
START_TEST(others_do_not_wait_for_changes)
{
        struct gather gather = {.read_usec = START};
        uint64_t until;

        gather_note(&gather, false, START + 100 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, false, false, START + 500 * MSEC), START + 1100 * MSEC);
        gather_note(&gather, true, START + 500 * MSEC);
        until = gather_until(&gather, false, false, START + 500 * MSEC);
        ck_assert_uint_gt(until, START + 500 * MSEC);
        ck_assert_uint_le(until, START + 550 * MSEC);
        gather_note(&gather, false, START + 510 * MSEC);
        ck_assert_uint_le(gather_until(&gather, false, false, START + 510 * MSEC), START + 550 * MSEC);
}
END_TEST

static size_t shares(const struct slots *slots, enum slot_kind kind, size_t n)
{
        return slots_count_shares(slots, kind, n, 0);
}

/* As many as there are processors, and none for a few VGs that the next one can take along. */
START_TEST(a_batch_is_spread_over_the_processors)
{
        static const struct {
                size_t n_processors, n, expected;
        } cases[] = {{1, 1, 1}, {1, 1000, 1}, {2, 3, 1}, {2, 15, 1}, {2, 16, 2}, {16, 1000, 16}, {16, 30, 3},
                {1024, 4000, 32}};

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const struct slots slots = {.n_processors = cases[i].n_processors};

                ck_assert_uint_eq(shares(&slots, SLOT_PLAIN, cases[i].n), cases[i].expected);
        }
}
END_TEST

START_TEST(a_busy_processor_has_one)
{
        const struct slots slots = {.n_processors = 1, .at_work[SLOT_PLAIN] = 1};

        ck_assert_uint_eq(shares(&slots, SLOT_PLAIN, 1), 0);
        ck_assert_uint_eq(shares(&slots, SLOT_PLAIN, 1000), 0);
        ck_assert_uint_eq(slots_count_shares(&slots, SLOT_PLAIN, 1000, LONG_USEC), 0);
        ck_assert_uint_eq(slots_count_free(&slots, SLOT_PLAIN), 0);
}
END_TEST

/* What comes in drops while others are at work waits a moment for company, wherever there are many processors. */
START_TEST(drops_are_collected)
{
        const struct slots slots = {.n_processors = 64, .at_work[SLOT_PLAIN] = 1};

        ck_assert_uint_eq(shares(&slots, SLOT_PLAIN, 1), 0);
        ck_assert_uint_eq(slots_count_shares(&slots, SLOT_PLAIN, 1, SLOTS_COMPANY_USEC - 1), 0);
        ck_assert_uint_eq(slots_count_shares(&slots, SLOT_PLAIN, 1, SLOTS_COMPANY_USEC), 1);
        ck_assert_uint_eq(shares(&slots, SLOT_PLAIN, 8), 1);
}
END_TEST

START_TEST(what_somebody_waits_for_does_not_wait)
{
        const struct slots slots = {.n_processors = 1, .at_work = {[SLOT_PLAIN] = 1, [SLOT_SLOW] = 8}};

        ck_assert_uint_eq(shares(&slots, SLOT_AWAITED, 1), 1);
}
END_TEST

/* Each that waits makes room for one more, up to a bound. */
START_TEST(idle_processors_are_used)
{
        struct slots slots = {.n_processors = 1, .idle = true, .at_work[SLOT_PLAIN] = 1};
        size_t n = 1;

        for (int i = 0; i < 20; i++) {
                n += shares(&slots, SLOT_PLAIN, 1000);
                ck_assert_uint_le(n, 32);
                ck_assert_uint_le(n, 2 * slots.at_work[SLOT_PLAIN]);
                slots.at_work[SLOT_PLAIN] = n;
        }
        ck_assert_uint_eq(n, 32);
        ck_assert_uint_eq(shares(&slots, SLOT_PLAIN, 1000), 0);
}
END_TEST

/* VGs whose activation takes long hold up no others, and those that want memory are few. */
START_TEST(slow_ones_hold_up_nobody)
{
        struct slots slots = {.n_processors = 1, .at_work = {[SLOT_SLOW] = 8, [SLOT_CHECKED] = 8}};

        ck_assert_uint_eq(shares(&slots, SLOT_PLAIN, 1), 1);
        ck_assert_uint_eq(slots_count_free(&slots, SLOT_SLOW), 0);
        ck_assert_uint_eq(slots_count_free(&slots, SLOT_CHECKED), 0);
        ck_assert_uint_gt(slots_count_free(&slots, SLOT_AWAITED), 0);
        slots.idle = true;
        ck_assert_uint_gt(slots_count_free(&slots, SLOT_SLOW), 0);
        ck_assert_uint_eq(slots_count_free(&slots, SLOT_CHECKED), 0);
}
END_TEST

/* The first look says nothing; nobody looks more often than that is worth. */
START_TEST(others_are_deferred)
{
        struct slots slots = {.n_processors = 4};

        ck_assert_uint_gt(slots_count_others(&slots), 1000);
        slots.expected = true;
        ck_assert_uint_gt(slots_count_free(&slots, SLOT_PLAIN), 0);
        ck_assert_uint_gt(slots_count_others(&slots), 0);
        ck_assert_uint_lt(slots_count_others(&slots), 10);
        /* One batch at a time. */
        slots.at_work[SLOT_PLAIN] = 1;
        ck_assert_uint_eq(slots_count_free(&slots, SLOT_PLAIN), 0);
        ck_assert_uint_gt(slots_count_free(&slots, SLOT_AWAITED), 0);
        /* None for a moment after one. */
        slots.at_work[SLOT_PLAIN] = 0;
        slots.pausing = true;
        ck_assert_uint_eq(slots_count_free(&slots, SLOT_PLAIN), 0);
        slots.expected = false;
        ck_assert_uint_eq(slots_count_free(&slots, SLOT_PLAIN), 0);
        ck_assert_uint_gt(slots_count_free(&slots, SLOT_AWAITED), 0);
        /* There is a processor for all. */
        slots.idle = true;
        ck_assert_uint_gt(slots_count_free(&slots, SLOT_PLAIN), 0);
}
END_TEST

START_TEST(the_load_is_looked_at)
{
        struct load load = {};
        uint64_t now = now_usec();

        load_look(&load, now);
        ck_assert(!load.idle);
        ck_assert_uint_gt(load.look_usec, now);
        /* As if they had been idle all the time. */
        load.idle_usec = 0;
        load_look(&load, load.look_usec - 1);
        ck_assert(!load.idle);
        load_look(&load, load.look_usec);
        ck_assert(load.idle);
        /* No processor can be idle for longer than time has passed. */
        load.idle_usec += USEC_PER_SEC;
        load_look(&load, load.look_usec + USEC_PER_SEC * 1000);
        ck_assert(!load.idle);
}
END_TEST

/* ------ deadlines ------ */

#define SEC USEC_PER_SEC
#define NOW (100 * SEC)
#define NEVER USEC_INFINITY

/* Known is earliest, asked, looked, due; announcing, asking, unlocking, reading. */
static const struct {
        struct deadline_facts facts;
        enum deadline_action action;
        uint64_t wake_usec;
} deadlines[] = {
        {{NOW, NEVER}, DEADLINE_WAIT, NEVER},
        {{NOW, NOW - SEC, .announcing = true}, DEADLINE_PUT_OFF, NOW + SEC},
        {{NOW, NOW + 50 * SEC}, DEADLINE_ASK, NEVER},
        {{NOW, NOW + 50 * SEC, .asking = true}, DEADLINE_WAIT, NEVER},
        {{NOW, NOW + 50 * SEC, NOW - 5 * SEC}, DEADLINE_WAIT, NOW + 50 * SEC},
        {{NOW, NOW + 50 * SEC, NOW - SEC, .unlocking = true}, DEADLINE_WAIT, NOW + SEC},
        {{NOW, NOW + 50 * SEC, NOW - 2 * SEC, .unlocking = true}, DEADLINE_ASK, NEVER},
        {{NOW, NOW - 1, NOW - 5 * SEC}, DEADLINE_ASK, NEVER},
        {{NOW, NOW - 1, NOW, NOW - 5 * SEC}, DEADLINE_LOOK, NEVER},
        {{NOW, NOW - 1, NOW, NOW}, DEADLINE_TAKE, NOW + 30 * SEC},
        {{NOW, NOW - 1, NOW, NOW, .reading = true}, DEADLINE_READ, NOW + 30 * SEC},
        {{NOW, NOW - 1, NOW, NOW, NOW - 29 * SEC, .reading = true}, DEADLINE_READ, NOW + SEC},
        {{NOW, NOW - 1, NOW, NOW, NOW - 30 * SEC, .reading = true}, DEADLINE_TAKE, NOW},
};

START_TEST(each_deadline_holds)
{
        uint64_t wake;

        ck_assert_int_eq(deadline_next(&deadlines[_i].facts, &wake), deadlines[_i].action);
        ck_assert_uint_eq(wake, deadlines[_i].wake_usec);
}
END_TEST

START_TEST(no_deadline_is_missed)
{
        static const uint64_t ago[] = {NOW, 31 * SEC, 30 * SEC, 2 * SEC, SEC, SEC - 1, 0};
        static const uint64_t earliest[] = {1, NOW - 1, NOW, NOW + 1, NOW + 60 * SEC, NEVER};
        size_t n = 0;

        FOREACH_ELEMENT(first, earliest)
                FOREACH_ELEMENT(asked, ago)
                        FOREACH_ELEMENT(looked, ago)
                                FOREACH_ELEMENT(due, ago)
                                        for (unsigned int bits = 0; bits < 16; bits++, n++) {
                                                const struct deadline_facts facts = {NOW, *first, NOW - *asked,
                                                        NOW - *looked, NOW - *due, bits & 1, bits & 2, bits & 4,
                                                        bits & 8};
                                                const char *fault = find_deadline_fault(&facts);

                                                ck_assert_msg(!fault,
                                                        "%s: earliest %" PRIu64 ", %" PRIu64 ", %" PRIu64
                                                        " and %" PRIu64 " ago, %#x",
                                                        fault, *first, *asked, *looked, *due, bits);
                                        }
        ck_assert_uint_ge(n, 30000);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("batches");
        TCase *test_case = tcase_create("batches");

        tcase_add_test(test_case, nothing_waits);
        tcase_add_test(test_case, single_disk_waits_little);
        tcase_add_loop_test(test_case, burst_is_bounded, 0, 2);
        tcase_add_test(test_case, boot_waits_longer_for_the_next_one);
        tcase_add_loop_test(test_case, changes_in_a_row_are_read_together, 0, 2);
        tcase_add_test(test_case, changes_wait_for_udev);
        tcase_add_test(test_case, what_somebody_waits_for_does_not_wait_for_udev);
        tcase_add_test(test_case, the_last_change_is_read_after_a_second);
        tcase_add_test(test_case, others_do_not_wait_for_changes);
        tcase_add_test(test_case, a_batch_is_spread_over_the_processors);
        tcase_add_test(test_case, a_busy_processor_has_one);
        tcase_add_test(test_case, drops_are_collected);
        tcase_add_test(test_case, what_somebody_waits_for_does_not_wait);
        tcase_add_test(test_case, idle_processors_are_used);
        tcase_add_test(test_case, slow_ones_hold_up_nobody);
        tcase_add_test(test_case, others_are_deferred);
        tcase_add_test(test_case, the_load_is_looked_at);
        tcase_add_loop_test(test_case, each_deadline_holds, 0, ELEMENTSOF(deadlines));
        tcase_add_test(test_case, no_deadline_is_missed);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
