/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Removals of nodes. A pool of threads makes the attempts, each a call to the kernel that may block for milliseconds or forever.
 * This file decides when an attempt is repeated or abandoned. */

#include "teardown/removal.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include "shared/util.h"
#include "teardown/kernel.h"
#include "teardown/unmonitor.h"
#include "tree/order.h"

/* More threads are not faster (measured with 1 to 128 on two CPUs): removals wait for grace periods of RCU, which half as many
 * threads share already. */
#define THREADS_MAX 64

/* While more removals are queued, the owner of the pool is woken up only after this many. */
#define ANNOUNCED_AT_ONCE 8

/* The pause before the next attempt: first 5 ms, since udev opens a device for a moment after its unmount. Each pause is 5 ms
 * longer than the last one, up to 200 ms. */
#define PAUSE_STEP_USEC (5 * USEC_PER_MSEC)
#define PAUSE_MAX_USEC (200 * USEC_PER_MSEC)

/* ------ the pool ------ */

struct pool {
        int (*remove)(const struct removal *removal);
        int done_fd; /* an eventfd, not 0 if `done` has announced removals */

        pthread_mutex_t mutex; /* for all members below */
        struct dm_list queued, done;
        size_t n_unannounced;            /* in `done` */
        size_t n_threads, n_threads_max; /* a thread ends when nothing is queued */
        bool ending;
};

static void pool_free(struct pool *pool)
{
        pthread_mutex_destroy(&pool->mutex);
        close(pool->done_fd);
        free(pool);
}

/* Attempts all queued removals. Holds the lock except during a removal. */
static void work_off(struct pool *pool)
{
        while (!dm_list_empty(&pool->queued) && !pool->ending) {
                struct removal *removal = dm_list_item(dm_list_first(&pool->queued), struct removal);
                int r;

                dm_list_del(&removal->list);
                removal->started_usec = now_usec();
                pthread_mutex_unlock(&pool->mutex);
                r = removal->blocked ? -EBUSY : pool->remove(removal);
                pthread_mutex_lock(&pool->mutex);
                removal->result = r;
                removal->finished_usec = now_usec();
                dm_list_add(&pool->done, &removal->list);
                if (++pool->n_unannounced >= ANNOUNCED_AT_ONCE || dm_list_empty(&pool->queued)) {
                        pool->n_unannounced = 0;
                        (void) eventfd_write(pool->done_fd, 1);
                }
        }
}

static void *run_thread(void *argument)
{
        struct pool *pool = argument;
        bool last;

        pthread_mutex_lock(&pool->mutex);
        work_off(pool);
        last = --pool->n_threads == 0 && pool->ending;
        pthread_mutex_unlock(&pool->mutex);
        if (last)
                pool_free(pool);
        return NULL;
}

/* Call this with the lock held. */
static void start_thread(struct pool *pool)
{
        pthread_t thread;

        if (pthread_create(&thread, NULL, run_thread, pool) != 0)
                return;
        (void) pthread_detach(thread);
        pool->n_threads++;
}

static int pool_new(size_t n_threads, int (*function)(const struct removal *removal), struct pool **ret)
{
        _cleanup_close_ int done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        struct pool *pool;

        if (done_fd < 0)
                return -errno;
        pool = malloc(sizeof(*pool));
        if (!pool)
                return -ENOMEM;
        *pool = (struct pool){
                .remove = function,
                .done_fd = TAKE_FD(done_fd),
                .mutex = PTHREAD_MUTEX_INITIALIZER,
                .n_threads_max = n_threads,
        };
        dm_list_init(&pool->queued);
        dm_list_init(&pool->done);
        *ret = pool;
        return 0;
}

/* Whether a device that is to be removed after this node has other users, such as a process. An origin is removed only if its
 * snapshots are not open at all. */
static bool is_used_below(const struct teardown *teardown, const struct tree_node *node)
{
        FOREACH_NODE(lower, &node->lowers) {
                if (!tree_node_is_ours(lower) || lower->state == TREE_GONE || lower->cycle)
                        continue;
                lower->n_opens = teardown->options.count_opens(lower);
                if (tree_node_has_other_users(lower) || (lower->n_opens > 0 && tree_is_snapshot_of(lower, node)) ||
                        is_used_below(teardown, lower))
                        return true;
        }
        return false;
}

static void submit(struct teardown *teardown, struct removal *removal)
{
        struct pool *pool = teardown->pool;

        if (teardown->options.count_opens) {
                removal->node->n_opens = teardown->options.count_opens(removal->node);
                removal->blocked = is_used_below(teardown, removal->node);
        }
        removal->at_work = true;
        removal->timed_out = false;
        teardown->n_at_work++;
        pthread_mutex_lock(&pool->mutex);
        removal->started_usec = 0;
        dm_list_add(&pool->queued, &removal->list);
        if (pool->n_threads < pool->n_threads_max)
                start_thread(pool);
        /* In case that no thread can be started. */
        if (pool->n_threads == 0)
                work_off(pool);
        pthread_mutex_unlock(&pool->mutex);
}

/* ------ one removal ------ */

static struct removal *removal_new(struct tree_node *node, bool at_shutdown)
{
        struct removal *removal = malloc(sizeof(*removal));

        if (!removal)
                return NULL;
        *removal = (struct removal){
                .node = node,
                .kind = node->kind,
                .number = node->number,
                .at_shutdown = at_shutdown,
        };
        (void) snprintf(removal->kernel_name, sizeof(removal->kernel_name), "%s", node->kernel_name);
        if (node->uuid && strlen(node->uuid) < sizeof(removal->uuid))
                strcpy(removal->uuid, node->uuid);
        return removal;
}

/* ------ all of them ------ */

static int on_done(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t events, void *userdata)
{
        removals_finish(userdata);
        return 0;
}

int removals_init(struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        int r;

        dm_list_init(&teardown->busy);
        FOREACH_NODE(node, &tree->nodes) {
                if (!tree_node_is_ours(node))
                        continue;
                node->removal = removal_new(node, teardown->options.at_shutdown);
                if (!node->removal)
                        return -ENOMEM;
        }
        r = pool_new(teardown->options.n_threads, teardown->options.remove ?: kernel_remove, &teardown->pool);
        if (r < 0)
                return r;
        return sd_event_add_io(teardown->event, NULL, teardown->pool->done_fd, EPOLLIN, on_done, teardown);
}

void removals_start(struct teardown *teardown, uint64_t now)
{
        for (struct tree_node *node; (node = tree_next_ready(teardown->tree));) {
                struct storage_tree *tree = &teardown->trees[node->component];
                struct removal *removal = node->removal;

                if (removal->at_work) {
                        /* The last attempt of this member of a cycle still hangs. */
                        tree_node_failed(teardown->tree, node);
                        continue;
                }
                removal->ready_usec = removal->ready_usec ?: now;
                tree->first_usec = tree->first_usec ?: removal->ready_usec;
                if (!unmonitor_takes(teardown, removal))
                        submit(teardown, removal);
        }
        unmonitor_step(teardown, now);
        FOREACH_LISTED(struct removal, removal, &teardown->busy)
                if (removal->next_usec <= now && !tree_node_is_held(removal->node)) {
                        dm_list_del(&removal->list);
                        submit(teardown, removal);
                }
}

static void node_removed(struct teardown *teardown, struct removal *removal)
{
        struct storage_tree *tree = &teardown->trees[removal->node->component];

        tree_node_gone(teardown->tree, removal->node);
        tree->last_usec = removal->ended_usec;
        if (++tree->n_gone == tree->members.n)
                dm_list_add(&teardown->down, &tree->list);
}

void removals_finish(struct teardown *teardown)
{
        struct pool *pool = teardown->pool;
        struct dm_list done;
        eventfd_t value;

        dm_list_init(&done);
        pthread_mutex_lock(&pool->mutex);
        dm_list_splice(&done, &pool->done);
        pool->n_unannounced = 0;
        (void) eventfd_read(pool->done_fd, &value);
        pthread_mutex_unlock(&pool->mutex);
        FOREACH_LISTED(struct removal, removal, &done) {
                dm_list_del(&removal->list);
                removal->at_work = false;
                removal->n_tries++;
                removal->error = removal->result;
                removal->ended_usec = removal->finished_usec;
                teardown->n_at_work -= !removal->timed_out;
                if (removal->error == 0) {
                        node_removed(teardown, removal);
                        continue;
                }
                /* It has failed already. */
                if (removal->timed_out)
                        continue;
                if (removal->error != -EBUSY || removal->node->cycle) {
                        tree_node_failed(teardown->tree, removal->node);
                        continue;
                }
                removal->n_futile = teardown->stop_jobs.idle_since > 0 ? removal->n_futile + 1 : 0;
                removal->next_usec = removal->ended_usec + MIN(PAUSE_STEP_USEC * removal->n_tries, PAUSE_MAX_USEC);
                dm_list_add(&teardown->busy, &removal->list);
        }
}

void removals_check_deadlines(struct teardown *teardown, uint64_t now)
{
        struct pool *pool = teardown->pool;

        if (teardown->checked_usec + REMOVALS_CHECK_USEC > now)
                return;
        teardown->checked_usec = now;
        pthread_mutex_lock(&pool->mutex);
        FOREACH_NODE(node, &teardown->tree->nodes) {
                struct removal *removal = node->removal;

                if (!removal || !removal->at_work || removal->timed_out || removal->started_usec == 0 ||
                        removal->started_usec + teardown->options.deadline_usec > now)
                        continue;
                removal->timed_out = true;
                removal->error = -ETIMEDOUT;
                removal->ended_usec = now;
                teardown->n_at_work--;
                tree_node_failed(teardown->tree, node);
                /* Its thread may hang forever, so one more may be started. */
                if (pool->n_threads_max < THREADS_MAX) {
                        pool->n_threads_max++;
                        if (!dm_list_empty(&pool->queued))
                                start_thread(pool);
                }
        }
        pthread_mutex_unlock(&pool->mutex);
}

void removals_done(struct teardown *teardown)
{
        struct pool *pool = teardown->pool;
        bool last = false;

        if (pool) {
                pthread_mutex_lock(&pool->mutex);
                pool->ending = true;
                last = pool->n_threads == 0;
                pthread_mutex_unlock(&pool->mutex);
        }
        /* Otherwise the last thread frees the pool. */
        if (last)
                pool_free(pool);
        FOREACH_NODE(node, &teardown->tree->nodes)
                if (node->removal && !node->removal->at_work)
                        free(TAKE_PTR(node->removal));
}
