/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/command.h"
#include "tree/tree.h"

/* What systemd is asked by systemctl. Once it has begun to stop units, nothing waits for an answer. */

/* Whether the machine shuts down: 1, 0 or a negative errno. A unit is also stopped when a package is upgraded, or by
 * hand, and then storage stays as it is. */
int systemd_is_stopping(void) _must_check_;

/* What is removed has to be found again after a soft reboot, whoever activates then. systemd asks the kernel for all
 * devices once only, unless the unit that does it was stopped. At other shutdowns that changes nothing. */
void systemd_announce_devices_again(void);

/* Whether it makes sense to wait any longer: at shutdown something that is in use may be let go as long as systemd
 * is still stopping a unit, a service or a mount; on a running machine nobody is going to. systemd is asked by
 * "systemctl list-jobs", and only while there is nothing else to do. */

enum stop_jobs {
        STOP_JOBS_UNKNOWN, /* not asked yet, or the answer is on its way or too old */
        STOP_JOBS_RUNNING, /* units are being stopped; to be asked again later */
        STOP_JOBS_NONE,    /* what is in use stays in use */
};

struct stop_job_watch {
        enum stop_jobs answer;
        struct job *question;
        uint64_t next_usec;  /* when to ask again; 0 if it was never asked */
        uint64_t pause_usec; /* between questions, longer and longer */
        int (*on_answer)(void *userdata);
        void *userdata;
};

/* Asks, if it is time and no question is under way; `on_answer` is called from the event loop. What cannot be
 * asked counts as nobody. Returns 0 or a negative errno. */
int stop_job_watch_ask(struct stop_job_watch *watch, sd_event *event) _nonnull_(1, 2) _must_check_;

/* Something has gone: whoever could let go of something may be another one now. Not for those that only ever
 * have one answer, without a function to call. */
void stop_job_watch_renew(struct stop_job_watch *watch) _nonnull_(1);

/* When stop_job_watch_ask() is to be called again, as by now_usec(); USEC_INFINITY if not before an answer. */
uint64_t stop_job_watch_next_usec(const struct stop_job_watch *watch) _nonnull_(1);

/* Whether `output` of "systemctl list-jobs --plain --no-legend" has a unit that is being stopped right now, other
 * than headgate's own that do what we do. A unit that is to be stopped later waits for one that is, or for us. */
bool stop_job_is_listed(const char *output) _nonnull_(1);

void stop_job_watch_done(struct stop_job_watch *watch) _nonnull_(1);

/* systemd tries each unmount once, and does not know that the file of a loop device lies there, which was in use
 * then. When the loop device has gone, it is asked to try again. Nothing is unmounted here. */
struct unmount_retry {
        struct tree_nodes asked; /* each once */
        struct job *job;
        bool (*is_awaited)(const struct tree_node *node, const void *userdata);
        int (*on_asked)(void *userdata);
        void *userdata;
};

/* Asks systemd to stop the mounts of which `is_awaited` says that they have to go, that nothing holds any more,
 * and that something did which has been removed. `on_asked` is called from the event loop when systemd knows.
 * Returns 1 while it is being asked; 0 if there is nothing to ask for; or -ENOMEM. */
int unmount_retry_ask(struct unmount_retry *retry, sd_event *event, const struct tree *tree)
        _nonnull_(1, 2, 3) _must_check_;

void unmount_retry_done(struct unmount_retry *retry) _nonnull_(1);
