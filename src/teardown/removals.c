/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/removals.h"

#include "tree/schedule.h"

#define PAUSE_MIN_USEC (5 * USEC_PER_MSEC)
#define PAUSE_MAX_USEC (200 * USEC_PER_MSEC)
#define DOUBLINGS_MAX 6

/* How long to wait before the next try with a node that something has open: 5 ms after the first one, for a
 * process of udev that looks at the device as soon as it was unmounted, then longer and longer, up to 200 ms. */
static uint64_t pause_usec(const struct removal *removal)
{
        unsigned int doublings = MIN(MAX(removal->n_tries, 1U) - 1, (unsigned int) DOUBLINGS_MAX);

        return MIN(PAUSE_MIN_USEC << doublings, PAUSE_MAX_USEC);
}

static int submit(struct teardown *teardown, struct removal *removal)
{
        int r = removal_job_new(removal->node, &removal->job);

        if (r < 0)
                return r;
        removal->job->pool_job.run = teardown->options.remove;
        removal->job->at_shutdown = teardown->options.at_shutdown;
        dm_list_add(&teardown->working, &removal->list);
        pool_submit(teardown->pool, &removal->job->pool_job);
        return 0;
}

int removals_start(struct teardown *teardown)
{
        for (struct tree_node *node; (node = tree_next_ready(teardown->tree));) {
                struct removal *removal = &teardown->removals[node->index];
                struct storage_tree *tree = &teardown->trees[node->component];
                int r;

                if (removal->ready_usec == 0)
                        removal->ready_usec = now_usec();
                if (tree->first_usec == 0)
                        tree->first_usec = removal->ready_usec;
                r = unmonitor_takes(&teardown->unmonitor, removal) ? 0 : submit(teardown, removal);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int start_released(struct teardown *teardown)
{
        struct dm_list *released = &teardown->unmonitor.released;
        struct removal *removal, *next;

        dm_list_iterate_items_safe(removal, next, released) {
                int r;

                dm_list_del(&removal->list);
                r = submit(teardown, removal);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int repeat_due(struct teardown *teardown)
{
        uint64_t now = now_usec();
        struct removal *removal, *next;

        dm_list_iterate_items_safe(removal, next, &teardown->busy) {
                int r;

                if (removal->next_usec > now || !removal_is_possible(removal))
                        continue;
                dm_list_del(&removal->list);
                r = submit(teardown, removal);
                if (r < 0)
                        return r;
        }
        return 0;
}

int removals_resume(struct teardown *teardown)
{
        int r = start_released(teardown);

        return r < 0 ? r : repeat_due(teardown);
}

static void node_went(struct teardown *teardown, struct removal *removal)
{
        struct storage_tree *tree = &teardown->trees[removal->node->component];

        tree_node_gone(teardown->tree, removal->node);
        tree->last_usec = removal->ended_usec;
        if (++tree->n_gone == tree->members.n)
                dm_list_add(&teardown->down, &tree->list);
        teardown_note_progress(teardown);
}

void removals_finish(struct teardown *teardown, struct removal_job *job)
{
        struct removal *removal = &teardown->removals[job->node->index];

        removal->n_tries++;
        removal->error = job->pool_job.result;
        removal->ended_usec = job->pool_job.finished_usec;
        if (!job->abandoned) {
                dm_list_del(&removal->list);
                removal->job = NULL;
        }
        if (removal->error == 0) {
                node_went(teardown, removal);
        } else if (job->abandoned) {
                ; /* It has failed already. */
        } else if (removal->error == -EBUSY && !removal->node->cycle) {
                removal->n_in_vain = teardown->nobody_usec > 0 ? removal->n_in_vain + 1 : 0;
                removal->next_usec = removal->ended_usec + pause_usec(removal);
                dm_list_add(&teardown->busy, &removal->list);
        } else {
                tree_node_failed(teardown->tree, removal->node);
        }
        removal_job_free(job);
}

void removals_check_deadlines(struct teardown *teardown, uint64_t now)
{
        struct removal *removal, *next;

        if (teardown->checked_usec + REMOVALS_CHECK_USEC > now)
                return;
        teardown->checked_usec = now;
        dm_list_iterate_items_safe(removal, next, &teardown->working) {
                uint64_t started = pool_started_usec(teardown->pool, &removal->job->pool_job);

                if (started == 0 || started + teardown->options.deadline_usec > now)
                        continue;
                dm_list_del(&removal->list);
                removal->job->abandoned = true;
                removal->job = NULL;
                removal->error = -ETIMEDOUT;
                removal->ended_usec = now;
                tree_node_failed(teardown->tree, removal->node);
                pool_replace_thread(teardown->pool);
        }
}
