/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the worker asks of systemd. It works before there is D-Bus, so that systemctl asks, and nobody waits for that. */

#include "worker/systemd.h"

#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"

/* systemd's units for crypttab, whatever a disk is unlocked with. */
#define UNLOCKING_UNITS "systemd-cryptsetup@*.service"

static int on_answer(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct worker *worker = userdata;
        struct deadlines *deadlines = &worker->deadlines;

        deadlines->question = NULL;
        deadlines->asked_usec = now_usec();
        /* Where that cannot be told, a VG is reported too early rather than never. */
        deadlines->unlocking = exit_status == 0 && lvm_command_read_output(&job->command, &output) >= 0 &&
                               strstr(output, "systemd-cryptsetup@");
        if (deadlines->unlocking) {
                log_debug("A disk is being unlocked, deadlines are put off.");
                deadlines->put_off_usec = deadlines->asked_usec;
        }
        worker_ask_step(worker);
        return 0;
}

void ask_about_unlocking(struct worker *worker)
{
        static const char *const words[] = {"list-jobs", "--no-legend", "--plain", UNLOCKING_UNITS};
        const struct string_vector arguments = {(char **) words, ELEMENTSOF(words)};
        int r = job_start(
                worker->event, JOB_ASK_SYSTEMD, &arguments, on_answer, worker, &worker->deadlines.question);

        if (r < 0) {
                log_debug("Failed to ask systemd for its jobs: %s", strerror(-r));
                worker->deadlines.asked_usec = now_usec();
        }
}

static int on_reset(struct job *job, _unused_ int exit_status, void *userdata)
{
        struct worker *worker = userdata;

        worker->forgetting = job_free(job);
        worker_ask_step(worker);
        return 0;
}

/* A unit headgate-vg@.service that has failed is no failure any longer once its VG is active. This comes after the record
 * that says so, and the link was made before the unit looked for that a last time: one of both finds the other. */
void forget_failed_waits(struct worker *worker)
{
        static const char *const words[] = {"reset-failed", "--"};
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct managed_group *group, *next;
        int r = string_vector_add_all(&arguments, words, ELEMENTSOF(words));

        worker->inventory->activated = false;
        FOREACH_GROUP(group, next, worker->inventory) {
                _cleanup_free_ char *path = NULL, *unit = NULL;

                if (r < 0 || !group->activated)
                        continue;
                group->activated = false;
                path = string_format(FLAGS_FAILED_WAIT "%s", group->vg->name);
                r = path ? read_link_at(worker->run_fd, path, &unit) : -ENOMEM;
                if (r <= 0)
                        continue;
                r = string_vector_add(&arguments, unit);
                (void) unlinkat(worker->run_fd, path, 0);
        }
        if (r >= 0 && arguments.n > ELEMENTSOF(words))
                r = job_start(worker->event, JOB_ASK_SYSTEMD, &arguments, on_reset, worker, &worker->forgetting);
        if (r < 0)
                log_debug("Failed to have systemd forget failures: %s", strerror(-r));
}
