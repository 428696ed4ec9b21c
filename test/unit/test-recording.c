/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Showing devices to lvm2, with a script in the place of pvscan that records what it is shown, up to a device at
 * which it crashes, or that does not answer as long as nobody writes to "answer". */

#include <check.h>
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "lvm/online.h"
#include "own-namespace.h"
#include "shared/program.h"
#include "shared/util.h"
#include "worker/worker.h"

/* Devices are called by their minor number. One call is one line of the file "calls". Two may record the same device,
 * and none is to see half a record. */
static const char script[] = "#!/bin/sh\n"
                             "run=${0%/*}\n"
                             "[ \"$1 $2 $3\" = \"pvscan --cache --\" ] && shift 3\n"
                             "echo \"$*\" >> $run/calls\n"
                             "for device; do\n"
                             "    case $device in\n"
                             "    8:*) exit 5 ;;\n"
                             "    /dev/bad*) kill -SEGV $$ ;;\n"
                             "    /dev/no*) echo \"$device is refused.\" && continue ;;\n"
                             "    /dev/silent*) read -r answer < $run/answer ;;\n"
                             "    /dev/busy*) end=$(($(date +%s) + 12))\n"
                             "       until [ $(date +%s) -ge $end ]; do :; done ;;\n"
                             "    esac\n"
                             "    number=${device##*[a-z]}\n"
                             "    pvid=$(printf p%031u $number)\n"
                             "    echo 8:$number > $run/$$ && mv $run/$$ $run/lvm/pvs_online/$pvid\n"
                             "done\n";

static struct worker worker;

static int on_step(_unused_ sd_event_source *source, _unused_ uint64_t usec, _unused_ void *userdata)
{
        int r;

        inventory_ping(worker.inventory);
        worker.next_step_usec = USEC_INFINITY;
        r = scan_start(&worker);
        return r < 0 ? r
                     : sd_event_source_set_time(worker.step_source, worker.next_step_usec)
                               ?: sd_event_source_set_enabled(worker.step_source, SD_EVENT_ONESHOT);
}

static int on_progress(_unused_ void *userdata)
{
        worker_ask_step(&worker);
        return 0;
}

/* The kernel's devices are those of the test. */
#define DEVICES "/sys/dev/block"

static void make_kernel(void)
{
        own_namespace_enter(CLONE_NEWNS);
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                err(EXIT_FAILURE, "Failed to leave the machine's mounts");
}

static void come(unsigned int number)
{
        _cleanup_free_ char *path = string_format(DEVICES "/8:%u", number);

        ck_assert_ptr_nonnull(path);
        ck_assert_msg(mkdir(path, 0755) >= 0, "%s: %m", path);
}

static void go(unsigned int number)
{
        _cleanup_free_ char *path = string_format(DEVICES "/8:%u", number);

        ck_assert_ptr_nonnull(path);
        ck_assert_int_eq(rmdir(path), 0);
}

static void set_up(void)
{
        _cleanup_free_ char *path = NULL;

        ck_assert_int_eq(mount("headgate-test", DEVICES, "tmpfs", 0, NULL), 0);
        run_directory_set_up();
        path = string_format("%s/pvscan", run_directory());
        ck_assert_ptr_nonnull(path);
        ck_assert_int_ge(write_file_atomic_at(run_fd, "pvscan", script), 0);
        ck_assert_int_eq(chmod(path, 0700), 0);
        ck_assert_int_eq(setenv("HEADGATE_LVM", path, true), 0);

        worker = (struct worker){.run_fd = run_fd, .event_activation = true};
        worker.lvm_run_fd = online_open_directory();
        ck_assert_int_ge(worker.lvm_run_fd, 0);
        ck_assert_int_ge(signals_block(), 0);
        ck_assert_int_ge(sd_event_new(&worker.event), 0);
        ck_assert_int_ge(
                sd_event_add_time(worker.event, &worker.step_source, CLOCK_MONOTONIC, 0, 1, on_step, NULL), 0);
        dm_list_init(&worker.scans.overdue);
        dm_list_init(&worker.jobs);
        dm_list_init(&worker.expectations);
        worker.n_processors = 1;
        ck_assert_int_ge(inventory_new(run_fd, worker.lvm_run_fd, &worker.inventory), 0);
        ck_assert_int_ge(readers_new(worker.event, NULL, NULL, on_progress, NULL, &worker.readers), 0);
}

static void tear_down(void)
{
        readers_free(worker.readers);
        inventory_free(worker.inventory);
        sd_event_source_disable_unref(worker.step_source);
        sd_event_unref(worker.event);
        close(worker.lvm_run_fd);
        run_directory_tear_down();
        ck_assert_int_eq(umount(DEVICES), 0);
}

/* A device that was read, and the one PV of a VG. */
static struct device *add(const char *name)
{
        unsigned int number = (unsigned int) strtoul(strpbrk(name, "0123456789"), NULL, 10);
        _cleanup_vg_ struct vg *metadata = calloc(1, sizeof(*metadata));
        struct vg_pv *pv = calloc(1, sizeof(*pv));
        struct device *device;

        ck_assert(metadata && pv);
        *metadata = (struct vg){.name = strdup("vg"), .seqno = 1, .n_pvs = 1, .pvs = pv};
        snprintf(metadata->vgid, sizeof(metadata->vgid), "v%031u", number);
        snprintf(pv->pvid, sizeof(pv->pvid), "p%031u", number);
        ck_assert_int_ge(vg_finish(metadata), 0);
        come(number);
        ck_assert_int_ge(inventory_get_device(worker.inventory, makedev(8, number), &device), 0);
        device->name = string_format("/dev/%s", name);
        ck_assert_ptr_nonnull(device->name);
        ck_assert_int_ge(inventory_set_pvid(worker.inventory, device, pv->pvid), 0);
        ck_assert_int_ge(inventory_add_metadata(worker.inventory, &metadata, &device->group), 0);
        device->group->vg->status = VG_STATUS_COMPLETE;
        inventory_move_device(worker.inventory, device, DEVICE_UNRECORDED);
        return device;
}

static void record_all(void)
{
        const struct dm_list *devices = worker.inventory->devices;

        while (!dm_list_empty(&devices[DEVICE_UNRECORDED]) || !dm_list_empty(&devices[DEVICE_RECORDING]))
                ck_assert_int_ge(sd_event_run(worker.event, UINT64_MAX), 0);
}

static void assert_calls(const char *expected)
{
        _cleanup_free_ char *calls = NULL;

        ck_assert_int_ge(read_file_at(run_fd, "calls", &calls, NULL), 0);
        ck_assert_str_eq(calls, expected);
}

static void assert_accepted(const struct device *device)
{
        dev_t recorded;

        ck_assert_ptr_null(device->group->refusal);
        ck_assert_int_eq(online_read_pv(worker.lvm_run_fd, device->pvid, &recorded, NULL), ONLINE_FOUND);
        ck_assert_uint_eq(recorded, device->number);
}

START_TEST(all_are_shown_at_once)
{
        struct device *first = add("ok1"), *refused = add("no2"), *last = add("ok3");

        record_all();
        assert_calls("/dev/ok1 /dev/no2 /dev/ok3\n");
        assert_accepted(first);
        assert_accepted(last);
        ck_assert_str_eq(refused->group->refusal, "lvm2 does not accept its PV /dev/no2: /dev/no2 is refused.");
}
END_TEST

START_TEST(incomplete_vgs_wait_for_others)
{
        struct device *waiting = add("ok1");

        waiting->group->vg->status = VG_STATUS_WAITING;
        worker.first_device_usec = now_usec();
        for (int i = 0; i < 10; i++)
                ck_assert_int_ge(sd_event_run(worker.event, 10 * USEC_PER_MSEC), 0);
        ck_assert_int_eq(waiting->stage, DEVICE_UNRECORDED);
        add("ok2");
        worker_ask_step(&worker);
        record_all();
        assert_calls("/dev/ok1 /dev/ok2\n");
        assert_accepted(waiting);

        /* None comes for a second. */
        waiting = add("ok3");
        waiting->group->vg->status = VG_STATUS_WAITING;
        worker_ask_step(&worker);
        record_all();
        assert_calls("/dev/ok1 /dev/ok2\n/dev/ok3\n");
}
END_TEST

START_TEST(one_that_crashes_lvm2_costs_no_other)
{
        struct device *devices[16];
        struct device *bad;

        for (unsigned int i = 0; i < ELEMENTSOF(devices); i++) {
                _cleanup_free_ char *name = string_format(i == 5 ? "bad%u" : "ok%u", i + 1);

                devices[i] = add(name);
        }
        bad = devices[5];
        record_all();
        ck_assert(bad->group->unjudged);

        for (size_t i = 0; i < ELEMENTSOF(devices); i++)
                if (devices[i] != bad)
                        assert_accepted(devices[i]);
        ck_assert_str_eq(bad->group->refusal, "pvscan of its PV /dev/bad6 was ended by signal 11.");

        /* What comes later is shown as a whole again. */
        ck_assert_int_eq(unlinkat(run_fd, "calls", 0), 0);
        for (unsigned int i = 0; i < 3; i++) {
                _cleanup_free_ char *name = string_format("ok%u", 21 + i);

                devices[i] = add(name);
        }
        worker_ask_step(&worker);
        record_all();
        assert_calls("/dev/ok21 /dev/ok22 /dev/ok23\n");
}
END_TEST

START_TEST(several_that_crash_lvm2)
{
        struct device *first = add("bad1"), *second = add("ok2"), *third = add("bad3"), *fourth = add("bad4"),
                      *fifth = add("ok5");

        record_all();
        assert_accepted(second);
        assert_accepted(fifth);
        ck_assert_ptr_nonnull(first->group->refusal);
        ck_assert_ptr_nonnull(third->group->refusal);
        ck_assert_ptr_nonnull(fourth->group->refusal);
}
END_TEST

static void run_until_accepted(const struct device *device)
{
        dev_t recorded;

        while (device->stage < DEVICE_SETTLING)
                ck_assert_int_ge(sd_event_run(worker.event, UINT64_MAX), 0);
        ck_assert_int_eq(online_read_pv(worker.lvm_run_fd, device->pvid, &recorded, NULL), ONLINE_FOUND);
}

START_TEST(an_unresponsive_device_delays_no_other)
{
        struct device *others[] = {add("ok1"), add("ok2"), add("ok4"), add("ok5")};
        struct device *silent = add("silent3"), *later;
        uint64_t before;
        int fd;

        ck_assert_int_eq(mkfifoat(run_fd, "answer", 0600), 0);
        /* In the middle. */
        dm_list_move(others[1]->list.n, &silent->list);
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                run_until_accepted(others[i]);
        while (dm_list_size(&worker.scans.overdue) == 0 || worker.scans.job)
                ck_assert_int_ge(sd_event_run(worker.event, UINT64_MAX), 0);
        ck_assert_int_eq(silent->stage, DEVICE_RECORDING);
        ck_assert_str_eq(silent->group->vg->reason, "lvm2 waits for unresponsive device /dev/silent3.");

        /* What comes later does not wait at all. */
        before = now_usec();
        later = add("ok6");
        worker_ask_step(&worker);
        run_until_accepted(later);
        ck_assert_uint_lt(now_usec() - before, 5 * USEC_PER_SEC);

        /* Whoever waits for an answer has one. */
        fd = openat(run_fd, "answer", O_WRONLY);
        ck_assert_int_ge(fd, 0);
        for (size_t i = dm_list_size(&worker.scans.overdue); i > 0; i--)
                ck_assert_int_eq(write(fd, "\n", 1), 1);
        run_until_accepted(silent);
        while (!dm_list_empty(&worker.scans.overdue))
                ck_assert_int_ge(sd_event_run(worker.event, UINT64_MAX), 0);
        close(fd);
        ck_assert_ptr_null(silent->group->vg->reason);
        ck_assert_ptr_null(silent->group->refusal);
}
END_TEST

/* It is at work for longer than anybody waits for one that is not. */
START_TEST(one_that_is_at_work_is_waited_for)
{
        struct device *device = add("busy1");

        record_all();
        assert_calls("/dev/busy1\n");
        assert_accepted(device);
        ck_assert(dm_list_empty(&worker.scans.overdue));
}
END_TEST

/* Nobody has said that it went, and lvm2 could not find it. */
START_TEST(one_that_has_gone_is_not_refused)
{
        struct device *gone = add("no1"), *refused = add("no2");

        go(1);
        record_all();
        ck_assert_ptr_null(gone->group->refusal);
        ck_assert_ptr_nonnull(refused->group->refusal);
}
END_TEST

/* pvscan failed before it came to that: somebody was writing lvm.conf, for instance. A disk that comes in its place would be
 * taken for one that lvm2 has seen. */
START_TEST(one_that_has_gone_is_forgotten)
{
        struct device *device = add("ok1");
        char pvid[LVM_ID_SIZE];
        dev_t recorded;

        record_all();
        assert_accepted(device);
        memcpy(pvid, device->pvid, sizeof(pvid));
        ck_assert_int_eq(online_claim(worker.lvm_run_fd, "vg"), 0);
        go(1);
        device->removed = true;
        inventory_move_device(worker.inventory, device, DEVICE_UNRECORDED);
        worker_ask_step(&worker);
        record_all();
        ck_assert_int_eq(device->stage, DEVICE_SETTLING);
        ck_assert_int_eq(online_read_pv(worker.lvm_run_fd, pvid, &recorded, NULL), ONLINE_NONE);
        ck_assert_int_eq(online_is_claimed(worker.lvm_run_fd, "vg"), 0);
}
END_TEST

/* While lvm2 was looking it came back as another device. */
START_TEST(one_that_has_moved_is_not_refused)
{
        struct device *moved = add("no1");

        moved->group->vg->pvs[0].device = makedev(8, 2);
        record_all();
        ck_assert_ptr_null(moved->group->refusal);
}
END_TEST

START_TEST(refusal_goes_with_the_pv)
{
        struct device *first = add("no1"), *second = add("no2");

        record_all();
        inventory_lose_pv(worker.inventory, first->group, second->number);
        ck_assert_ptr_nonnull(first->group->refusal);
        inventory_lose_pv(worker.inventory, first->group, first->number);
        ck_assert_ptr_null(first->group->refusal);
        ck_assert_ptr_nonnull(second->group->refusal);
        go(2);
        inventory_lose_absent_pvs(worker.inventory, second->group);
        ck_assert_ptr_null(second->group->refusal);
}
END_TEST

START_TEST(refusal_is_taken_back)
{
        struct device *device = add("no1");

        record_all();
        ck_assert_ptr_nonnull(device->group->refusal);
        memcpy(device->name, "/dev/ok1", sizeof("/dev/ok1"));
        inventory_move_device(worker.inventory, device, DEVICE_UNRECORDED);
        worker_ask_step(&worker);
        record_all();
        assert_accepted(device);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("recording");
        TCase *cases = tcase_create("recording");

        make_kernel();
        tcase_set_timeout(cases, 120);
        tcase_add_checked_fixture(cases, set_up, tear_down);
        tcase_add_test(cases, all_are_shown_at_once);
        tcase_add_test(cases, incomplete_vgs_wait_for_others);
        tcase_add_test(cases, one_that_crashes_lvm2_costs_no_other);
        tcase_add_test(cases, several_that_crash_lvm2);
        tcase_add_test(cases, an_unresponsive_device_delays_no_other);
        tcase_add_test(cases, one_that_is_at_work_is_waited_for);
        tcase_add_test(cases, one_that_has_gone_is_not_refused);
        tcase_add_test(cases, one_that_has_gone_is_forgotten);
        tcase_add_test(cases, one_that_has_moved_is_not_refused);
        tcase_add_test(cases, refusal_goes_with_the_pv);
        tcase_add_test(cases, refusal_is_taken_back);
        suite_add_tcase(suite, cases);
        return run_suite(suite);
}
