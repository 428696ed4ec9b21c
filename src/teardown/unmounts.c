/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/unmounts.h"

#include "shared/log.h"

static bool is_free_now(const struct tree_node *mount)
{
        if (mount->kind != TREE_MOUNT || mount->n_holders > 0)
                return false;
        for (size_t i = 0; i < mount->uppers.n; i++)
                if (tree_node_is_ours(mount->uppers.nodes[i]) && mount->uppers.nodes[i]->state == TREE_GONE)
                        return true;
        return false;
}

static int on_exit_of_systemctl(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct unmounts *unmounts = userdata;

        unmounts->job = NULL;
        if (exit_status != 0 && lvm_command_read_output(&job->command, &output) >= 0)
                log_warning("systemctl stop has ended with status %i: %s", exit_status, output);
        return unmounts->on_asked(unmounts->userdata);
}

/* Adds those that are to be asked for, and have not been. */
static int collect(struct unmounts *unmounts, const struct tree *tree, struct string_vector *arguments)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];

                if (!is_free_now(node) || !unmounts->is_awaited(node, unmounts->userdata) ||
                        tree_nodes_have(&unmounts->asked, node))
                        continue;
                r = tree_nodes_add(&unmounts->asked, node);
                if (r >= 0)
                        /* A path is as good as the name of its unit. */
                        r = string_vector_add(arguments, node->name);
        }
        return r;
}

int unmounts_ask_again(struct unmounts *unmounts, sd_event *event, const struct tree *tree)
{
        static const char *const words[] = {"stop", "--no-block", "--"};
        _cleanup_string_vector_ struct string_vector arguments = {};
        int r;

        if (unmounts->job)
                return 1;
        r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));
        if (r >= 0)
                r = collect(unmounts, tree, &arguments);
        if (r < 0 || arguments.n == ELEMENTSOF(words))
                return r;
        r = job_start(event, JOB_ASK_SYSTEMD, &arguments, on_exit_of_systemctl, unmounts, &unmounts->job);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to ask systemd to unmount once more: %m");
                return r == -ENOMEM ? r : 0;
        }
        return 1;
}

void unmounts_done(struct unmounts *unmounts)
{
        tree_nodes_done(&unmounts->asked);
        job_free(unmounts->job);
}
