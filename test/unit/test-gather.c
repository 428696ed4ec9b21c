/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <check.h>

#include "fixture.h"
#include "shared/util.h"
#include "worker/worker.h"

#define MSEC USEC_PER_MSEC
#define START (1000 * MSEC)

static const struct gather_phase boot_busy = {.booting = true, .queue_empty = false};
static const struct gather_phase boot_quiet = {.booting = true, .queue_empty = true};
static const struct gather_phase boot_awaiting = {.booting = true, .queue_empty = false, .awaiting = true};
static const struct gather_phase running_busy = {.booting = false, .queue_empty = false};
static const struct gather_phase running_quiet = {.booting = false, .queue_empty = true};

START_TEST(nothing_waits)
{
        struct gather gather = {};

        ck_assert_uint_eq(gather_until(&gather, &boot_busy, START), USEC_INFINITY);
        ck_assert_uint_eq(gather_until(&gather, &running_quiet, START), USEC_INFINITY);
        gather_note(&gather, START);
        ck_assert_uint_ne(gather_until(&gather, &boot_busy, START), USEC_INFINITY);
        gather = (struct gather){};
        ck_assert_uint_eq(gather_until(&gather, &boot_busy, START), USEC_INFINITY);
}
END_TEST

START_TEST(single_disk_after_boot_waits_little)
{
        struct gather gather = {};
        uint64_t until;

        gather_note(&gather, START);
        until = gather_until(&gather, &running_busy, START);
        ck_assert_uint_gt(until, START);
        ck_assert_uint_le(until, START + 50 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, &running_busy, until), 0);
        /* What else udev is busy with does not matter after boot. */
        ck_assert_uint_eq(gather_until(&gather, &running_quiet, until), 0);
}
END_TEST

/* Disks that come without end must not hold up the first ones. */
START_TEST(burst_after_boot_is_bounded)
{
        struct gather gather = {};
        uint64_t now = START;

        while (now < START + 1000 * MSEC) {
                gather_note(&gather, now);
                if (gather_until(&gather, &running_busy, now) == 0)
                        break;
                now += 5 * MSEC;
        }
        ck_assert_uint_ge(now, START + 100 * MSEC);
        ck_assert_uint_le(now, START + 300 * MSEC);
}
END_TEST

START_TEST(boot_waits_for_the_queue)
{
        struct gather gather = {};

        gather_note(&gather, START);
        ck_assert_uint_gt(gather_until(&gather, &boot_busy, START + 1000 * MSEC), START + 1000 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, &boot_quiet, START + 1000 * MSEC), 0);
        /* An end of the queue that has only just come may not last. */
        ck_assert_uint_gt(gather_until(&gather, &boot_quiet, START + 1 * MSEC), START + 1 * MSEC);
}
END_TEST

START_TEST(boot_does_not_wait_for_ever)
{
        struct gather gather = {};

        for (uint64_t now = START; now < START + 60000 * MSEC; now += 10 * MSEC)
                gather_note(&gather, now);
        ck_assert_uint_eq(gather_until(&gather, &boot_busy, START + 60000 * MSEC), 0);
}
END_TEST

/* While boot waits for other VGs, these wait for as long as disks keep coming. */
START_TEST(others_stand_back)
{
        struct gather gather = {};
        uint64_t now, until;

        for (now = START; now < START + 60000 * MSEC; now += 500 * MSEC) {
                gather_note(&gather, now);
                ck_assert_uint_gt(gather_until(&gather, &boot_awaiting, now), now);
        }
        ck_assert_uint_eq(gather_until(&gather, &boot_quiet, now), 0);

        /* One does not answer. */
        until = gather_until(&gather, &boot_awaiting, now);
        ck_assert_uint_gt(until, now);
        ck_assert_uint_lt(until, now + 10000 * MSEC);
        ck_assert_uint_eq(gather_until(&gather, &boot_awaiting, until), 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("gather");
        TCase *test_case = tcase_create("gather");

        tcase_add_test(test_case, nothing_waits);
        tcase_add_test(test_case, single_disk_after_boot_waits_little);
        tcase_add_test(test_case, burst_after_boot_is_bounded);
        tcase_add_test(test_case, boot_waits_for_the_queue);
        tcase_add_test(test_case, boot_does_not_wait_for_ever);
        tcase_add_test(test_case, others_stand_back);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
