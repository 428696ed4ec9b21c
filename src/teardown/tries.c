/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/tries.h"

#include "tree/schedule.h"

static int submit(struct teardown *teardown, struct attempt *attempt)
{
        int r = removal_new(attempt->node, &attempt->removal);

        if (r < 0)
                return r;
        attempt->removal->job.run = teardown->options.remove;
        attempt->removal->at_shutdown = teardown->options.at_shutdown;
        dm_list_add(&teardown->working, &attempt->list);
        pool_submit(teardown->pool, &attempt->removal->job);
        return 0;
}

int tries_start(struct teardown *teardown)
{
        int r = 0;

        for (struct tree_node *node; r >= 0 && (node = tree_next_ready(teardown->tree));) {
                struct attempt *attempt = &teardown->attempts[node->index];
                struct storage_tree *tree = &teardown->trees[node->component];

                if (attempt->ready_usec == 0)
                        attempt->ready_usec = now_usec();
                if (tree->first_usec == 0)
                        tree->first_usec = attempt->ready_usec;
                if (!unmonitor_takes(&teardown->unmonitor, attempt))
                        r = submit(teardown, attempt);
        }
        return r;
}

static int start_released(struct teardown *teardown)
{
        struct dm_list *released = &teardown->unmonitor.released;
        int r = 0;

        while (r >= 0 && !dm_list_empty(released)) {
                struct attempt *attempt = dm_list_struct_base(dm_list_first(released), struct attempt, list);

                dm_list_del(&attempt->list);
                r = submit(teardown, attempt);
        }
        return r;
}

static int repeat_due(struct teardown *teardown)
{
        uint64_t now = now_usec();
        struct attempt *attempt, *next;

        dm_list_iterate_items_safe(attempt, next, &teardown->busy) {
                int r;

                if (attempt->next_usec > now || !attempt_is_possible(attempt))
                        continue;
                dm_list_del(&attempt->list);
                r = submit(teardown, attempt);
                if (r < 0)
                        return r;
        }
        return 0;
}

int tries_resume(struct teardown *teardown)
{
        int r = start_released(teardown);

        return r < 0 ? r : repeat_due(teardown);
}

static void node_went(struct teardown *teardown, struct attempt *attempt)
{
        struct storage_tree *tree = &teardown->trees[attempt->node->component];

        tree_node_gone(teardown->tree, attempt->node);
        tree->last_usec = attempt->ended_usec;
        if (++tree->n_gone == tree->members.n)
                dm_list_add(&teardown->down, &tree->list);
        teardown_note_progress(teardown);
}

void tries_finish(struct teardown *teardown, struct removal *removal)
{
        struct attempt *attempt = &teardown->attempts[removal->node->index];

        attempt->n_tries++;
        attempt->error = removal->job.result;
        attempt->ended_usec = removal->job.finished_usec;
        if (!removal->abandoned) {
                dm_list_del(&attempt->list);
                attempt->removal = NULL;
        }
        if (attempt->error == 0) {
                node_went(teardown, attempt);
        } else if (removal->abandoned) {
                ; /* It has failed already. */
        } else if (attempt->error == -EBUSY && !attempt->node->cycle) {
                attempt->n_in_vain = teardown->nobody_usec > 0 ? attempt->n_in_vain + 1 : 0;
                attempt->next_usec = attempt->ended_usec + attempt_pause_usec(attempt);
                dm_list_add(&teardown->busy, &attempt->list);
        } else {
                tree_node_failed(teardown->tree, attempt->node);
        }
        removal_free(removal);
}

void tries_check_deadlines(struct teardown *teardown, uint64_t now)
{
        struct attempt *attempt, *next;

        if (teardown->checked_usec + TRIES_CHECK_USEC > now)
                return;
        teardown->checked_usec = now;
        dm_list_iterate_items_safe(attempt, next, &teardown->working) {
                uint64_t started = pool_started_usec(teardown->pool, &attempt->removal->job);

                if (started == 0 || started + teardown->options.deadline_usec > now)
                        continue;
                dm_list_del(&attempt->list);
                attempt->removal->abandoned = true;
                attempt->removal = NULL;
                attempt->error = -ETIMEDOUT;
                attempt->ended_usec = now;
                tree_node_failed(teardown->tree, attempt->node);
                pool_replace_thread(teardown->pool);
        }
}
