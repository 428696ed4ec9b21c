/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/state.h"

bool teardown_awaits(const struct teardown *teardown, const struct tree_node *node)
{
        const struct storage_tree *tree = &teardown->trees[node->component];

        return tree_node_is_mount_or_swap(node) && node->state != TREE_GONE && !node->skip_reason &&
               tree->n_gone < tree->members.n;
}

void teardown_note_progress(struct teardown *teardown)
{
        teardown->progress_usec = now_usec();
        teardown->waiting_reported = false;
        if (teardown->stop_jobs.answer == STOP_JOBS_UNKNOWN)
                return;
        stop_job_watch_renew(&teardown->stop_jobs);
        if (teardown->stop_jobs.answer == STOP_JOBS_UNKNOWN)
                teardown->nobody_usec = 0;
}
