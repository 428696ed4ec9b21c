/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who uses a device or a mount: processes of the test's own that hold something each. */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "fixture.h"
#include "shared/util.h"
#include "teardown/users.h"

/* Of a range for local use (the kernel's Documentation/admin-guide/devices.txt): no driver has it. */
#define STRANGE_NUMBER makedev(240, 4711)

#define N_CHILDREN_MAX 8

static pid_t children[N_CHILDREN_MAX];
static size_t n_children;
static char device_directory[] = "/dev/shm/headgate-test-XXXXXX";

static void set_up(void)
{
        /* On another file system than the devices, which are in /dev/shm. */
        ck_assert_int_eq(unsetenv("TMPDIR"), 0);
        run_directory_set_up();
        n_children = 0;
}

static void tear_down(void)
{
        for (size_t i = 0; i < n_children; i++) {
                kill(children[i], SIGKILL);
                ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
        }
        run_directory_tear_down();
}

/* Some of what a user can do to a device or a mount takes root's rights. */
static bool is_root(const char *what)
{
        if (geteuid() == 0)
                return true;
        printf("Not root: %s is not tested.\n", what);
        return false;
}

static char *path_in_run(const char *name)
{
        char *path = string_format("%s/%s", run_directory(), name);

        ck_assert_ptr_nonnull(path);
        return path;
}

/* Starts a process that gets hold of something, and keeps it until the end of the test. Returns when it has it, or
 * when it says that it may not: then false. */
static bool start(bool (*hold)(void))
{
        int ready[2];
        char held;
        pid_t pid;

        ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                close(ready[0]);
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                held = hold();
                /* It is in the directory that most tests are about. */
                close(run_fd);
                (void) !write(ready[1], &held, 1);
                for (;;)
                        pause();
        }
        ck_assert_uint_lt(n_children, N_CHILDREN_MAX);
        children[n_children++] = pid;
        close(ready[1]);
        ck_assert_int_eq(read(ready[0], &held, 1), 1);
        close(ready[0]);
        return held;
}

static void find_users_of(struct usage_query *query)
{
        ck_assert_int_eq(users_find(query, 1), 0);
}

static void is_used_by_program(
        const struct usage_query *query, size_t i, pid_t pid, const char *command, const char *how)
{
        _cleanup_free_ char *expected = string_format("process %d (%s) %s", pid, command, how);

        ck_assert_uint_gt(query->users.n, i);
        ck_assert_str_eq(query->users.strings[i], expected);
}

static void is_used_by(const struct usage_query *query, size_t i, pid_t pid, const char *how)
{
        is_used_by_program(query, i, pid, "test-users", how);
}

/* ------ users of a mount point, by the names of what they hold ------ */

static bool work_there(void)
{
        return fchdir(run_fd) == 0 && chdir("pending.d") == 0;
}

static bool open_a_file(void)
{
        return openat(run_fd, "a\nb", O_RDWR | O_CREAT, 0600) >= 0;
}

static bool open_a_deleted_file(void)
{
        return openat(run_fd, "gone", O_RDWR | O_CREAT, 0600) >= 0 && unlinkat(run_fd, "gone", 0) == 0;
}

static bool move_root_there(void)
{
        return chroot(run_directory()) == 0;
}

static bool open_something_beside(void)
{
        _cleanup_free_ char *path = string_format("%sx", run_directory());
        int fd = open(path, O_RDWR | O_CREAT, 0600);

        return fd >= 0 && unlink(path) == 0;
}

static bool hold_nothing(void)
{
        return true;
}

START_TEST(by_name)
{
        static const struct {
                bool (*hold)(void);
                const char *how;
        } ways[] = {
                {work_there, "has its working directory at %s/pending.d"},
                {open_a_file, "has %s/a\\x0ab open"},
                {open_a_deleted_file, "has %s/gone (deleted) open"},
                {open_something_beside, NULL},
                {hold_nothing, NULL},
        };
        struct usage_query query = {.mount_point = run_directory()};
        size_t n = 0;

        for (size_t i = 0; i < ELEMENTSOF(ways); i++)
                ck_assert(start(ways[i].hold));
        find_users_of(&query);
        for (size_t i = 0; i < ELEMENTSOF(ways); i++) {
                const char *rest = ways[i].how ? strstr(ways[i].how, "%s") : NULL;
                _cleanup_free_ char *how = NULL;

                if (!rest)
                        continue;
                how = string_format(
                        "%.*s%s%s", (int) (rest - ways[i].how), ways[i].how, run_directory(), rest + strlen("%s"));
                is_used_by(&query, n++, children[i], how);
        }
        ck_assert_uint_eq(query.n_users, n);
        strv_done(&query.users);
}
END_TEST

START_TEST(by_root_directory)
{
        struct usage_query query = {.mount_point = run_directory()};
        _cleanup_free_ char *how = string_format("has its root directory at %s", run_directory());

        if (!is_root("a root directory"))
                return;
        ck_assert(start(move_root_there));
        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, 1);
        is_used_by(&query, 0, children[0], how);
        strv_done(&query.users);
}
END_TEST

/* ------ by what they run ------ */

static void copy_program(const char *from, const char *to)
{
        _cleanup_close_ int from_fd = open(from, O_RDONLY | O_CLOEXEC);
        _cleanup_close_ int to_fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
        ssize_t n;

        ck_assert_int_ge(from_fd, 0);
        ck_assert_int_ge(to_fd, 0);
        while ((n = copy_file_range(from_fd, NULL, to_fd, NULL, 1 << 20, 0)) > 0)
                ;
        ck_assert_int_eq(n, 0);
}

START_TEST(by_program)
{
        struct usage_query query = {.mount_point = run_directory()};
        _cleanup_free_ char *program = path_in_run("sleep\t"),
                            *how = string_format("runs %s/sleep\\x09", run_directory());
        int at_exec[2];
        char nothing;

        copy_program("/bin/sleep", program);
        ck_assert_int_eq(pipe2(at_exec, O_CLOEXEC), 0);
        children[n_children] = fork();
        if (children[n_children] == 0) {
                (void) execl(program, program, "1000", NULL);
                _exit(1);
        }
        n_children++;
        close(at_exec[1]);
        ck_assert_int_eq(read(at_exec[0], &nothing, 1), 0);
        close(at_exec[0]);

        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, 1);
        is_used_by_program(&query, 0, children[0], "sleep\\x09", how);
        strv_done(&query.users);
}
END_TEST

/* ------ users of a device ------ */

/* Below /dev/, but for a moment only. A node can be opened with O_PATH without any device behind it, which is
 * all that /proc shows. */
static bool open_node(mode_t type)
{
        _cleanup_free_ char *path = NULL;
        int fd;

        memset(device_directory + sizeof(device_directory) - 7, 'X', 6);
        if (!mkdtemp(device_directory))
                return false;
        path = string_format("%s/node", device_directory);
        fd = mknod(path, type | 0600, STRANGE_NUMBER) < 0 ? -1 : open(path, O_PATH);
        return unlink(path) == 0 && rmdir(device_directory) == 0 && fd >= 0;
}

static bool open_block_device(void)
{
        return open_node(S_IFBLK);
}

static bool open_character_device(void)
{
        return open_node(S_IFCHR);
}

static bool have_a_name_like_a_list(void)
{
        return prctl(PR_SET_NAME, "a) and 2\n") == 0 && open_block_device();
}

START_TEST(by_device)
{
        struct usage_query queries[] = {
                {.number = STRANGE_NUMBER},
                {.mount_point = "/nowhere"},
                {.number = makedev(240, 4712)},
                {.number = STRANGE_NUMBER, .mount_point = "/nowhere"},
        };
        _cleanup_free_ char *expected = NULL, *text = NULL;

        if (!is_root("an open device"))
                return;
        ck_assert(start(open_block_device));
        ck_assert(start(open_character_device));
        ck_assert(start(have_a_name_like_a_list));
        ck_assert_int_eq(users_find(queries, ELEMENTSOF(queries)), 0);
        ck_assert_uint_eq(queries[0].n_users, 2);
        ck_assert_uint_eq(queries[1].n_users, 0);
        ck_assert_uint_eq(queries[2].n_users, 0);
        ck_assert_uint_eq(queries[3].n_users, 2);
        is_used_by(&queries[0], 0, children[0], "has it open");

        expected = string_format("process %d (test-users) has it open and process %d (a) and 2\\x0a) has it open",
                children[0], children[2]);
        text = users_describe(&queries[0]);
        ck_assert_str_eq(text, expected);
        for (size_t i = 0; i < ELEMENTSOF(queries); i++)
                strv_done(&queries[i].users);
}
END_TEST

/* ------ other mount namespaces ------ */

/* A tmpfs has a device number, too, and that is all that counts. */
static bool mount_at(const char *name)
{
        _cleanup_free_ char *path = path_in_run(name);

        return mount("headgate-test", path, "tmpfs", 0, NULL) == 0;
}

static bool leave_with(unsigned long propagation)
{
        return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | propagation, NULL) == 0;
}

static bool mount_elsewhere(void)
{
        return leave_with(MS_PRIVATE) && mount_at("pending.d");
}

static dev_t number_of_mount(pid_t pid, const char *name)
{
        _cleanup_free_ char *path = string_format("/proc/%d/root%s/%s", pid, run_directory(), name);
        struct stat status;

        ck_assert_int_eq(stat(path, &status), 0);
        return status.st_dev;
}

START_TEST(by_mount_elsewhere)
{
        struct usage_query query = {.commands = true};
        _cleanup_free_ char *how = NULL, *text = NULL;

        if (!is_root("another mount namespace"))
                return;
        ck_assert(start(mount_elsewhere));
        query.number = number_of_mount(children[0], "pending.d");
        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, 1);
        how = string_format("has it mounted at %s/pending.d in another mount namespace "
                            "(nsenter -t %d -m umount %s/pending.d)",
                run_directory(), children[0], run_directory());
        is_used_by(&query, 0, children[0], how);
        text = users_describe(&query);
        ck_assert_str_eq(text, query.users.strings[0]);
        strv_done(&query.users);
}
END_TEST

static bool mount_elsewhere_for_two(void)
{
        pid_t parent = getpid(), pid = mount_elsewhere() ? fork() : -1;

        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                /* Killed before it was to take this one along. */
                if (getppid() != parent)
                        _exit(0);
                for (;;)
                        pause();
        }
        return pid > 0;
}

START_TEST(once_for_a_namespace)
{
        _cleanup_free_ char *how =
                string_format("has it mounted at %s/pending.d in another mount namespace", run_directory());
        struct usage_query query = {};

        if (!is_root("a mount namespace of two"))
                return;
        ck_assert(start(mount_elsewhere_for_two));
        query.number = number_of_mount(children[0], "pending.d");
        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, 1);
        is_used_by(&query, 0, children[0], how);
        strv_done(&query.users);
}
END_TEST

/* What systemd does for a service with ProtectSystem= and the like. */
static bool follow(void)
{
        return leave_with(MS_SLAVE);
}

static bool stay_behind(void)
{
        return leave_with(MS_PRIVATE);
}

static bool follow_and_mount_again(void)
{
        _cleanup_free_ char *from = path_in_run("shared/a"), *to = path_in_run("pending.d");

        return leave_with(MS_SLAVE) && mount(from, to, NULL, MS_BIND, NULL) == 0;
}

START_TEST(not_what_goes_with_ours)
{
        _cleanup_free_ char *shared = path_in_run("shared"), *mount_point = path_in_run("shared/a");
        _cleanup_free_ char *own = string_format("has it mounted at %s in another mount namespace", mount_point);
        _cleanup_free_ char *again =
                string_format("has it mounted at %s/pending.d in another mount namespace", run_directory());
        struct usage_query query = {};

        if (!is_root("a mount namespace that follows another"))
                return;
        ck_assert(leave_with(MS_PRIVATE));
        ck_assert_int_eq(mkdir(shared, 0700), 0);
        ck_assert(mount_at("shared"));
        ck_assert_int_eq(mount(NULL, shared, NULL, MS_SHARED, NULL), 0);
        ck_assert_int_eq(mkdir(mount_point, 0700), 0);
        ck_assert(mount_at("shared/a"));
        ck_assert(start(follow));
        ck_assert(start(stay_behind));
        ck_assert(start(follow_and_mount_again));

        query.number = number_of_mount(getpid(), "shared/a");
        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, 2);
        is_used_by(&query, 0, children[1], own);
        is_used_by(&query, 1, children[2], again);
        strv_done(&query.users);

        ck_assert_int_eq(umount2(mount_point, 0), 0);
        query.n_users = 0;
        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, 2);
        strv_done(&query.users);
        ck_assert_int_eq(umount2(shared, 0), 0);
}
END_TEST

/* ------ what is no user, and very many ------ */

START_TEST(not_ourselves)
{
        _cleanup_close_ int fd = openat(run_fd, "ours", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        struct usage_query query = {.mount_point = run_directory()};
        _cleanup_free_ char *text = NULL;

        ck_assert_int_ge(fd, 0);
        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, 0);
        text = users_describe(&query);
        ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(nobody_who_has_ended)
{
        struct usage_query query = {.mount_point = run_directory()};
        siginfo_t info;

        children[n_children] = fork();
        if (children[n_children] == 0)
                _exit(work_there() ? 0 : 1);
        n_children++;
        ck_assert_int_eq(waitid(P_PID, (id_t) children[0], &info, WEXITED | WNOWAIT), 0);
        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, 0);
}
END_TEST

/* Each counts once, however many files it has open there. */
static bool open_two_files_there(void)
{
        return work_there() && open_a_file() && open_a_file();
}

START_TEST(more_than_are_named)
{
        struct usage_query query = {.mount_point = run_directory()};
        _cleanup_free_ char *expected = strdup(""), *text = NULL;

        for (size_t i = 0; i < N_CHILDREN_MAX; i++)
                ck_assert(start(open_two_files_there));
        find_users_of(&query);
        ck_assert_uint_eq(query.n_users, N_CHILDREN_MAX);
        for (size_t i = 0; i < USERS_KEPT_MAX; i++)
                ck_assert_int_eq(string_replace(&expected,
                                         string_format("%s%sprocess %d (test-users) has its working directory at "
                                                       "%s/pending.d",
                                                 expected, i > 0 ? ", " : "", children[i], run_directory())),
                        0);
        ck_assert_int_eq(string_replace(&expected, string_format("%s, and 3 more", expected)), 0);
        text = users_describe(&query);
        ck_assert_str_eq(text, expected);
        strv_done(&query.users);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("users");
        TCase *tcase = tcase_create("users");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, by_name);
        tcase_add_test(tcase, by_root_directory);
        tcase_add_test(tcase, by_program);
        tcase_add_test(tcase, by_device);
        tcase_add_test(tcase, by_mount_elsewhere);
        tcase_add_test(tcase, once_for_a_namespace);
        tcase_add_test(tcase, not_what_goes_with_ours);
        tcase_add_test(tcase, not_ourselves);
        tcase_add_test(tcase, nobody_who_has_ended);
        tcase_add_test(tcase, more_than_are_named);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
