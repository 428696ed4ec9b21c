/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/pool.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include "shared/util.h"

/* A thread only makes a system call or two. */
#define STACK_SIZE ((size_t) 128 * 1024)

/* While there is more to do anyway, the owner of the pool is not woken up for each job that is done. */
#define ANNOUNCED_AT_ONCE 8

struct pool {
        pthread_mutex_t mutex; /* for all below */
        pthread_cond_t work;   /* something was queued, or it is to end */
        struct dm_list queued, done;
        size_t n_queued;
        size_t n_unannounced; /* of those that are done */
        size_t n_threads, n_threads_max, n_idle;
        bool ending;
        int done_fd; /* an eventfd, not 0 if `done` has jobs that were announced */
};

static void destroy(struct pool *pool)
{
        pthread_cond_destroy(&pool->work);
        pthread_mutex_destroy(&pool->mutex);
        close(pool->done_fd);
        free(pool);
}

/* With the lock held. */
static void add_done(struct pool *pool, struct pool_job *job)
{
        dm_list_add(&pool->done, &job->list);
        if (++pool->n_unannounced < ANNOUNCED_AT_ONCE && !dm_list_empty(&pool->queued))
                return;
        pool->n_unannounced = 0;
        (void) eventfd_write(pool->done_fd, 1);
}

static void run(struct pool_job *job)
{
        job->result = job->run(job);
        job->finished_usec = now_usec();
}

/* With the lock held: NULL when it is to end. */
static struct pool_job *wait_for_job(struct pool *pool)
{
        struct pool_job *job;

        pool->n_idle++;
        while (dm_list_empty(&pool->queued) && !pool->ending)
                pthread_cond_wait(&pool->work, &pool->mutex);
        pool->n_idle--;
        if (pool->ending)
                return NULL;
        job = dm_list_struct_base(dm_list_first(&pool->queued), struct pool_job, list);
        dm_list_del(&job->list);
        pool->n_queued--;
        job->started_usec = now_usec();
        return job;
}

static void *work(void *argument)
{
        struct pool *pool = argument;
        bool last;

        pthread_mutex_lock(&pool->mutex);
        for (struct pool_job *job; (job = wait_for_job(pool));) {
                pthread_mutex_unlock(&pool->mutex);
                run(job);
                pthread_mutex_lock(&pool->mutex);
                add_done(pool, job);
        }
        last = --pool->n_threads == 0;
        pthread_mutex_unlock(&pool->mutex);
        if (last)
                destroy(pool);
        return NULL;
}

/* With the lock held. Returns 0 or a negative errno. */
static int start_thread(struct pool *pool)
{
        pthread_attr_t attributes;
        pthread_t thread;
        int r;

        r = pthread_attr_init(&attributes);
        if (r != 0)
                return -r;
        r = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        if (r == 0)
                r = pthread_attr_setstacksize(&attributes, STACK_SIZE);
        if (r == 0)
                r = pthread_create(&thread, &attributes, work, pool);
        if (r == 0)
                pool->n_threads++;
        pthread_attr_destroy(&attributes);
        return -r;
}

int pool_new(size_t n_threads, struct pool **ret)
{
        struct pool *pool = calloc(1, sizeof(*pool));

        if (!pool)
                return -ENOMEM;
        pool->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (pool->done_fd < 0) {
                int r = -errno;

                free(pool);
                return r;
        }
        pthread_mutex_init(&pool->mutex, NULL);
        pthread_cond_init(&pool->work, NULL);
        dm_list_init(&pool->queued);
        dm_list_init(&pool->done);
        pool->n_threads_max = MIN(MAX(n_threads, (size_t) 1), (size_t) POOL_THREADS_MAX);

        *ret = pool;
        return 0;
}

struct pool *pool_free(struct pool *pool)
{
        bool last;

        if (!pool)
                return NULL;
        pthread_mutex_lock(&pool->mutex);
        pool->ending = true;
        last = pool->n_threads == 0;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->mutex);
        /* Otherwise the last of the threads does it. */
        if (last)
                destroy(pool);
        return NULL;
}

int pool_get_fd(const struct pool *pool)
{
        return pool->done_fd;
}

void pool_submit(struct pool *pool, struct pool_job *job)
{
        bool nobody;

        job->started_usec = 0;
        pthread_mutex_lock(&pool->mutex);
        if (pool->n_idle <= pool->n_queued && pool->n_threads < pool->n_threads_max)
                (void) start_thread(pool);
        nobody = pool->n_threads == 0;
        if (!nobody) {
                dm_list_add(&pool->queued, &job->list);
                pool->n_queued++;
                pthread_cond_signal(&pool->work);
        }
        pthread_mutex_unlock(&pool->mutex);
        if (!nobody)
                return;

        job->started_usec = now_usec();
        run(job);
        pthread_mutex_lock(&pool->mutex);
        add_done(pool, job);
        pthread_mutex_unlock(&pool->mutex);
}

struct pool_job *pool_take_done(struct pool *pool)
{
        struct pool_job *job = NULL;
        eventfd_t value;

        pthread_mutex_lock(&pool->mutex);
        if (dm_list_empty(&pool->done)) {
                (void) eventfd_read(pool->done_fd, &value);
        } else {
                job = dm_list_struct_base(dm_list_first(&pool->done), struct pool_job, list);
                dm_list_del(&job->list);
        }
        pthread_mutex_unlock(&pool->mutex);
        return job;
}

uint64_t pool_started_usec(struct pool *pool, const struct pool_job *job)
{
        uint64_t usec;

        pthread_mutex_lock(&pool->mutex);
        usec = job->started_usec;
        pthread_mutex_unlock(&pool->mutex);
        return usec;
}

void pool_replace_thread(struct pool *pool)
{
        pthread_mutex_lock(&pool->mutex);
        if (pool->n_threads_max < POOL_THREADS_MAX) {
                pool->n_threads_max++;
                if (pool->n_queued > 0)
                        (void) start_thread(pool);
        }
        pthread_mutex_unlock(&pool->mutex);
}
