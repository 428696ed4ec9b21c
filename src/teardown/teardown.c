/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The loop of a teardown. Events are ends of removals, changed mounts, and times. After each event, one step does all that can be
 * done, and returns when the next step is due. */

#include "teardown/teardown.h"

#include <fcntl.h>

#include "lvm/online.h"
#include "shared/log.h"
#include "shared/program.h"
#include "teardown/kernel.h"
#include "teardown/removal.h"
#include "teardown/report.h"
#include "teardown/systemd.h"
#include "teardown/unmonitor.h"
#include "tree/order.h"
#include "tree/read.h"

/* Minimum number of attempts after no process can release a node. */
#define FUTILE_MIN 2

/* After that long without a removal, teardown reports the nodes that it waits for. */
#define WAITING_USEC (10 * USEC_PER_SEC)

/* A journal line costs nearly as much processor time as a removal. So removed trees are reported when no removal runs, or none
 * has ended for that long. */
#define REPORT_PAUSE_USEC (100 * USEC_PER_MSEC)

/* With a thousand unmounts one after another, reading the table each time would cost more than everything else. So changes
 * shortly after another are read together, and reading takes at most a fifth of the time. With few mounts, the pause is short. */
#define MOUNTS_PAUSE_MIN_USEC (5 * USEC_PER_MSEC)
#define MOUNTS_PAUSE_FACTOR 4

static void note_progress(struct teardown *teardown, uint64_t now)
{
        teardown->progress_usec = now;
        teardown->waiting_reported = false;
        /* Further nodes may be released. On a running machine no process is about to. */
        teardown->stop_jobs.idle_since = teardown->options.at_shutdown ? 0 : now;
        teardown->stop_jobs.ask_order = false;
}

/* ------ mounts ------ */

static int read_mounts(struct teardown *teardown, uint64_t now)
{
        int r;

        teardown->mounts_usec = USEC_INFINITY;
        r = tree_read_mounts(teardown->tree);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                log_debug("Failed to read the mounts: %s", strerror(-r));
        if (r > 0)
                note_progress(teardown, now);
        /* The end of reading has a time of its own. */
        teardown->mounts_pause_usec = MAX(MOUNTS_PAUSE_MIN_USEC, (now_usec() - now) * MOUNTS_PAUSE_FACTOR);
        return 0;
}

static int on_mounts(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t events, void *userdata)
{
        struct teardown *teardown = userdata;

        teardown->mounts_usec = MIN(teardown->mounts_usec, now_usec() + teardown->mounts_pause_usec);
        return 0;
}

/* The kernel signals a change in /proc/self/mountinfo or /proc/swaps by POLLPRI (proc(5)). */
static int follow_mounts(struct teardown *teardown, const char *path, int *ret_fd)
{
        *ret_fd = open(path, O_RDONLY | O_CLOEXEC);
        if (*ret_fd < 0)
                return errno == ENOENT ? 0 : -errno; /* a kernel without swaps */
        return sd_event_add_io(teardown->event, NULL, *ret_fd, EPOLLPRI, on_mounts, teardown);
}

/* ------ giving up ------ */

static bool is_idle(const struct teardown *teardown)
{
        return teardown->n_at_work == 0 && dm_list_empty(&teardown->unmonitor.waiting);
}

enum wait_verdict wait_decide(const struct teardown *teardown, uint64_t now)
{
        const struct tree *tree = teardown->tree;
        bool in_use = !dm_list_empty(&teardown->busy);

        if (tree->n_gone + tree->n_failed == tree->n_to_go)
                return WAIT_END;
        if (teardown->progress_usec + teardown->options.in_use_usec + TEARDOWN_STALL_USEC <= now)
                return WAIT_GIVE_UP;
        if (!is_idle(teardown))
                return WAIT_PROGRESS;
        if (!in_use && !ANY(FOREACH_NODE(node, &tree->nodes), teardown_awaits(teardown, node)))
                return WAIT_END;
        /* The last unmounts may not have been read yet. */
        if (teardown->stop_jobs.idle_since == 0 || teardown->mounts_usec != USEC_INFINITY)
                return WAIT_RELEASE;
        return in_use ? WAIT_IN_USE : WAIT_END;
}

/* Whether no process has been able to release the node for as long as the options allow, and attempts since have failed. */
static bool is_futile(const struct teardown *teardown, const struct removal *removal, uint64_t now)
{
        return tree_node_is_held(removal->node) ||
               (removal->n_futile >= FUTILE_MIN &&
                       MAX(removal->ready_usec, teardown->stop_jobs.idle_since) + teardown->options.in_use_usec <=
                               now);
}

/* Fails nodes in use that no process can release. */
static void fail_in_use(struct teardown *teardown, uint64_t now)
{
        FOREACH_LISTED(struct removal, removal, &teardown->busy)
                if (is_futile(teardown, removal, now)) {
                        dm_list_del(&removal->list);
                        tree_node_failed(teardown->tree, removal->node);
                }
}

/* Makes maps without paths fail I/O, and reports the nodes that teardown waits for. */
static void report_long_wait(struct teardown *teardown, uint64_t now)
{
        uint64_t since = MAX(teardown->progress_usec, teardown->multipath_usec);

        /* On a running machine a path may appear again, and I/O must not be lost. */
        if (teardown->options.at_shutdown && since + teardown->options.deadline_usec <= now) {
                multipath_stop_queueing(teardown->tree);
                teardown->multipath_usec = now;
        }
        if (!teardown->waiting_reported && teardown->progress_usec + WAITING_USEC <= now) {
                report_waiting(teardown);
                teardown->waiting_reported = true;
        }
}

/* ------ the loop ------ */

/* Does all that can be done at `now`. Returns 1 if teardown is done, 0 if not, or a negative errno. */
static int step(struct teardown *teardown, uint64_t now)
{
        enum wait_verdict verdict;
        int r = teardown->mounts_usec <= now ? read_mounts(teardown, now) : 0;

        if (r < 0)
                return r;
        removals_finish(teardown);
        if (teardown->tree->n_gone > teardown->n_gone)
                note_progress(teardown, now);
        teardown->n_gone = teardown->tree->n_gone;
        removals_start(teardown, now);
        report_progress(teardown, now);
        if (teardown->n_at_work == 0 || teardown->progress_usec + REPORT_PAUSE_USEC <= now)
                report_trees_down(teardown);
        removals_check_deadlines(teardown, now);
        verdict = wait_decide(teardown, now);
        if (verdict == WAIT_GIVE_UP)
                log_warning("No progress for too long, giving up.");
        if (verdict >= WAIT_GIVE_UP)
                return 1;
        report_long_wait(teardown, now);
        if (verdict == WAIT_RELEASE && teardown->options.at_shutdown)
                r = systemd_ask(teardown, now);
        if (verdict == WAIT_IN_USE)
                fail_in_use(teardown, now);
        return r ?: wait_decide(teardown, now) >= WAIT_GIVE_UP;
}

/* When the next step is due without an event, after one at `now`. */
static uint64_t next_step_usec(const struct teardown *teardown, uint64_t now)
{
        uint64_t next = MIN(now + REMOVALS_CHECK_USEC, teardown->mounts_usec);

        FOREACH_LISTED(const struct removal, removal, &teardown->busy)
                if (!tree_node_is_held(removal->node))
                        next = MIN(next, removal->next_usec);
        next = MIN(next, teardown->unmonitor.deadline_usec);
        return is_idle(teardown) ? MIN(next, stop_job_watch_next_usec(&teardown->stop_jobs)) : next;
}

static int loop(struct teardown *teardown)
{
        while (!teardown->interrupted) {
                uint64_t now = now_usec();
                int r = step(teardown, now);

                if (r < 0)
                        return log_error_errno(r, "Failed to continue: %m");
                if (r > 0)
                        return 0;
                /* The step has taken some time, too. */
                r = sd_event_run(teardown->event, usec_between(now_usec(), next_step_usec(teardown, now)));
                /* One step handles all pending events. */
                while (r > 0 && !teardown->interrupted)
                        r = sd_event_run(teardown->event, 0);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int on_signal(
        _unused_ sd_event_source *source, _unused_ const struct signalfd_siginfo *info, void *userdata)
{
        struct teardown *teardown = userdata;

        log_notice("Interrupted.");
        teardown->interrupted = true;
        return 0;
}

/* ------ from the beginning to the end ------ */

static int add_sources(struct teardown *teardown)
{
        return signals_block()
                ?: sd_event_new(&teardown->event)
                ?: sd_event_add_signal(teardown->event, NULL, SIGTERM, on_signal, teardown)
                ?: sd_event_add_signal(teardown->event, NULL, SIGINT, on_signal, teardown)
                ?: follow_mounts(teardown, "/proc/self/mountinfo", &teardown->mounts_fd)
                ?: follow_mounts(teardown, "/proc/swaps", &teardown->swaps_fd);
}

static int add_trees(struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;

        teardown->trees = calloc(tree->n_components + 1, sizeof(*teardown->trees));
        if (!teardown->trees)
                return -ENOMEM;
        FOREACH_ARRAY(storage_tree, teardown->trees, tree->n_components)
                storage_tree->name = tree->names[storage_tree - teardown->trees];
        FOREACH_NODE(node, &tree->nodes) {
                struct storage_tree *storage_tree = &teardown->trees[node->component];

                if (tree_node_is_ours(node) && tree_nodes_add(&storage_tree->members, node) < 0)
                        return -ENOMEM;
                storage_tree->n_skipped += tree_kind_is_removable(node->kind) && node->skip_reason;
        }
        return 0;
}

int teardown_init(struct teardown *teardown, struct tree *tree, const struct teardown_options *options)
{
        *teardown = (struct teardown){
                .tree = tree,
                .options = *options,
                .mounts_fd = -EBADF,
                .swaps_fd = -EBADF,
                .unmonitor.fd = -EBADF,
                .started_usec = now_usec(),
                .mounts_pause_usec = MOUNTS_PAUSE_MIN_USEC,
        };
        note_progress(teardown, teardown->started_usec);
        dm_list_init(&teardown->down);
        tree_schedule(tree);
        teardown->n_gone = tree->n_gone;
        return add_trees(teardown) ?: add_sources(teardown) ?: unmonitor_init(teardown) ?: removals_init(teardown);
}

int teardown_run(struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        int r, k;

        report_cycles(tree);
        r = loop(teardown);
        report_end(teardown);
        k = unmonitor_end(teardown);
        return r < 0 ? r : tree->n_gone < tree->n_to_go || k < 0;
}

void teardown_done(struct teardown *teardown)
{
        if (!teardown->tree)
                return;
        job_free(teardown->stop_jobs.job);
        sd_event_unref(teardown->event);
        closep(&teardown->unmonitor.fd);
        closep(&teardown->mounts_fd);
        closep(&teardown->swaps_fd);
        removals_done(teardown);
        FOREACH_ARRAY(tree, teardown->trees, teardown->trees ? teardown->tree->n_components : 0)
                tree_nodes_done(&tree->members);
        free(teardown->trees);
}

void teardown_withdraw_claims(const struct tree *tree, bool (*concerned)(const struct tree_node *node))
{
        _cleanup_close_ int lvm_run_fd = online_open_to_look();
        const char *last = "";

        FOREACH_NODE(node, &tree->nodes) {
                int r;

                if (lvm_run_fd < 0 || !node->vg || !concerned(node) || streq(node->vg, last))
                        continue;
                r = online_unclaim(lvm_run_fd, node->vg);
                if (r < 0)
                        log_warning("Failed to tell lvm2 that VG %s is not active: %s", node->vg, strerror(-r));
                last = node->vg;
        }
}
