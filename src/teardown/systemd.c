/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/systemd.h"

#include "lvm/command.h"
#include "shared/log.h"

/* ------ at the beginning ------ */

int systemd_is_stopping(void)
{
        static const char *const words[] = {"is-system-running", NULL};
        _cleanup_free_ char *output = NULL;
        int r;

        r = command_run("/bin/systemctl", words, &output);
        return r < 0 ? r : skip_prefix(output, "stopping") != NULL;
}

void systemd_announce_devices_again(void)
{
        static const char *const words[] = {"--no-block", "stop", "systemd-udev-trigger.service", NULL};
        _cleanup_free_ char *output = NULL;
        int r;

        r = command_run("/bin/systemctl", words, &output);
        if (r < 0)
                log_warning("Failed to stop systemd-udev-trigger.service: %s", strerror(-r));
        else if (r > 0)
                log_warning("Failed to stop systemd-udev-trigger.service: %s", output);
}

/* ------ what it stops ------ */

/* A systemctl costs some milliseconds, and what is waited for may take minutes; but shutdown must not be kept
 * waiting for an answer. */
#define PAUSE_MIN_USEC (200 * USEC_PER_MSEC)
#define PAUSE_MAX_USEC (500 * USEC_PER_MSEC)

#define OWN_UNITS "headgate-teardown"

bool stop_job_is_listed(const char *output)
{
        _cleanup_free_ char *copy = strdup(output);
        char *rest = copy;

        for (char *line; copy && (line = strsep(&rest, "\n"));) {
                char *position = NULL;
                const char *id = strtok_r(line, " ", &position), *unit = strtok_r(NULL, " ", &position);
                const char *type = strtok_r(NULL, " ", &position), *state = strtok_r(NULL, " ", &position);

                if (id && unit && type && state && streq(type, "stop") && streq(state, "running") &&
                        !skip_prefix(unit, OWN_UNITS))
                        return true;
        }
        return false;
}

static int on_answer_of_systemctl(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct stop_job_watch *watch = userdata;

        watch->question = NULL;
        watch->answer = STOP_JOBS_NONE;
        if (exit_status != 0 || lvm_command_read_output(&job->command, &output) < 0)
                log_debug("systemctl list-jobs has ended with status %i.", exit_status);
        else if (stop_job_is_listed(output))
                watch->answer = STOP_JOBS_RUNNING;

        watch->pause_usec = MIN(MAX(watch->pause_usec * 2, PAUSE_MIN_USEC), PAUSE_MAX_USEC);
        watch->next_usec = now_usec() + watch->pause_usec;
        return watch->on_answer(watch->userdata);
}

int stop_job_watch_ask(struct stop_job_watch *watch, sd_event *event)
{
        static const char *const words[] = {"list-jobs", "--plain", "--no-legend", "--no-pager"};
        _cleanup_string_vector_ struct string_vector arguments = {};
        int r;

        if (watch->question || watch->answer == STOP_JOBS_NONE || watch->next_usec > now_usec())
                return 0;
        r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));
        if (r >= 0)
                r = job_start(event, JOB_ASK_SYSTEMD, &arguments, on_answer_of_systemctl, watch, &watch->question);
        if (r < 0) {
                log_debug("Failed to ask systemd for its jobs: %s", strerror(-r));
                watch->answer = STOP_JOBS_NONE;
        }
        return r == -ENOMEM ? r : 0;
}

void stop_job_watch_renew(struct stop_job_watch *watch)
{
        if (!watch->on_answer)
                return;
        watch->answer = STOP_JOBS_UNKNOWN;
        watch->pause_usec = 0;
        watch->next_usec = MIN(watch->next_usec, now_usec() + PAUSE_MIN_USEC);
}

uint64_t stop_job_watch_next_usec(const struct stop_job_watch *watch)
{
        return watch->question || watch->answer == STOP_JOBS_NONE ? USEC_INFINITY : watch->next_usec;
}

void stop_job_watch_done(struct stop_job_watch *watch)
{
        job_free(watch->question);
}

/* ------ unmounts that it is to try again ------ */

static bool is_free_now(const struct tree_node *mount)
{
        if (mount->kind != TREE_MOUNT || mount->n_holders > 0)
                return false;
        FOREACH_NODE(upper, &mount->uppers)
                if (tree_node_is_ours(upper) && upper->state == TREE_GONE)
                        return true;
        return false;
}

static int on_exit_of_systemctl(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct unmount_retry *retry = userdata;

        retry->job = NULL;
        if (exit_status != 0 && lvm_command_read_output(&job->command, &output) >= 0)
                log_warning("systemctl stop has ended with status %i: %s", exit_status, output);
        return retry->on_asked(retry->userdata);
}

/* Adds those that are to be asked for, and have not been. */
static int collect(struct unmount_retry *retry, const struct tree *tree, struct string_vector *arguments)
{
        FOREACH_NODE(node, &tree->nodes) {
                int r;

                if (!is_free_now(node) || !retry->is_awaited(node, retry->userdata) ||
                        tree_nodes_have(&retry->asked, node))
                        continue;
                r = tree_nodes_add(&retry->asked, node);
                if (r >= 0)
                        /* A path is as good as the name of its unit. */
                        r = string_vector_add(arguments, node->name);
                if (r < 0)
                        return r;
        }
        return 0;
}

int unmount_retry_ask(struct unmount_retry *retry, sd_event *event, const struct tree *tree)
{
        static const char *const words[] = {"stop", "--no-block", "--"};
        _cleanup_string_vector_ struct string_vector arguments = {};
        int r;

        if (retry->job)
                return 1;
        r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));
        if (r >= 0)
                r = collect(retry, tree, &arguments);
        if (r < 0 || arguments.n == ELEMENTSOF(words))
                return r;
        r = job_start(event, JOB_ASK_SYSTEMD, &arguments, on_exit_of_systemctl, retry, &retry->job);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to ask systemd to unmount once more: %m");
                return r == -ENOMEM ? r : 0;
        }
        return 1;
}

void unmount_retry_done(struct unmount_retry *retry)
{
        tree_nodes_done(&retry->asked);
        job_free(retry->job);
}
