/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who takes down what, when: the executor on captured trees and on shapes made here, with a kernel of the test's own
 * that keeps the real one's rule: what something holds is busy. That the real one does what this one does is for the
 * guests to show. */

#include "teardown/teardown.h"

#include <pthread.h>

#include "fixture.h"
#include "shapes.h"
#include "teardown/kernel.h"
#include "teardown/systemd.h"
#include "teardown/users.h"
#include "tree/order.h"

#define UUIDS "0123456789012345678901234567890101234567890123456789012345678901"

/* A removal takes that long, so that several are under way at once. */
#define REMOVAL_USEC 3000
#define DEADLINE_USEC USEC_PER_SEC

static struct {
        pthread_mutex_t mutex;
        pthread_cond_t freed;
        struct tree *tree;
        bool gone[1024]; /* by tree_node.index */
        size_t n_at_once, n_at_once_max;
        size_t n_early;                    /* removals of what something still held */
        const char *busy_name;             /* this node has been opened by somebody */
        unsigned int n_busy_tries;         /* so often */
        const char *opened_name;           /* somebody has this one open once */
        const char *hanging_name;          /* the removal of this one does not come back */
        const char *broken_name;           /* and this one fails */
        const struct removal *left_behind; /* that of `hanging_name`, which nobody frees */
        bool freeing;
} kernel = {.mutex = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

static bool is_called(const struct tree_node *node, const char *name)
{
        return name && streq(node->name, name);
}

/* With the lock held. */
static bool is_held(const struct tree_node *node)
{
        for (size_t i = 0; i < node->uppers.n; i++)
                if (!kernel.gone[node->uppers.nodes[i]->index])
                        return true;
        return false;
}

/* With the lock held. */
static int attempt(const struct tree_node *node)
{
        if (is_called(node, kernel.hanging_name))
                while (!kernel.freeing)
                        pthread_cond_wait(&kernel.freed, &kernel.mutex);
        if (is_called(node, kernel.broken_name))
                return -EIO;
        if (is_called(node, kernel.busy_name) && kernel.n_busy_tries > 0) {
                kernel.n_busy_tries--;
                return -EBUSY;
        }
        if (is_held(node)) {
                kernel.n_early++;
                return -EBUSY;
        }
        kernel.gone[node->index] = true;
        return 0;
}

static unsigned int count_opens(const struct tree_node *node)
{
        unsigned int n = is_called(node, kernel.opened_name);

        pthread_mutex_lock(&kernel.mutex);
        for (size_t i = 0; i < node->uppers.n; i++)
                n += !kernel.gone[node->uppers.nodes[i]->index] &&
                     !tree_is_snapshot_of(node, node->uppers.nodes[i]);
        pthread_mutex_unlock(&kernel.mutex);
        return n;
}

static int remove_node(const struct removal *removal)
{
        int r;

        pthread_mutex_lock(&kernel.mutex);
        kernel.n_at_once++;
        kernel.n_at_once_max = MAX(kernel.n_at_once_max, kernel.n_at_once);
        pthread_mutex_unlock(&kernel.mutex);
        usleep(REMOVAL_USEC);
        pthread_mutex_lock(&kernel.mutex);
        if (is_called(removal->node, kernel.hanging_name))
                kernel.left_behind = removal;
        r = attempt(removal->node);
        kernel.n_at_once--;
        pthread_mutex_unlock(&kernel.mutex);
        return r;
}

static void boot(struct tree *tree)
{
        kernel.tree = tree;
        memset(kernel.gone, 0, sizeof(kernel.gone));
        kernel.n_at_once = kernel.n_at_once_max = kernel.n_early = 0;
        kernel.busy_name = kernel.opened_name = kernel.hanging_name = kernel.broken_name = NULL;
        kernel.n_busy_tries = 0;
        kernel.freeing = false;
        ck_assert_uint_lt(tree->nodes.n, ELEMENTSOF(kernel.gone));
}

/* As systemd would. */
static void unmount_all(void)
{
        for (size_t i = 0; i < kernel.tree->nodes.n; i++) {
                struct tree_node *node = kernel.tree->nodes.nodes[i];

                if (node->kind == TREE_MOUNT || node->kind == TREE_SWAP || node->kind == TREE_PARTITION) {
                        kernel.gone[i] = true;
                        tree_node_gone(kernel.tree, node);
                }
        }
}

/* Takes it down. Returns how many of the nodes that are to go are left. */
static size_t take_down(size_t n_threads)
{
        _cleanup_teardown_ struct teardown teardown = {};
        const struct teardown_options options = {
                .n_threads = n_threads,
                .deadline_usec = DEADLINE_USEC,
                .in_use_usec = 300 * USEC_PER_MSEC,
                .remove = remove_node,
                .count_opens = count_opens,
        };
        int r;

        ck_assert_int_eq(teardown_init(&teardown, kernel.tree, &options), 0);
        r = teardown_run(&teardown);
        ck_assert_int_eq(r, kernel.tree->n_gone < kernel.tree->n_to_go);
        return kernel.tree->n_to_go - kernel.tree->n_gone;
}

/* LVs of a VG each on a disk of its own. */
static struct tree *make_lvs(unsigned int n)
{
        struct tree *tree;

        for (unsigned int i = 0; i < n; i++) {
                _cleanup_free_ char *disk = string_format("sd%c%c", 'a' + i / 26, 'a' + i % 26);
                _cleanup_free_ char *kernel_name = string_format("dm-%u", i);
                _cleanup_free_ char *name = string_format("vg%u-lv", i);
                _cleanup_free_ char *uuid = string_format("LVM-%032u%032u", i, i);

                shape_device(disk, 8, i);
                shape_dm(i, name, uuid, "linear");
                shape_hold(disk, kernel_name);
        }
        tree = shape_read();
        ck_assert_uint_eq(tree->n_components, n);
        boot(tree);
        return tree;
}

START_TEST(captured)
{
        static const char *const names[] = {"linear", "striped", "snapshot", "thin", "raid1", "mirror", "cache",
                "writecache", "luks_on_lv", "lv_on_luks", "md_on_lvs", "lvm_on_md", "multipath", "loop",
                "loop_partitions", "swap", "nested", "mounts", "debian", "names", "strange"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_tree_ struct tree *tree = shape_read_captured(names[i]);

                boot(tree);
                unmount_all();
                ck_assert_msg(take_down(TEARDOWN_THREADS_DEFAULT) == 0, "%s is not down", names[i]);
                ck_assert_msg(kernel.n_early == 0, "in %s a node went before its holders", names[i]);
        }
}
END_TEST

START_TEST(many_at_a_time)
{
        _cleanup_tree_ struct tree *tree = make_lvs(100);

        ck_assert_uint_eq(take_down(16), 0);
        ck_assert_uint_gt(kernel.n_at_once_max, 1);
        ck_assert_uint_le(kernel.n_at_once_max, 16);
}
END_TEST

START_TEST(one_at_a_time)
{
        _cleanup_tree_ struct tree *tree = make_lvs(20);

        ck_assert_uint_eq(take_down(1), 0);
        ck_assert_uint_eq(kernel.n_at_once_max, 1);
}
END_TEST

START_TEST(nothing)
{
        _cleanup_tree_ struct tree *tree = make_lvs(0);

        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), 0);
}
END_TEST

START_TEST(busy_for_a_moment)
{
        _cleanup_tree_ struct tree *tree = make_lvs(10);

        kernel.busy_name = "vg3-lv";
        kernel.n_busy_tries = 2;
        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), 0);
        ck_assert_uint_eq(kernel.n_busy_tries, 0);
}
END_TEST

/* At most a second is lost for it, and all others go. */
START_TEST(busy)
{
        _cleanup_tree_ struct tree *tree = make_lvs(10);
        uint64_t begin = now_usec();

        kernel.busy_name = "vg3-lv";
        kernel.n_busy_tries = UINT32_MAX;
        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), 1);
        ck_assert_int_eq(shape_node(tree, "vg3-lv")->state, TREE_FAILED);
        ck_assert_uint_lt(now_usec() - begin, USEC_PER_SEC);
        ck_assert_uint_ge(UINT32_MAX - kernel.n_busy_tries, 3);
}
END_TEST

static const struct {
        const char *shape, *opened_name;
        size_t n_left;
} used[] = {
        {"snapshot", "data-snap", 6},
        {"snapshot", "data-snap-cow", 6},
        {"luks_on_lv", "data-secret", 2},
        {"raid1", "data-twice_rmeta_1", 5},
        {"nested", "outer-pv", 2},
        {"thin", "data-pool-tpool", 7},
};

/* Nothing goes of what would go for nothing. */
START_TEST(used_below)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured(used[_i].shape);

        boot(tree);
        unmount_all();
        kernel.opened_name = used[_i].opened_name;
        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), used[_i].n_left);
        for (size_t i = 0; i < tree->nodes.n; i++)
                if (tree_node_is_ours(tree->nodes.nodes[i]) && used[_i].n_left == tree->n_to_go)
                        ck_assert(!kernel.gone[i]);
}
END_TEST

/* As an origin does not need what lies on its snapshots, it could go before that. */
START_TEST(used_on_snapshot)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "data-origin-real", "LVM-" UUIDS "-real", "linear");
        shape_dm(1, "data-origin", "LVM-" UUIDS, "snapshot-origin");
        shape_dm(2, "data-snap", "LVM-" UUIDS "0", "snapshot");
        shape_dm(3, "opened", "CRYPT-LUKS2-0-opened", "crypt");
        shape_hold("dm-0", "dm-1");
        shape_hold("dm-0", "dm-2");
        shape_hold("dm-2", "dm-3");
        tree = shape_read();
        boot(tree);
        kernel.busy_name = "opened";
        kernel.n_busy_tries = UINT32_MAX;
        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), 4);
        ck_assert(!kernel.gone[shape_node(tree, "data-origin")->index]);
}
END_TEST

START_TEST(foreign_processes)
{
        _cleanup_tree_ struct tree *tree = NULL;
        struct tree_node *lv;

        shape_device("drbd0", 147, 0);
        shape_dm(0, "vg0-lv", "LVM-" UUIDS, "linear");
        shape_dm(1, "opened", "CRYPT-LUKS2-0-opened", "crypt");
        shape_hold("dm-0", "dm-1");
        tree = shape_read();
        lv = shape_node(tree, "vg0-lv");
        tree_add_edge(tree, lv, shape_node(tree, "drbd0"));
        ck_assert(!tree_node_has_other_users(lv));
        /* DRBD has it open twice. */
        lv->n_opens = 3;
        ck_assert(!tree_node_has_other_users(lv));
        lv->n_opens = 4;
        ck_assert(tree_node_has_other_users(lv));
        lv->n_opens = 3;
        tree_schedule(tree);
        tree_node_gone(tree, shape_node(tree, "opened"));
        ck_assert(tree_node_has_other_users(lv));
        lv->n_opens = 2;
        ck_assert(!tree_node_has_other_users(lv));
}
END_TEST

/* Neither does what is below it go, but all else. */
START_TEST(broken)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured("raid1");

        boot(tree);
        unmount_all();
        kernel.broken_name = "data-twice";
        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), 5);
        ck_assert_int_eq(shape_node(tree, "data-twice")->state, TREE_FAILED);
        ck_assert_uint_eq(kernel.n_early, 0);
}
END_TEST

START_TEST(hanging)
{
        _cleanup_tree_ struct tree *tree = make_lvs(10);
        uint64_t begin = now_usec();

        kernel.hanging_name = "vg3-lv";
        ck_assert_uint_eq(take_down(2), 1);
        ck_assert_uint_ge(now_usec() - begin, DEADLINE_USEC);
        ck_assert_uint_lt(now_usec() - begin, DEADLINE_USEC * 4);
        ck_assert_int_eq(shape_node(tree, "vg3-lv")->state, TREE_FAILED);

        /* The tree goes away, and the thread still has what it needs. */
        pthread_mutex_lock(&kernel.mutex);
        kernel.freeing = true;
        kernel.gone[shape_node(tree, "vg3-lv")->index] = true;
        pthread_cond_broadcast(&kernel.freed);
        while (kernel.n_at_once > 0) {
                pthread_mutex_unlock(&kernel.mutex);
                usleep(1000);
                pthread_mutex_lock(&kernel.mutex);
        }
        pthread_mutex_unlock(&kernel.mutex);
}
END_TEST

/* What is mounted stays, and what is below it; nothing is waited for on a running machine. */
START_TEST(mounted)
{
        _cleanup_tree_ struct tree *tree = NULL;
        uint64_t begin = now_usec();

        shape_mount(1, 0, 8, 1, "/");
        shape_mount(2, 1, 253, 3, "/srv/a");
        tree = make_lvs(10);
        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), 1);
        ck_assert_int_eq(shape_node(tree, "vg3-lv")->state, TREE_HELD);
        ck_assert_uint_lt(now_usec() - begin, USEC_PER_SEC);
        ck_assert_uint_eq(kernel.n_early, 0);
}
END_TEST

/* Both are on a disk, and each on the other. */
START_TEST(circle)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("sdy", 65, 1);
        shape_dm(200, "a", "-", "linear");
        shape_dm(201, "b", "-", "linear");
        shape_hold("sdy", "dm-200");
        shape_hold("dm-200", "dm-201");
        shape_hold("dm-201", "dm-200");
        tree = shape_read();
        boot(tree);
        /* The kernel does not let go of either as long as the other is there, so both fail, one after another. */
        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), 2);
        ck_assert_uint_eq(kernel.n_at_once_max, 1);
        ck_assert_uint_ge(kernel.n_early, 2);
}
END_TEST

/* It was the tree that was wrong. */
START_TEST(circle_that_is_none)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(200, "a", "-", "linear");
        shape_dm(201, "b", "-", "linear");
        shape_dm(202, "c", "-", "linear");
        shape_hold("dm-200", "dm-201");
        shape_hold("dm-201", "dm-202");
        shape_hold("dm-202", "dm-200");
        tree = shape_read();
        boot(tree);
        kernel.gone[shape_node(tree, "b")->index] = true;
        ck_assert_uint_eq(take_down(TEARDOWN_THREADS_DEFAULT), 0);
        ck_assert_uint_eq(kernel.n_at_once_max, 1);
}
END_TEST

#define STALL_USEC (TEARDOWN_STALL_USEC + USEC_PER_SEC)

/* One device is to go. */
static const struct {
        bool failed;            /* it has failed */
        bool removing, asking;  /* it is in a thread, or waits for dmeventd */
        bool busy;              /* it is to be attempted again */
        bool mounted;           /* it is mounted */
        bool stopping, changed; /* systemd stops units; mounts have changed */
        uint64_t now;           /* since the last removal */
        enum wait_verdict verdict;
} decisions[] = {
        /* All is done, whatever else is known. */
        {.failed = true, .verdict = WAIT_END},
        {.failed = true, .removing = true, .now = STALL_USEC, .verdict = WAIT_END},
        {.failed = true, .mounted = true, .stopping = true, .verdict = WAIT_END},
        /* What is at work is waited for, but not for ever. */
        {.removing = true, .verdict = WAIT_PROGRESS},
        {.asking = true, .verdict = WAIT_PROGRESS},
        {.removing = true, .busy = true, .mounted = true, .verdict = WAIT_PROGRESS},
        {.removing = true, .now = STALL_USEC - 1, .verdict = WAIT_PROGRESS},
        {.removing = true, .now = STALL_USEC, .verdict = WAIT_GIVE_UP},
        {.busy = true, .stopping = true, .now = STALL_USEC, .verdict = WAIT_GIVE_UP},
        {.now = STALL_USEC, .verdict = WAIT_GIVE_UP},
        /* A process may close a device although systemd stops nothing. */
        {.busy = true, .verdict = WAIT_IN_USE},
        {.busy = true, .mounted = true, .verdict = WAIT_IN_USE},
        {.busy = true, .now = STALL_USEC - 1, .verdict = WAIT_IN_USE},
        {.busy = true, .stopping = true, .now = STALL_USEC - 1, .verdict = WAIT_RELEASE},
        {.busy = true, .changed = true, .verdict = WAIT_RELEASE},
        /* Nobody but systemd unmounts, and its last unmount may not have been read. */
        {.mounted = true, .stopping = true, .verdict = WAIT_RELEASE},
        {.mounted = true, .changed = true, .verdict = WAIT_RELEASE},
        {.mounted = true, .verdict = WAIT_END},
        /* Nothing is waited for that is below a node that stays. */
        {.stopping = true, .changed = true, .verdict = WAIT_END},
        {.verdict = WAIT_END},
};

START_TEST(decision)
{
        _cleanup_tree_ struct tree *tree = NULL;
        struct removal removal = {};
        struct storage_tree trees[2] = {{.members.n = 1}, {.members.n = 1}};
        struct teardown teardown = {.trees = trees,
                .options.in_use_usec = USEC_PER_SEC,
                .n_at_work = decisions[_i].removing,
                .stop_jobs.idle_since = !decisions[_i].stopping,
                .mounts_usec = decisions[_i].changed ? 1 : USEC_INFINITY};

        if (decisions[_i].mounted)
                shape_mount(20, 1, 253, 0, "/srv");
        shape_dm(0, "vg0-lv", "LVM-" UUIDS, "linear");
        teardown.tree = tree = shape_read();
        ck_assert_uint_le(tree->n_components, ELEMENTSOF(trees));
        tree->n_to_go = 1;
        tree->n_failed = decisions[_i].failed;
        dm_list_init(&teardown.busy);
        dm_list_init(&teardown.unmonitor.waiting);
        if (decisions[_i].busy)
                dm_list_add(&teardown.busy, &removal.list);
        else if (decisions[_i].asking)
                dm_list_add(&teardown.unmonitor.waiting, &removal.list);
        ck_assert_int_eq(wait_decide(&teardown, decisions[_i].now), decisions[_i].verdict);
}
END_TEST

START_TEST(jobs_of_systemd)
{
        ck_assert_int_eq(stop_jobs_listed("12 srv-a.mount stop running\n"), STOP_JOBS_RUN);
        ck_assert_int_eq(
                stop_jobs_listed("1 shutdown.target start waiting\n2 x.service stop running\n"), STOP_JOBS_RUN);
        ck_assert_int_eq(stop_jobs_listed(""), STOP_JOBS_NONE);
        ck_assert_int_eq(
                stop_jobs_listed("1 shutdown.target start waiting\n3 headgate-teardown.service stop running\n"
                                 "4 headgate-teardown-net.service stop running\n"),
                STOP_JOBS_NONE);
        ck_assert_int_eq(
                stop_jobs_listed("1 shutdown.target start waiting\n2 systemd-udevd.service stop waiting\n"),
                STOP_JOBS_READY);
        ck_assert_int_eq(stop_jobs_listed("4 plymouth-poweroff.service start running\n"), STOP_JOBS_NONE);
        ck_assert_int_eq(stop_jobs_listed("No jobs running.\n\n \n"), STOP_JOBS_NONE);
}
END_TEST

/* What systemd 252 and 261 print with --before, by locale. */
#define WAITS "└─ \twaiting for job 812 (headgate-teardown.service/stop) -    -\n"
#define WAITS_ASCII "`- \twaiting for job 812 (headgate-teardown.service/stop) -    -\n"

START_TEST(jobs_that_wait)
{
        ck_assert_int_eq(stop_jobs_listed("12 a.mount stop waiting\n"), STOP_JOBS_READY);
        ck_assert_int_eq(stop_jobs_listed(" 9 b.mount stop waiting\n" WAITS "12 a.mount stop waiting\n"
                                          " 3 x.service stop waiting\n" WAITS),
                STOP_JOBS_READY);
        ck_assert_int_eq(stop_jobs_listed(" 9 b.mount stop waiting\n" WAITS WAITS "12 a.mount stop running\n"),
                STOP_JOBS_RUN);
        ck_assert_int_eq(
                stop_jobs_listed(" 9 b.mount stop waiting\n" WAITS WAITS "12 a.mount stop waiting\n" WAITS_ASCII),
                STOP_JOBS_NONE);
        ck_assert_int_eq(
                stop_jobs_listed(
                        "812 headgate-teardown.service stop running\n1 umount.target start waiting\n" WAITS),
                STOP_JOBS_NONE);
}
END_TEST

/* What kernel 6.1 says of maps with two paths. */
START_TEST(paths)
{
        ck_assert(!multipath_status_is_dead("2 0 0 0 1 1 A 0 2 0 8:16 A 0 8:32 A 0"));
        ck_assert(!multipath_status_is_dead("2 0 0 0 2 1 E 0 1 1 8:16 F 1 1 A 0 1 1 8:32 A 0 1"));
        ck_assert(multipath_status_is_dead("2 1 0 0 2 1 A 0 1 1 8:16 F 1 1 E 0 1 1 8:32 F 1 1"));
        ck_assert(multipath_status_is_dead("2 1 0 0 0 0"));
}
END_TEST

START_TEST(holders_and_commands)
{
        static const struct usage_query nobody = {}, with_commands = {.commands = true};
        _cleanup_free_ char *short_text = NULL, *lv = NULL, *swapped = NULL;
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "vg0-lv", "LVM-" UUIDS, "linear");
        shape_dm(1, "opened", "CRYPT-LUKS2-0-opened", "crypt");
        shape_dm(2, "vg0-swap", "LVM-" UUIDS "0", "linear");
        shape_device("loop3", 7, 3);
        shape_write("sys/devices/block/loop3/loop/backing_file", "/srv/a/img\n");
        shape_hold("loop3", "dm-1");
        shape_mount(20, 1, 8, 0, "/");
        shape_mount(21, 20, 253, 0, "/srv/a");
        shape_mount(22, 21, 253, 0, "/srv/a/b");
        shape_mount(23, 20, 253, 1, "/mnt/my\\040disk");
        shape_write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/dm-2\tpartition\t8\t0\t-2\n");
        tree = shape_read();

        short_text = node_describe_holders(shape_node(tree, "vg0-lv"), &nobody);
        ck_assert_str_eq(short_text, "mounted at /srv/a, mounted at /srv/a/b");
        lv = node_describe_holders(shape_node(tree, "vg0-lv"), &with_commands);
        ck_assert_str_eq(lv,
                "mounted at /srv/a/b (umount /srv/a/b), mounted at /mnt/my disk (umount '/mnt/my disk'), "
                "encrypted device opened (cryptsetup close opened), "
                "loop device /dev/loop3 of /srv/a/img (losetup -d /dev/loop3), mounted at /srv/a (umount /srv/a)");
        swapped = node_describe_holders(shape_node(tree, "vg0-swap"), &with_commands);
        ck_assert_str_eq(swapped, "swap on /dev/dm-2 (swapoff /dev/dm-2)");
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("teardown");
        TCase *tcase = tcase_create("teardown");

        tcase_add_checked_fixture(tcase, shape_set_up, shape_tear_down);
        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, captured);
        tcase_add_test(tcase, many_at_a_time);
        tcase_add_test(tcase, one_at_a_time);
        tcase_add_test(tcase, nothing);
        tcase_add_test(tcase, busy_for_a_moment);
        tcase_add_test(tcase, busy);
        tcase_add_loop_test(tcase, used_below, 0, ELEMENTSOF(used));
        tcase_add_test(tcase, used_on_snapshot);
        tcase_add_test(tcase, foreign_processes);
        tcase_add_test(tcase, broken);
        tcase_add_test(tcase, hanging);
        tcase_add_test(tcase, mounted);
        tcase_add_test(tcase, circle);
        tcase_add_test(tcase, circle_that_is_none);
        tcase_add_loop_test(tcase, decision, 0, ELEMENTSOF(decisions));
        tcase_add_test(tcase, jobs_of_systemd);
        tcase_add_test(tcase, jobs_that_wait);
        tcase_add_test(tcase, paths);
        tcase_add_test(tcase, holders_and_commands);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
