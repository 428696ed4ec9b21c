/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Queries of systemd by systemctl: whether the machine shuts down, whether systemd still stops units that may use storage, and
 * unmounts to retry. */

#include "teardown/systemd.h"

#include "shared/log.h"
#include "tree/order.h"

/* The pause between queries. systemctl takes some milliseconds, and teardown may wait for minutes; but shutdown must not be
 * delayed. */
#define PAUSE_USEC (300 * USEC_PER_MSEC)

/* ------ at the beginning ------ */

int systemd_is_stopping(void)
{
        static const char *const words[] = {"is-system-running", NULL};
        _cleanup_free_ char *output = NULL;
        int r = command_run("/bin/systemctl", words, &output);

        return r < 0 ? r : skip_prefix(output, "stopping") != NULL;
}

void systemd_announce_devices_again(void)
{
        static const char *const words[] = {"stop", "--no-block", "systemd-udev-trigger.service", NULL};

        command_try("/bin/systemctl", words);
}

/* ------ unmounts to retry ------ */

static bool is_free_now(const struct tree_node *mount)
{
        return mount->kind == TREE_MOUNT && !tree_node_is_held(mount) &&
               ANY(FOREACH_NODE(upper, &mount->uppers), tree_node_is_ours(upper) && upper->state == TREE_GONE);
}

static int on_unmounts_retried(_unused_ struct job *job, int exit_status, const char *output, void *userdata)
{
        struct teardown *teardown = userdata;

        teardown->stop_jobs.job = NULL;
        if (exit_status != 0)
                log_warning("systemctl stop failed with exit status %i: %s", exit_status, output);
        return 0;
}

/* Has systemd retry unmounts, and waits for their end, as systemctl then tells whether they failed. Returns 1 if there is one, 0 or
 * -ENOMEM. */
static int retry_unmounts(struct teardown *teardown)
{
        static const char *const words[] = {"stop", "--"};
        _cleanup_strv_ struct strv arguments = {};
        struct stop_job_watch *watch = &teardown->stop_jobs;
        int r;

        if (strv_add_all(&arguments, words, ELEMENTSOF(words)) < 0)
                return -ENOMEM;
        FOREACH_NODE(node, &teardown->tree->nodes) {
                if (!is_free_now(node) || !teardown_awaits(teardown, node) || node->unmount_retried)
                        continue;
                node->unmount_retried = true;
                /* systemctl also accepts a path. */
                if (strv_add(&arguments, node->name) < 0)
                        return -ENOMEM;
        }
        if (arguments.n == ELEMENTSOF(words))
                return 0;
        r = job_start(teardown->event, JOB_ASK_SYSTEMD, &arguments, on_unmounts_retried, teardown, &watch->job);
        if (r < 0 && r != -ENOMEM)
                (void) log_error_errno(r, "Failed to ask systemd to unmount once more: %m");
        return r >= 0 ? 1 : r == -ENOMEM ? r : 0;
}

/* ------ stop jobs ------ */

enum stop_jobs stop_jobs_listed(const char *output)
{
        _cleanup_free_ char *copy = strdup(output);
        size_t n_ready = 0;
        bool ready = false;

        FOREACH_LINE(line, copy) {
                char *words[4];

                /* With --before, a line below a job names one that it waits for. */
                bool is_job = strchr("0123456789", line[strspn(line, " ")]);

                n_ready -= !is_job && ready;
                /* Number, unit, type and state. */
                ready = is_job && dm_split_words(line, ELEMENTSOF(words), 0, words) == ELEMENTSOF(words) &&
                        streq(words[2], "stop") && !skip_prefix(words[1], "headgate-teardown");
                if (ready && streq(words[3], "running"))
                        return STOP_JOBS_RUN;
                n_ready += ready;
        }
        return n_ready > 0 ? STOP_JOBS_READY : STOP_JOBS_NONE;
}

static int on_jobs_listed(_unused_ struct job *job, int exit_status, const char *output, void *userdata)
{
        struct teardown *teardown = userdata;
        struct stop_job_watch *watch = &teardown->stop_jobs;
        enum stop_jobs jobs = exit_status == 0 ? stop_jobs_listed(output) : STOP_JOBS_NONE;

        watch->job = NULL;
        if (exit_status != 0)
                log_debug("systemctl list-jobs failed with exit status %i.", exit_status);
        /* If nodes were removed meanwhile, others may be released. */
        watch->idle_since = jobs == STOP_JOBS_NONE && teardown->progress_usec <= watch->next_usec ? now_usec() : 0;
        watch->ask_order = jobs == STOP_JOBS_READY && !watch->ask_order;
        watch->next_usec = now_usec() + (watch->ask_order ? 0 : PAUSE_USEC);
        return 0;
}

int systemd_ask(struct teardown *teardown, uint64_t now)
{
        /* --before costs systemd a query for each job, so it is used only if jobs wait and none runs. */
        static const char *const words[] = {"list-jobs", "--plain", "--no-legend", "--no-pager", "--before"};
        struct stop_job_watch *watch = &teardown->stop_jobs;
        const struct strv arguments = {(char **) words, ELEMENTSOF(words) - !watch->ask_order};
        int r;

        if (watch->job)
                return 0;
        r = retry_unmounts(teardown);
        if (r != 0)
                return MIN(r, 0);
        if (watch->idle_since > 0 || watch->next_usec > now)
                return 0;
        watch->next_usec = now;
        r = job_start(teardown->event, JOB_ASK_SYSTEMD, &arguments, on_jobs_listed, teardown, &watch->job);
        if (r < 0) {
                log_debug("Failed to ask systemd for its jobs: %s", strerror(-r));
                watch->idle_since = now;
        }
        return r == -ENOMEM ? r : 0;
}

uint64_t stop_job_watch_next_usec(const struct stop_job_watch *watch)
{
        return watch->job || watch->idle_since > 0 ? USEC_INFINITY : watch->next_usec;
}
