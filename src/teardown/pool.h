/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>

#include "shared/macro.h"

/* Threads for what waits in the kernel: each job is one call that may take milliseconds or for ever. They are
 * started when they are needed, up to a number. Everything here is for the one thread that has made the pool;
 * only pool_job.run is called in another one. */

/* More at a time than this cost more than they bring: the grace periods of RCU that removals wait for are shared
 * already by half as many (measured with 1 to 128 threads on two CPUs). */
#define POOL_THREADS_MAX 64

struct pool;

struct pool_job {
        struct dm_list list; /* the pool's */
        int (*run)(struct pool_job *job);
        int result;             /* of run() */
        uint64_t started_usec;  /* when run() was called and returned; of a job that is not done only by */
        uint64_t finished_usec; /* pool_started_usec() */
};

/* A pool of up to `n_threads` threads, 1 to POOL_THREADS_MAX, of which none is started yet. `*ret` is to be freed
 * with pool_free(). Returns 0 or a negative errno. */
int pool_new(size_t n_threads, struct pool **ret) _nonnull_(2) _must_check_;

/* Ends the threads as soon as they have returned from what they are at, and does not wait for that. Jobs that were
 * not taken back stay where they are: one that has been started must not be freed. */
struct pool *pool_free(struct pool *pool);
DEFINE_CLEANUP(struct pool *, pool_free)
#define _cleanup_pool_ _cleanup_(pool_freep)

/* Readable (EPOLLIN) when pool_take_done() has something to return. As long as jobs wait for a thread, it may have
 * a few that were not announced yet, so that it is to be called from time to time in any case. The pool's. */
int pool_get_fd(const struct pool *pool) _nonnull_(1);

/* Has a job, of which `run` is set, done in one of the threads, after those that were given before. Should no
 * thread come into being, it is done before this returns. */
void pool_submit(struct pool *pool, struct pool_job *job) _nonnull_(1, 2);

/* A job that is done, which is the caller's again; NULL if there is none. */
struct pool_job *pool_take_done(struct pool *pool) _nonnull_(1);

/* When a job was started; 0 if it still waits for a thread. */
uint64_t pool_started_usec(struct pool *pool, const struct pool_job *job) _nonnull_(1, 2);

/* One of the threads may never come back: one more is started in its place, up to POOL_THREADS_MAX in all. */
void pool_replace_thread(struct pool *pool) _nonnull_(1);
