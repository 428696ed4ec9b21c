/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/patience.h"

#include "shared/log.h"

/* A systemctl costs some milliseconds, and what is waited for may take minutes; but shutdown must not be kept
 * waiting for an answer. */
#define PAUSE_MIN_USEC (200 * USEC_PER_MSEC)
#define PAUSE_MAX_USEC (500 * USEC_PER_MSEC)

#define OWN_UNITS "headgate-teardown"

bool patience_output_has_job(const char *output)
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

static int on_exit_of_systemctl(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct patience *patience = userdata;

        patience->question = NULL;
        patience->answer = PATIENCE_NOBODY;
        if (exit_status != 0 || lvm_command_read_output(&job->command, &output) < 0)
                log_debug("systemctl list-jobs has ended with status %i.", exit_status);
        else if (patience_output_has_job(output))
                patience->answer = PATIENCE_SOMEBODY;

        patience->pause_usec = MIN(MAX(patience->pause_usec * 2, PAUSE_MIN_USEC), PAUSE_MAX_USEC);
        patience->next_usec = now_usec() + patience->pause_usec;
        return patience->on_answer(patience->userdata);
}

int patience_ask(struct patience *patience, sd_event *event)
{
        static const char *const words[] = {"list-jobs", "--plain", "--no-legend", "--no-pager"};
        _cleanup_string_vector_ struct string_vector arguments = {};
        int r;

        if (patience->question || patience->answer == PATIENCE_NOBODY || patience->next_usec > now_usec())
                return 0;
        r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));
        if (r >= 0)
                r = job_start(
                        event, JOB_ASK_SYSTEMD, &arguments, on_exit_of_systemctl, patience, &patience->question);
        if (r < 0) {
                log_debug("Failed to ask systemd for its jobs: %s", strerror(-r));
                patience->answer = PATIENCE_NOBODY;
        }
        return r == -ENOMEM ? r : 0;
}

void patience_renew(struct patience *patience)
{
        if (!patience->on_answer)
                return;
        patience->answer = PATIENCE_UNKNOWN;
        patience->pause_usec = 0;
        patience->next_usec = MIN(patience->next_usec, now_usec() + PAUSE_MIN_USEC);
}

uint64_t patience_next_usec(const struct patience *patience)
{
        return patience->question || patience->answer == PATIENCE_NOBODY ? USEC_INFINITY : patience->next_usec;
}

void patience_done(struct patience *patience)
{
        job_free(patience->question);
}
