/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/teardown.h"

#include "shared/log.h"
#include "shared/program.h"
#include "teardown/multipath.h"
#include "teardown/removals.h"
#include "teardown/report.h"
#include "tree/mounts.h"
#include "tree/order.h"
#include "tree/schedule.h"

/* When a node is given up that something has open, and nobody is left who could let go of it: for a process of
 * udev that only looks at it that is long enough, and at most a second is lost. */
#define IN_VAIN_MIN 2
#define IN_VAIN_USEC (300 * USEC_PER_MSEC)

/* After that long without anything going, it is said what is waited for. */
#define WAITING_USEC (10 * USEC_PER_SEC)

static int ask_step(struct teardown *teardown)
{
        return sd_event_source_set_enabled(teardown->step_source, SD_EVENT_ONESHOT);
}

/* ------ giving up ------ */

static bool is_idle(const struct teardown *teardown)
{
        return dm_list_empty(&teardown->working) && !unmonitor_is_busy(&teardown->unmonitor);
}

static bool is_awaited(const struct tree_node *node, const void *userdata)
{
        return teardown_awaits(userdata, node);
}

static bool awaits_others(const struct teardown *teardown)
{
        FOREACH_NODE(node, &teardown->tree->nodes)
                if (teardown_awaits(teardown, node))
                        return true;
        return false;
}

static bool is_in_vain(const struct teardown *teardown, const struct removal *removal, uint64_t now)
{
        return removal->n_in_vain >= IN_VAIN_MIN &&
               MAX(removal->ready_usec, teardown->nobody_usec) + IN_VAIN_USEC <= now;
}

static void give_up_busy(struct teardown *teardown, uint64_t now)
{
        struct removal *removal, *next;

        dm_list_iterate_items_safe(removal, next, &teardown->busy)
                if (is_in_vain(teardown, removal, now) || !removal_is_possible(removal)) {
                        dm_list_del(&removal->list);
                        tree_node_failed(teardown->tree, removal->node);
                }
}

/* With nothing to do but to wait: whether that makes sense. Returns 1 if not, 0, or a negative errno. */
static int wait_or_give_up(struct teardown *teardown, uint64_t now)
{
        int r;

        if (dm_list_empty(&teardown->busy) && !awaits_others(teardown))
                return 1;
        if (teardown->options.at_shutdown) {
                r = unmount_retry_ask(&teardown->unmount_retry, teardown->event, teardown->tree);
                if (r > 0)
                        stop_job_watch_renew(&teardown->stop_jobs);
                if (r != 0)
                        return MIN(r, 0);
                r = stop_job_watch_ask(&teardown->stop_jobs, teardown->event);
                if (r < 0)
                        return r;
        }
        if (teardown->stop_jobs.answer != STOP_JOBS_NONE) {
                teardown->nobody_usec = 0;
                return 0;
        }
        if (teardown->nobody_usec == 0)
                teardown->nobody_usec = now;
        give_up_busy(teardown, now);
        return dm_list_empty(&teardown->busy) && dm_list_empty(&teardown->tree->ready);
}

static void care_for_those_who_wait(struct teardown *teardown, uint64_t now)
{
        uint64_t since = MAX(teardown->progress_usec, teardown->multipath_usec);

        /* On a machine that goes on running a path may come back, and I/O must not be lost. */
        if (teardown->options.at_shutdown && since + teardown->options.deadline_usec <= now) {
                (void) multipath_stop_queueing(teardown->tree);
                teardown->multipath_usec = now;
        }
        if (!teardown->waiting_reported && teardown->progress_usec + WAITING_USEC <= now) {
                report_waiting(teardown);
                teardown->waiting_reported = true;
        }
}

/* ------ the loop ------ */

static int set_timer(struct teardown *teardown)
{
        uint64_t next = now_usec() + REMOVALS_CHECK_USEC;
        const struct removal *removal;

        dm_list_iterate_items(removal, &teardown->busy)
                if (removal_is_possible(removal))
                        next = MIN(next, removal->next_usec);
        next = MIN(next, unmonitor_next_usec(&teardown->unmonitor));
        if (is_idle(teardown))
                next = MIN(next, stop_job_watch_next_usec(&teardown->stop_jobs));
        sd_event_source_set_time(teardown->timer_source, next);
        return sd_event_source_set_enabled(teardown->timer_source, SD_EVENT_ONESHOT);
}

static void report_down(struct teardown *teardown)
{
        while (!dm_list_empty(&teardown->down)) {
                struct storage_tree *tree =
                        dm_list_struct_base(dm_list_first(&teardown->down), struct storage_tree, list);

                dm_list_del(&tree->list);
                report_tree_down(teardown, (size_t) (tree - teardown->trees));
        }
}

static void take_done(struct teardown *teardown)
{
        for (struct pool_job *job; (job = pool_take_done(teardown->pool));)
                removals_finish(teardown, (struct removal_job *) job);
}

/* Does all that can be done now. Returns 1 if that was all, 0 if there is more to come, or a negative errno. */
static int step(struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        uint64_t now;
        int r;

        take_done(teardown);
        r = removals_start(teardown);
        if (r >= 0)
                r = unmonitor_step(&teardown->unmonitor);
        if (r >= 0)
                r = removals_resume(teardown);
        if (r < 0)
                return r;
        report_down(teardown);
        report_progress(teardown);

        now = now_usec();
        removals_check_deadlines(teardown, now);
        if (tree->n_gone + tree->n_failed == tree->n_to_go)
                return 1;
        if (teardown->progress_usec + teardown->options.stall_usec <= now) {
                log_warning("Nothing has happened for too long, giving up.");
                return 1;
        }
        care_for_those_who_wait(teardown, now);
        return is_idle(teardown) ? wait_or_give_up(teardown, now) : 0;
}

static int on_step(_unused_ sd_event_source *source, void *userdata)
{
        struct teardown *teardown = userdata;
        int r;

        r = step(teardown);
        if (r < 0)
                return log_error_errno(r, "Failed to go on: %m");
        return r > 0 ? sd_event_exit(teardown->event, 0) : set_timer(teardown);
}

static int on_time(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
        return ask_step(userdata);
}

static int on_done(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t events, void *userdata)
{
        struct teardown *teardown = userdata;

        take_done(teardown);
        return ask_step(teardown);
}

static int on_asked(void *userdata)
{
        return ask_step(userdata);
}

/* What comes later belongs to the storage tree that it lies on. */
static void place(const struct tree_nodes *came)
{
        FOREACH_NODE(node, came)
                if (node->lowers.n > 0)
                        node->component = node->lowers.nodes[0]->component;
}

static int on_mounts(void *userdata)
{
        _cleanup_tree_nodes_ struct tree_nodes went = {}, came = {};
        struct teardown *teardown = userdata;
        int r;

        r = tree_read_mounts(teardown->tree, teardown->root_fd, &went, &came);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                log_debug("Failed to read what is mounted: %s", strerror(-r));
        place(&came);
        if (went.n > 0)
                teardown_note_progress(teardown);
        return ask_step(teardown);
}

static int on_signal(
        _unused_ sd_event_source *source, _unused_ const struct signalfd_siginfo *info, void *userdata)
{
        struct teardown *teardown = userdata;

        log_notice("Interrupted.");
        return sd_event_exit(teardown->event, 0);
}

/* ------ from the beginning to the end ------ */

static int add_sources(struct teardown *teardown)
{
        int r;

        r = signals_block();
        if (r >= 0)
                r = sd_event_new(&teardown->event);
        if (r >= 0)
                r = sd_event_add_signal(teardown->event, NULL, SIGTERM, on_signal, teardown);
        if (r >= 0)
                r = sd_event_add_signal(teardown->event, NULL, SIGINT, on_signal, teardown);
        if (r >= 0)
                r = sd_event_add_time(teardown->event, &teardown->timer_source, CLOCK_MONOTONIC, USEC_INFINITY, 1,
                        on_time, teardown);
        if (r >= 0)
                r = sd_event_add_io(teardown->event, &teardown->done_source, pool_get_fd(teardown->pool), EPOLLIN,
                        on_done, teardown);
        if (r >= 0)
                r = sd_event_add_defer(teardown->event, &teardown->step_source, on_step, teardown);
        if (r >= 0)
                /* All that has happened at one time is seen by one step. */
                r = sd_event_source_set_priority(teardown->step_source, SD_EVENT_PRIORITY_IDLE);
        if (r < 0)
                return r;

        sd_event_source *const sources[] = {teardown->timer_source, teardown->done_source, teardown->step_source};
        for (size_t i = 0; i < ELEMENTSOF(sources); i++)
                (void) sd_event_source_set_exit_on_failure(sources[i], true);
        return 0;
}

static int add_trees(struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        int r;

        teardown->trees = calloc(tree->n_components + 1, sizeof(*teardown->trees));
        teardown->removals = calloc(tree->nodes.n + 1, sizeof(*teardown->removals));
        if (!teardown->trees || !teardown->removals)
                return -ENOMEM;
        teardown->n_removals = tree->nodes.n;
        for (size_t i = 0; i < tree->n_components; i++)
                teardown->trees[i].name = tree->names[i];
        FOREACH_NODE(node, &tree->nodes) {
                struct storage_tree *storage_tree = &teardown->trees[node->component];

                teardown->removals[node->index].node = node;
                r = tree_node_is_ours(node) ? tree_nodes_add(&storage_tree->members, node) : 0;
                if (r < 0)
                        return r;
                storage_tree->n_skipped += tree_kind_is_removable(node->kind) && node->skip_reason;
        }
        return 0;
}

int teardown_init(
        struct teardown *teardown, struct tree *tree, int root_fd, const struct teardown_options *options)
{
        size_t n_threads = options->n_threads;
        int r;

        *teardown = (struct teardown){
                .tree = tree,
                .root_fd = root_fd,
                .options = *options,
                .started_usec = now_usec(),
                .progress_usec = now_usec(),
        };
        dm_list_init(&teardown->working);
        dm_list_init(&teardown->busy);
        dm_list_init(&teardown->down);

        tree_schedule(tree);
        if (tree->n_to_go < TEARDOWN_PARALLEL_MIN)
                n_threads = 1;
        r = pool_new(n_threads, &teardown->pool);
        if (r >= 0)
                r = add_trees(teardown);
        if (r >= 0)
                r = add_sources(teardown);
        if (r >= 0)
                r = unmonitor_init(&teardown->unmonitor, teardown->event, on_asked, teardown);
        if (r >= 0)
                r = follow_new(teardown->event, on_mounts, teardown, &teardown->follow);
        if (r < 0)
                return r;

        teardown->unmount_retry =
                (struct unmount_retry){.is_awaited = is_awaited, .on_asked = on_asked, .userdata = teardown};
        teardown->unmonitor.vgs_are_locked = options->vgs_are_locked;
        if (options->at_shutdown) {
                teardown->stop_jobs.on_answer = on_asked;
                teardown->stop_jobs.userdata = teardown;
        } else {
                teardown->stop_jobs.answer = STOP_JOBS_NONE;
        }
        return 0;
}

int teardown_run(struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        int r;

        report_circles(tree);
        /* What has changed since the tree was read, and before it was followed. */
        r = on_mounts(teardown);
        if (r >= 0)
                r = sd_event_loop(teardown->event);
        report_down(teardown);
        report_end(teardown);
        if (r < 0)
                return r;
        if (!teardown->options.at_shutdown) {
                r = unmonitor_undo(&teardown->unmonitor, tree);
                if (r < 0)
                        log_warning("Failed to have what is left monitored again: %s", strerror(-r));
        }
        return tree->n_gone < tree->n_to_go;
}

void teardown_done(struct teardown *teardown)
{
        pool_free(teardown->pool);
        follow_free(teardown->follow);
        stop_job_watch_done(&teardown->stop_jobs);
        unmount_retry_done(&teardown->unmount_retry);
        unmonitor_done(&teardown->unmonitor);
        sd_event_source_disable_unref(teardown->timer_source);
        sd_event_source_disable_unref(teardown->done_source);
        sd_event_source_disable_unref(teardown->step_source);
        sd_event_unref(teardown->event);
        for (size_t i = 0; teardown->trees && i < teardown->tree->n_components; i++)
                tree_nodes_done(&teardown->trees[i].members);
        free(teardown->trees);
        free(teardown->removals);
}
