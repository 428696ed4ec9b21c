/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the worker hears of udev, through the kernel's own netlink in a network namespace of the test's. */

#include <check.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "fake-udevd.h"
#include "fixture.h"
#include "shared/util.h"
#include "worker/uevents.h"

/* More than the smallest buffer that the kernel allows takes in. */
#define MANY 100
/* Comes while the devices are being asked for. */
#define LATE 1000

static sd_event *event;
static struct uevents *uevents;
static bool heard[LATE + 1];
static unsigned int n_heard, n_overflows;
static bool sends_late;

static void send_change(unsigned int minor_number)
{
        char properties[512];
        int n = snprintf(properties, sizeof(properties),
                "ACTION=change%cDEVPATH=/devices/virtual/block/headgate-test-%u%cSUBSYSTEM=block%cSEQNUM=%u%cMAJOR=7%c"
                "MINOR=%u%cDEVNAME=/dev/headgate-test-%u%cHEADGATE_CHANGED=1%cTAGS=:headgate:",
                0, minor_number, 0, 0, minor_number + 1, 0, 0, minor_number, 0, minor_number, 0, 0);

        fake_udevd_send(properties, (size_t) n + 1);
}

static int on_device(const struct uevents_device *device, _unused_ void *userdata)
{
        ck_assert_uint_le(minor(device->number), LATE);
        heard[minor(device->number)] = true;
        n_heard++;
        return 0;
}

static int on_overflow(_unused_ void *userdata)
{
        n_overflows++;
        if (sends_late)
                send_change(LATE);
        sends_late = false;
        return 0;
}

static int on_queue(_unused_ void *userdata)
{
        return 0;
}

static void set_up(void)
{
        memset(heard, 0, sizeof(heard));
        n_heard = n_overflows = 0;
        sends_late = false;
        fake_udevd_set_up();
        ck_assert_int_ge(sd_event_new(&event), 0);
        ck_assert_int_eq(uevents_new(event, on_device, on_overflow, on_overflow, on_queue, NULL, &uevents), 0);
}

static void tear_down(void)
{
        uevents = uevents_free(uevents);
        event = sd_event_unref(event);
        fake_udevd_tear_down();
}

START_TEST(all_is_heard)
{
        for (unsigned int i = 0; i < MANY; i++)
                send_change(i);
        ck_assert_int_eq(uevents_drain(uevents), 0);
        ck_assert_uint_eq(n_heard, MANY);
        ck_assert_uint_eq(n_overflows, 0);
}
END_TEST

/* However many events there are, what else has come has its turn between them. */
START_TEST(others_have_their_turn)
{
        for (unsigned int i = 0; i < MANY; i++)
                send_change(i);
        while (n_heard == 0)
                ck_assert_int_gt(sd_event_run(event, 0), 0);
        ck_assert_uint_lt(n_heard, MANY);
        while (sd_event_run(event, 0) > 0)
                ;
        ck_assert_uint_eq(n_heard, MANY);
}
END_TEST

START_TEST(not_from_udev)
{
        send_change(1);
        for (unsigned int i = 0; i < 3; i++)
                fake_udevd_send_nonsense();
        send_change(2);
        ck_assert_int_eq(uevents_drain(uevents), 0);
        ck_assert(heard[1]);
        ck_assert(heard[2]);
}
END_TEST

/* Whatever comes while the devices are asked for is heard, or they are asked for again. */
START_TEST(overflow_loses_nothing)
{
        fake_udevd_shrink_buffers();
        for (unsigned int i = 0; i < MANY; i++)
                send_change(i);
        sends_late = true;
        ck_assert_int_eq(uevents_drain(uevents), 0);
        ck_assert_uint_ge(n_overflows, 1);
        ck_assert_uint_lt(n_heard, MANY);
        ck_assert(!sends_late);

        ck_assert_int_eq(uevents_drain(uevents), 0);
        ck_assert(heard[LATE] || n_overflows > 1);
}
END_TEST

static Suite *uevents_suite(void)
{
        Suite *suite = suite_create("uevents");
        TCase *tcase = tcase_create("uevents");

        fake_udevd_begin();
        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, all_is_heard);
        tcase_add_test(tcase, others_have_their_turn);
        tcase_add_test(tcase, not_from_udev);
        tcase_add_test(tcase, overflow_loses_nothing);
        suite_add_tcase(suite, tcase);
        return suite;
}

int main(void)
{
        return run_suite(uevents_suite());
}
