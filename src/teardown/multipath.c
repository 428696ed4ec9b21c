/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/multipath.h"

#include <sys/sysmacros.h>

#include "shared/log.h"
#include "shared/util.h"

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)

bool multipath_status_is_dead(const char *status)
{
        _cleanup_free_ char *copy = strdup(status);
        char *position = NULL;
        bool is_path = false;

        if (!copy)
                return false;
        for (const char *word = strtok_r(copy, " ", &position); word; word = strtok_r(NULL, " ", &position)) {
                unsigned int major_number, minor_number;

                if (is_path && streq(word, "A"))
                        return false;
                is_path = sscanf(word, "%u:%u", &major_number, &minor_number) == 2;
        }
        return true;
}

static struct dm_task *make_task(int type, const struct tree_node *node)
{
        _cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(type);

        if (!task || !dm_task_set_major_minor(task, (int) major(node->number), (int) minor(node->number), 0))
                return NULL;
        return TAKE_PTR(task);
}

static bool is_dead(const struct tree_node *node)
{
        _cleanup_(dm_task_destroyp) struct dm_task *task = make_task(DM_DEVICE_STATUS, node);
        char *target = NULL, *status = NULL;
        uint64_t start, length;

        /* Without flushing: there is nowhere to flush to. */
        if (!task || !dm_task_no_flush(task) || !dm_task_run(task))
                return false;
        (void) dm_get_next_target(task, NULL, &start, &length, &target, &status);
        return target && status && streq(target, "multipath") && multipath_status_is_dead(status);
}

static bool stop_queueing(const struct tree_node *node)
{
        _cleanup_(dm_task_destroyp) struct dm_task *task = make_task(DM_DEVICE_TARGET_MSG, node);

        return task && dm_task_set_sector(task, 0) && dm_task_set_message(task, "fail_if_no_path") &&
               dm_task_no_open_count(task) && dm_task_run(task);
}

size_t multipath_stop_queueing(const struct tree *tree)
{
        size_t n = 0;

        FOREACH_NODE(node, &tree->nodes) {
                _cleanup_free_ char *name = NULL;

                if (node->kind != TREE_MULTIPATH || !tree_node_is_ours(node) || node->state == TREE_GONE ||
                        !is_dead(node) || !stop_queueing(node))
                        continue;
                name = string_printable(node->name);
                log_warning("%s has no path left and fails I/O from now on, instead of keeping it.", name ?: "?");
                n++;
        }
        return n;
}
