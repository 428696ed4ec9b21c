/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who stops monitoring what, when: the executor with a dmeventd of the test's own, which stands below the functions of
 * libdevmapper-event, and a kernel that removes whatever is not in use. That the real ones agree is for the guests to
 * show. */

#include "teardown/unmonitor.h"

#include <err.h>
#include <fcntl.h>
#include <libdevmapper-event.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "fixture.h"
#include "own-namespace.h"
#include "shapes.h"
#include "teardown/teardown.h"

#define N 4

/* By the minor numbers of LVs. Shared with the child that asks it. */
static struct {
        pid_t pid; /* holds the lock */
        bool monitors[N];
        bool is_gone[N]; /* removed, which the library notices before dmeventd does */
        bool is_broken;  /* its answers are errors */
        bool ends;       /* before it answers */
        unsigned int answers_after_usec;
        unsigned int n_asked;
} * dmeventd;

/* The kernel. Only one thread asks it at a time. */
static struct {
        unsigned int n_busy[N]; /* so many attempts fail */
        unsigned int n_monitored_removals;
} kernel;

/* ------ dmeventd ------ */

struct dm_event_handler {
        size_t lv;
        enum dm_event_mask events;
};

static void dmeventd_start(void)
{
        pid_t parent = getpid(), pid;
        int ends[2];
        char byte;

        ck_assert_int_eq(pipe(ends), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
                int fd = open("/run/dmeventd.pid", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

                if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || fcntl(fd, F_SETLK, &lock) < 0 ||
                        write(ends[1], "", 1) != 1)
                        _exit(EXIT_FAILURE);
                for (;;)
                        pause();
        }
        dmeventd->pid = pid;
        close(ends[1]);
        ck_assert_int_eq(read(ends[0], &byte, 1), 1);
        close(ends[0]);
}

/* Also waits for the child of the teardown, which asks it to the end. */
static void dmeventd_stop(void)
{
        kill(dmeventd->pid, SIGKILL);
        while (waitpid(-1, NULL, 0) > 0)
                ;
}

struct dm_event_handler *dm_event_handler_create(void)
{
        return calloc(1, sizeof(struct dm_event_handler));
}

/* The last digit tells. */
int dm_event_handler_set_uuid(struct dm_event_handler *handler, const char *uuid)
{
        handler->lv = (size_t) (uuid[strlen(uuid) - 1] - '0');
        return 0;
}

int dm_event_get_registered_device(struct dm_event_handler *handler, int next)
{
        ck_assert_int_eq(next, 0);
        dmeventd->n_asked++;
        usleep(dmeventd->answers_after_usec);
        if (dmeventd->is_gone[handler->lv])
                return -ENXIO;
        if (dmeventd->ends) {
                _cleanup_close_ int fd = open("/run/dmeventd.pid", O_RDWR | O_CLOEXEC);
                struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

                /* Its lock is gone a moment after the signal. */
                kill(dmeventd->pid, SIGKILL);
                fcntl(fd, F_SETLKW, &lock);
                return -EIO;
        }
        if (dmeventd->is_broken)
                return -EIO;
        handler->events = DM_EVENT_ALL_ERRORS;
        return dmeventd->monitors[handler->lv] ? 0 : -ENOENT;
}

enum dm_event_mask dm_event_handler_get_event_mask(const struct dm_event_handler *handler)
{
        return handler->events;
}

void dm_event_handler_set_event_mask(struct dm_event_handler *handler, enum dm_event_mask events)
{
        handler->events = events;
}

int dm_event_unregister_handler(const struct dm_event_handler *handler)
{
        dmeventd->monitors[handler->lv] = false;
        return 1;
}

int dm_event_register_handler(const struct dm_event_handler *handler)
{
        dmeventd->monitors[handler->lv] = true;
        return 1;
}

/* ------ the kernel, and the teardown ------ */

static int remove_node(const struct removal *removal)
{
        unsigned int i = minor(removal->number);

        if (kernel.n_busy[i] > 0) {
                kernel.n_busy[i]--;
                return -EBUSY;
        }
        kernel.n_monitored_removals += dmeventd->monitors[i] && !dmeventd->is_gone[i];
        dmeventd->is_gone[i] = true;
        return 0;
}

/* Makes LVs, each of its own VG. */
static struct tree *make_lvs(unsigned int n)
{
        for (unsigned int i = 0; i < n; i++) {
                _cleanup_free_ char *name = string_format("vg%u-lv", i);
                _cleanup_free_ char *uuid = string_format("LVM-%032u%032u", i, i);

                shape_dm(i, name, uuid, "raid");
                dmeventd->monitors[i] = true;
        }
        return shape_read();
}

static int take_down(struct tree *tree, struct teardown *teardown)
{
        const struct teardown_options options = {
                .n_threads = 1,
                .deadline_usec = 10 * USEC_PER_SEC,
                .in_use_usec = 400 * USEC_PER_MSEC,
                .remove = remove_node,
        };

        ck_assert_int_eq(teardown_init(teardown, tree, &options), 0);
        ck_assert(teardown->unmonitor.asks);
        return teardown_run(teardown);
}

/* ------ the tests ------ */

static void set_up(void)
{
        shape_set_up();
        memset(dmeventd, 0, sizeof(*dmeventd));
        memset(&kernel, 0, sizeof(kernel));
        dmeventd_start();
}

static void tear_down(void)
{
        dmeventd_stop();
        shape_tear_down();
}

START_TEST(all_are_removed)
{
        _cleanup_tree_ struct tree *tree = make_lvs(N);
        _cleanup_teardown_ struct teardown teardown = {};

        ck_assert_int_eq(take_down(tree, &teardown), 0);
        ck_assert_uint_eq(tree->n_gone, N);
        ck_assert_uint_eq(dmeventd->n_asked, N);
        ck_assert_uint_eq(kernel.n_monitored_removals, 0);
}
END_TEST

/* One that is left is monitored again. */
START_TEST(one_is_left)
{
        _cleanup_tree_ struct tree *tree = make_lvs(N);
        _cleanup_teardown_ struct teardown teardown = {};

        kernel.n_busy[2] = UINT32_MAX;
        ck_assert_int_eq(take_down(tree, &teardown), 1);
        ck_assert_uint_eq(tree->n_gone, N - 1);
        ck_assert_uint_eq(kernel.n_monitored_removals, 0);
        ck_assert(dmeventd->monitors[2] && !dmeventd->monitors[1]);
}
END_TEST

/* dmeventd is asked for the others all the same. */
START_TEST(one_is_removed_meanwhile)
{
        _cleanup_tree_ struct tree *tree = make_lvs(N);
        _cleanup_teardown_ struct teardown teardown = {};

        dmeventd->is_gone[0] = true;
        ck_assert_int_eq(take_down(tree, &teardown), 0);
        ck_assert(teardown.unmonitor.asks);
        ck_assert_uint_eq(dmeventd->n_asked, N);
        ck_assert_uint_eq(kernel.n_monitored_removals, 0);
}
END_TEST

/* Then it monitors nothing. */
START_TEST(dmeventd_ends)
{
        _cleanup_tree_ struct tree *tree = make_lvs(N);
        _cleanup_teardown_ struct teardown teardown = {};

        dmeventd->ends = true;
        ck_assert_int_eq(take_down(tree, &teardown), 0);
        ck_assert(teardown.unmonitor.asks);
}
END_TEST

/* It cannot have LVs monitored again, but there are none: that is success. */
START_TEST(unresponsive_and_nothing_is_left)
{
        _cleanup_tree_ struct tree *tree = make_lvs(N);
        _cleanup_teardown_ struct teardown teardown = {};

        dmeventd->is_broken = true;
        ck_assert_int_eq(take_down(tree, &teardown), 0);
        ck_assert(!teardown.unmonitor.asks);
        ck_assert_uint_eq(tree->n_gone, N);
        ck_assert_uint_eq(dmeventd->n_asked, 1);
}
END_TEST

START_TEST(unresponsive_and_one_is_left)
{
        _cleanup_tree_ struct tree *tree = make_lvs(N);
        _cleanup_teardown_ struct teardown teardown = {};

        dmeventd->is_broken = true;
        kernel.n_busy[2] = UINT32_MAX;
        ck_assert_int_eq(take_down(tree, &teardown), 1);
        ck_assert_int_eq(unmonitor_end(&teardown), -EIO);
}
END_TEST

/* What is on the LV is in use for a moment, so that the time for devices in use has begun; it has passed when dmeventd
 * answers. */
START_TEST(time_in_use_begins_with_the_answer)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_teardown_ struct teardown teardown = {};

        shape_dm(1, "opened", "CRYPT-LUKS2-0-opened", "crypt");
        shape_hold("dm-0", "dm-1");
        tree = make_lvs(1);
        dmeventd->answers_after_usec = 600 * USEC_PER_MSEC;
        kernel.n_busy[0] = 6;
        kernel.n_busy[1] = 4;
        ck_assert_int_eq(take_down(tree, &teardown), 0);
        ck_assert_uint_eq(kernel.n_busy[0], 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("unmonitor");
        TCase *tcase = tcase_create("unmonitor");

        own_namespace_enter(CLONE_NEWNS);
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
                mount("headgate-test", "/run", "tmpfs", 0, NULL) < 0)
                err(EXIT_FAILURE, "Failed to make a /run");
        dmeventd = mmap(NULL, sizeof(*dmeventd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (dmeventd == MAP_FAILED)
                err(EXIT_FAILURE, "Failed to share memory");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, all_are_removed);
        tcase_add_test(tcase, one_is_left);
        tcase_add_test(tcase, one_is_removed_meanwhile);
        tcase_add_test(tcase, dmeventd_ends);
        tcase_add_test(tcase, unresponsive_and_nothing_is_left);
        tcase_add_test(tcase, unresponsive_and_one_is_left);
        tcase_add_test(tcase, time_in_use_begins_with_the_answer);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
