/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The semaphores that lvm2 waits for: the kernel's own, in a namespace of the test's. */

#include <check.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake-udevd.h"
#include "fast-rules/blocked.h"
#include "fast-rules/cookies.h"
#include "fixture.h"
#include "lvm/command.h"
#include "own-namespace.h"
#include "shared/flags.h"
#include "shared/util.h"

#define BASE 0x1234u
#define OTHER_BASE 0x4321u
#define FLAGS (DM_UDEV_PRIMARY_SOURCE_FLAG << DM_UDEV_FLAGS_SHIFT)
/* What nobody looks at. */
#define STRANGE_KEY 0x1d4d1234

static sd_event *event;
static DM_LIST_INIT(jobs);
static struct cookies *cookies;

static key_t key_of(unsigned int base)
{
        return (key_t) ((unsigned int) DM_COOKIE_MAGIC << DM_UDEV_FLAGS_SHIFT | base);
}

static int make_semaphore(key_t key, int value)
{
        int id = semget(key, 1, IPC_CREAT | IPC_EXCL | 0600);

        ck_assert_msg(id >= 0, "semget: %m");
        ck_assert_int_eq(semctl(id, 0, SETVAL, value), 0);
        return id;
}

static int value_of(int id)
{
        return semctl(id, 0, GETVAL);
}

static void set_up(void)
{
        run_directory_set_up();
        ck_assert_int_eq(setenv("HEADGATE_ROOT", run_directory(), true), 0);
        fake_udevd_set_up();
        ck_assert_int_ge(sd_event_new(&event), 0);
        ck_assert_int_eq(mkdirat(run_fd, FLAGS_DM_NAMES, 0700), 0);
        ck_assert_int_eq(mkdirat(run_fd, "run", 0700), 0);
        cookies_expect(&cookies, event, run_fd, &jobs);
}

static void remove_semaphore(unsigned int base)
{
        int id = semget(key_of(base), 1, 0);

        if (id >= 0)
                ck_assert_int_eq(semctl(id, 0, IPC_RMID), 0);
}

static void tear_down(void)
{
        cookies = cookies_free(cookies);
        event = sd_event_unref(event);
        fake_udevd_tear_down();
        run_directory_tear_down();
        remove_semaphore(BASE);
        remove_semaphore(OTHER_BASE);
}

START_TEST(completed_as_by_dmsetup)
{
        int id = make_semaphore(key_of(BASE), 2);

        ck_assert_int_eq(cookie_complete(FLAGS | BASE), 0);
        ck_assert_int_eq(value_of(id), 1);
        ck_assert_int_eq(cookie_complete(FLAGS | BASE), 0);
        ck_assert_int_eq(value_of(id), 0);
        ck_assert_int_eq(cookie_complete(FLAGS | BASE), -EAGAIN);
        ck_assert_int_eq(cookie_complete(FLAGS | OTHER_BASE), -ENOENT);
        ck_assert_int_eq(cookie_complete(FLAGS), 0);
}
END_TEST

START_TEST(all_are_found)
{
        int strange = make_semaphore(STRANGE_KEY, 100);
        _cleanup_free_ struct suspect *suspects = NULL;
        size_t n;

        make_semaphore(key_of(BASE), 3);
        make_semaphore(key_of(OTHER_BASE), 4);
        ck_assert_int_eq(suspects_find(&suspects, &n), 0);
        ck_assert_uint_eq(n, 2);
        ck_assert_uint_eq(suspects[0].state.left + suspects[1].state.left, 7);
        ck_assert_int_eq(semctl(strange, 0, IPC_RMID), 0);
}
END_TEST

START_TEST(one_that_has_gone)
{
        int id = make_semaphore(key_of(BASE), 1);
        struct cookie_state state;

        ck_assert_int_eq(cookie_get_state(id, &state), 0);
        ck_assert_uint_eq(state.left, 1);
        ck_assert_uint_eq(state.waiting, 0);
        remove_semaphore(BASE);
        ck_assert_int_eq(cookie_get_state(id, &state), -ENOENT);
        ck_assert_int_eq(semaphore_subtract(id, 1), -ENOENT);
}
END_TEST

static void send_event(unsigned int cookie, const char *mark)
{
        char properties[512];
        int n = snprintf(properties, sizeof(properties),
                "ACTION=change%cDEVPATH=/devices/virtual/block/dm-7%cSUBSYSTEM=block%cDEVTYPE=disk%cSEQNUM=1%cMAJOR=253%c"
                "MINOR=7%cDEVNAME=/dev/dm-7%cDM_COOKIE=%u%c%s",
                0, 0, 0, 0, 0, 0, 0, 0, cookie, 0, mark);

        fake_udevd_send(properties, (size_t) n + (*mark ? 1 : 0));
}

static void drop_capability(unsigned int capability)
{
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[2];

        ck_assert_int_eq(syscall(SYS_capget, &header, data), 0);
        data[0].effective &= ~(1u << capability);
        ck_assert_int_eq(syscall(SYS_capset, &header, data), 0);
}

static bool has_promised(void)
{
        return flags_is_set(run_fd, FLAGS_COMPLETING) > 0;
}

START_TEST(promised_once_there_was_a_mark)
{
        int id = make_semaphore(key_of(BASE), 5);

        /* The distribution's rules. */
        send_event(FLAGS | BASE, "");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert(!has_promised());
        ck_assert_int_eq(value_of(id), 5);

        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=program");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert(has_promised());
        ck_assert_int_eq(value_of(id), 5);

        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=worker");
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=program");
        send_event(FLAGS | OTHER_BASE, ".HEADGATE_COOKIE=worker");
        fake_udevd_send_nonsense();
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=worker");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert_int_eq(value_of(id), 3);

        ck_assert_int_eq(cookies_withdraw(cookies), 0);
        ck_assert(!has_promised());
        /* udev had it on its way. */
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=worker");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert(!has_promised());
        ck_assert_int_eq(value_of(id), 2);

        /* Somebody else's, with no vgchange of the worker's. */
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=program");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert(!has_promised());
        cookies_expect(&cookies, event, run_fd, &jobs);
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=program");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert(has_promised());
}
END_TEST

static bool promises_beside(const char *name, const char *text)
{
        _cleanup_free_ char *path = string_format("%s/etc/udev/rules.d/%s", run_directory(), name);

        ck_assert_ptr_nonnull(path);
        own_namespace_write(path, text);
        ck_assert_int_eq(cookies_withdraw(cookies), 0);
        cookies_expect(&cookies, event, run_fd, &jobs);
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=program");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert_int_eq(unlink(path), 0);
        return has_promised();
}

/* lvm2 is not to wait for them, and udev tells the worker only when they have ended. */
START_TEST(nothing_is_promised_if_programs_run_later)
{
        static const char *const directories[] = {"etc", "etc/udev", "etc/udev/rules.d"};
        _cleanup_free_ char *late = string_format("%s/etc/udev/rules.d/96-local.rules", run_directory());
        int root_fd = open(run_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC);

        for (size_t i = 0; i < ELEMENTSOF(directories); i++)
                ck_assert_int_eq(mkdirat(root_fd, directories[i], 0700), 0);
        close(root_fd);
        ck_assert(!promises_beside("96-local.rules", "# a comment\nKERNEL==\"dm-*\", RUN+=\"/bin/program\"\n"));
        ck_assert(!promises_beside("99-z.rules", "ACTION==\"add\", GOTO=\"end\"\nRUN{program}+=\"/bin/program\""));
        ck_assert(!promises_beside("95-dm-notify2.rules", "KERNEL==\"dm-*\", \\\n  RUN=\"/bin/program\"\n"));
        ck_assert(promises_beside("95-dm-notify.rules", "KERNEL==\"dm-*\", RUN+=\"/bin/program\"\n"));
        ck_assert(promises_beside("60-local.rules", "KERNEL==\"dm-*\", RUN+=\"/bin/program\"\n"));
        ck_assert(promises_beside("96-local.rules", "# RUN+=\"/bin/program\"\nSYMLINK+=\"a\"\n"));
        ck_assert(promises_beside("96-local.rules~", "RUN+=\"/bin/program\"\n"));
        ck_assert(promises_beside(
                "99-systemd.rules", "ACTION==\"add\", SUBSYSTEM==\"net\", RUN+=\"/bin/program\"\n"));

        /* They come while a vgchange runs, and before another one. */
        ck_assert(has_promised());
        own_namespace_write(late, "RUN+=\"/bin/program\"\n");
        cookies_expect(&cookies, event, run_fd, &jobs);
        ck_assert(!has_promised());
        ck_assert_int_eq(unlink(late), 0);
}
END_TEST

/* It cannot be told to whom it belongs, and somebody may wait for it. */
START_TEST(a_cookie_that_cannot_be_completed)
{
        const char properties[] =
                "ACTION=change\0DEVPATH=/devices/virtual/block/dm-7\0SUBSYSTEM=block\0DEVTYPE=disk\0"
                "SEQNUM=1\0MAJOR=253\0MINOR=7\0DEVNAME=/dev/dm-7\0.HEADGATE_COOKIE=worker";

        fake_udevd_send(properties, sizeof(properties));
        ck_assert_int_eq(cookies_drain(cookies), -EBADMSG);
}
END_TEST

/* As by a security module. There is no program here that could do it. */
START_TEST(a_cookie_that_must_not_be_completed)
{
        int id = make_semaphore(key_of(BASE), 1);
        union semun {
                struct semid_ds *buf;
        } none = {.buf = &(struct semid_ds){}};

        ck_assert_int_eq(semctl(id, 0, IPC_SET, none), 0);
        drop_capability(CAP_IPC_OWNER);
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=worker");
        ck_assert_int_eq(cookies_drain(cookies), -EPERM);
}
END_TEST

START_TEST(nobody_listens)
{
        ck_assert_int_eq(cookies_drain(NULL), 0);
        ck_assert_int_eq(cookies_withdraw(NULL), 0);
}
END_TEST

START_TEST(lost_events_end_the_worker)
{
        fake_udevd_shrink_buffers();
        for (unsigned int i = 0; i < 100; i++)
                send_event(FLAGS | BASE, "");
        ck_assert_int_eq(cookies_drain(cookies), -ENOBUFS);
}
END_TEST

/* A process that does as dm_udev_wait() does. */
static pid_t start_waiting(unsigned int base)
{
        struct sembuf own = {.sem_op = -1}, end = {.sem_op = 0};
        int id = semget(key_of(base), 1, 0);
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                _exit(semop(id, &own, 1) < 0 || semop(id, &end, 1) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
        while (semctl(id, 0, GETZCNT) == 0)
                (void) usleep(1000);
        return pid;
}

/* Of /proc/locks: 10 and 30 are vgchanges. 21 has the second lock that 22 waits for; 31 waits for a lock of another kind, 41 for
 * somebody else. */
static const char *const held = "1: FLOCK  ADVISORY  WRITE 10 08:01:393 0 EOF\n"
                                "1: -> FLOCK  ADVISORY  WRITE 20 08:01:393 0 EOF\n"
                                "1:  -> FLOCK  ADVISORY  READ 21 08:01:393 0 EOF\n"
                                "2: FLOCK  ADVISORY  WRITE 21 08:01:394 0 EOF\n"
                                "2: -> FLOCK  ADVISORY  WRITE 22 08:01:394 0 EOF\n"
                                "3: POSIX  ADVISORY  WRITE 30 08:01:395 0 EOF\n"
                                "3: -> POSIX  ADVISORY  WRITE 31 08:01:395 0 EOF\n"
                                "4: FLOCK  ADVISORY  READ 40 08:01:396 0 EOF\n"
                                "4: -> FLOCK  ADVISORY  WRITE 41 08:01:396 0 EOF\n"
                                "5: OFDLCK ADVISORY  READ -1 00:06:14 0 EOF\n";

START_TEST(who_waits_for_a_vgchange)
{
        struct job first = {.command.pid = 10}, second = {.command.pid = 30};
        struct blocked blocked = {};

        dm_list_add(&jobs, &first.list);
        dm_list_add(&jobs, &second.list);
        for (unsigned int look = 1; look <= 3; look++) {
                _cleanup_free_ char *text = strdup(held);

                blocked_look(&blocked, text, &jobs);
                ck_assert_uint_eq(blocked.n, 3);
                for (size_t i = 0; i < 3; i++) {
                        ck_assert_int_eq(blocked.waiters[i].pid, 20 + (pid_t) i);
                        ck_assert_int_eq(blocked.waiters[i].holder, 10);
                        ck_assert_uint_eq(blocked.waiters[i].looks, look);
                }
        }
        /* It has got that lock, and waits for the next. */
        blocked_look(&blocked,
                strdupa("1: FLOCK  ADVISORY  WRITE 30 08:01:395 0 EOF\n"
                        "1: -> FLOCK  ADVISORY  WRITE 20 08:01:395 0 EOF\n"),
                &jobs);
        ck_assert_uint_eq(blocked.n, 1);
        ck_assert_uint_eq(blocked.waiters[0].looks, 1);
        blocked_look(&blocked, strdupa(""), &jobs);
        ck_assert_uint_eq(blocked.n, 0);
        dm_list_init(&jobs);
}
END_TEST

static pid_t start_with_lock(const char *path, unsigned int base)
{
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
                struct sembuf end = {.sem_op = 0};
                bool waits = base != 0;

                if (fd < 0 || flock(fd, LOCK_EX) < 0)
                        _exit(EXIT_FAILURE);
                _exit(waits && semop(semget(key_of(base), 1, 0), &end, 1) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
        }
        return pid;
}

/* Has udev have started it, by what the kernel says of it. */
static void put_into_udev(pid_t pid)
{
        struct path group = path_format("/proc/%i/cgroup", pid);

        own_namespace_write("/run/group", "0::/system.slice/systemd-udevd.service/udev\n");
        ck_assert_int_eq(mount("/run/group", group.text, NULL, MS_BIND, NULL), 0);
}

static bool has_ended(pid_t pid)
{
        return waitpid(pid, NULL, WNOHANG) == pid;
}

/* A program that udev runs for an LV waits for the lock of the vgchange, and the vgchange for udev. */
START_TEST(a_program_that_waits_for_the_vgchange)
{
        int id = make_semaphore(key_of(BASE), 3), others = make_semaphore(key_of(OTHER_BASE), 1);
        _cleanup_free_ char *path = string_format("%s/lock", run_directory()), *name = NULL;
        struct job job = {};
        pid_t program;
        uint64_t begin;

        ck_assert_ptr_nonnull(path);
        job.command.pid = start_with_lock(path, BASE);
        while (semctl(id, 0, GETZCNT) == 0)
                (void) usleep(1000);
        /* udev has had a program complete the first event. */
        program = fork();
        if (program == 0)
                _exit(cookie_complete(FLAGS | BASE) < 0);
        ck_assert_int_eq(waitpid(program, NULL, 0), program);
        ck_assert_int_eq(value_of(id), 2);
        program = start_with_lock(path, 0);
        dm_list_add(&jobs, &job.list);
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=program");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert(has_promised());

        /* Somebody's vgs would wait, too. */
        begin = now_usec();
        while (now_usec() - begin < 5 * USEC_PER_SEC)
                ck_assert_int_ge(sd_event_run(event, 100 * USEC_PER_MSEC), 0);
        ck_assert(has_promised());
        ck_assert(!has_ended(job.command.pid));

        put_into_udev(program);
        begin = now_usec();
        while (!has_ended(job.command.pid)) {
                ck_assert_uint_lt(now_usec() - begin, 20 * USEC_PER_SEC);
                ck_assert_int_ge(sd_event_run(event, 100 * USEC_PER_MSEC), 0);
        }
        ck_assert_int_eq(waitpid(program, NULL, 0), program);
        ck_assert(!has_promised());
        ck_assert_int_eq(read_file_at(run_fd, FLAGS_LATE_PROGRAM, &name, NULL), 0);
        ck_assert_str_eq(name, "test-cookies");
        /* Somebody else's. */
        ck_assert_int_eq(value_of(others), 1);

        /* The events themselves come after that; another cookie may have got the number meanwhile. */
        ck_assert_int_eq(semctl(id, 0, SETVAL, 5), 0);
        for (size_t i = 0; i < 3; i++)
                send_event(FLAGS | BASE, ".HEADGATE_COOKIE=worker");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert_int_eq(value_of(id), 4);

        /* Until the next boot. */
        ck_assert_int_eq(cookies_withdraw(cookies), 0);
        cookies_expect(&cookies, event, run_fd, &jobs);
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=program");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert(!has_promised());
        dm_list_init(&jobs);
}
END_TEST

/* Who stops it takes care of what it has promised. */
START_TEST(a_worker_that_ends_on_the_way_out)
{
        int id = make_semaphore(key_of(BASE), 2);
        _cleanup_free_ char *path = string_format("%s/lock", run_directory());
        struct job job = {.command.pid = start_with_lock(path, BASE)};
        pid_t program;

        while (semctl(id, 0, GETZCNT) == 0)
                (void) usleep(1000);
        program = start_with_lock(path, 0);
        put_into_udev(program);
        dm_list_add(&jobs, &job.list);
        send_event(FLAGS | BASE, ".HEADGATE_COOKIE=program");
        ck_assert_int_eq(cookies_drain(cookies), 0);
        ck_assert_int_eq(mkdirat(run_fd, "." FLAGS_LATE_PROGRAM ".new", 0700), 0);
        ck_assert_int_lt(sd_event_loop(event), 0);
        ck_assert(has_promised());
        ck_assert_int_eq(semctl(id, 0, SETVAL, 0), 0);
        ck_assert_int_eq(waitpid(job.command.pid, NULL, 0), job.command.pid);
        ck_assert_int_eq(waitpid(program, NULL, 0), program);
        dm_list_init(&jobs);
}
END_TEST

static void complete_what_is_left(size_t n_expected, uint64_t timeout_usec)
{
        _cleanup_free_ struct suspect *suspects = NULL;
        size_t n;

        ck_assert_int_eq(suspects_find(&suspects, &n), 0);
        ck_assert_uint_eq(n, n_expected);
        ck_assert_int_eq(suspects_complete(suspects, n, timeout_usec), 0);
}

START_TEST(what_is_left_is_completed)
{
        uint64_t begin = now_usec();
        int id = make_semaphore(key_of(BASE), 3), status;
        pid_t pid = start_waiting(BASE);

        complete_what_is_left(1, 60 * USEC_PER_SEC);
        ck_assert_uint_ge(now_usec() - begin, 2 * USEC_PER_SEC);
        ck_assert_uint_lt(now_usec() - begin, 10 * USEC_PER_SEC);
        ck_assert_int_eq(value_of(id), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

START_TEST(while_udev_is_busy_it_takes_longer)
{
        uint64_t begin = now_usec();
        pid_t pid;

        make_semaphore(key_of(BASE), 2);
        pid = start_waiting(BASE);
        own_namespace_write("/run/udev/queue", "");
        complete_what_is_left(1, 60 * USEC_PER_SEC);
        ck_assert_int_eq(unlink("/run/udev/queue"), 0);
        ck_assert_uint_ge(now_usec() - begin, 10 * USEC_PER_SEC);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(nothing_is_left)
{
        complete_what_is_left(0, 0);
}
END_TEST

/* Its owner does not wait yet, and may do more that udev is to tell of. */
START_TEST(who_is_at_work_is_left_alone)
{
        int id = make_semaphore(key_of(BASE), 2);

        complete_what_is_left(1, 4 * USEC_PER_SEC);
        ck_assert_int_eq(value_of(id), 2);
}
END_TEST

static Suite *cookies_suite(void)
{
        Suite *suite = suite_create("cookies");
        TCase *tcase = tcase_create("cookies");

        fake_udevd_begin();
        tcase_set_timeout(tcase, 60);
        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, completed_as_by_dmsetup);
        tcase_add_test(tcase, all_are_found);
        tcase_add_test(tcase, one_that_has_gone);
        tcase_add_test(tcase, promised_once_there_was_a_mark);
        tcase_add_test(tcase, nothing_is_promised_if_programs_run_later);
        tcase_add_test(tcase, a_cookie_that_cannot_be_completed);
        tcase_add_test(tcase, a_cookie_that_must_not_be_completed);
        tcase_add_test(tcase, nobody_listens);
        tcase_add_test(tcase, who_waits_for_a_vgchange);
        tcase_add_test(tcase, a_program_that_waits_for_the_vgchange);
        tcase_add_test(tcase, a_worker_that_ends_on_the_way_out);
        tcase_add_test(tcase, lost_events_end_the_worker);
        tcase_add_test(tcase, what_is_left_is_completed);
        tcase_add_test(tcase, while_udev_is_busy_it_takes_longer);
        tcase_add_test(tcase, nothing_is_left);
        tcase_add_test(tcase, who_is_at_work_is_left_alone);
        suite_add_tcase(suite, tcase);
        return suite;
}

int main(void)
{
        return run_suite(cookies_suite());
}
