/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <systemd/sd-event.h>

#include "lvm/command.h"

/* One process at work for an event loop, of lvm nearly always, and what it works on. */

enum job_kind {
        JOB_RECORD,            /* pvscan --cache of the devices in stage RECORDING: there is one at a time */
        JOB_ACTIVATE,          /* vgchange -aay of the VGs that point to it */
        JOB_ACTIVATE_DEGRADED, /* the same without the PVs that are missing */
        JOB_ADOPTED,           /* a vgchange that an earlier worker has started */
        JOB_UNMONITOR,         /* vgchange --monitor n */
        JOB_ASK_SYSTEMD,       /* systemctl */
};

struct job {
        struct dm_list list; /* the caller's */
        enum job_kind kind;
        bool slow; /* activates VGs that may take long, and does not count as one of the few at a time */
        uint64_t started_usec;
        uint64_t look_usec; /* when it is worth while to look whether it stands still, and what it */
        uint64_t cpu_usec;  /* had used of the processor at the last look */
        bool probed;        /* it makes no progress, and its devices are being probed: the caller's, */
        bool waits;         /* and nothing else waits for it */
        struct lvm_command command;
        sd_event_source *source;
        void *userdata;
        int (*on_exit)(struct job *job, int exit_status, void *userdata);
};

/* Called when the process has ended, with its exit status, or 128 and the signal's number, or -1 if that cannot be
 * told (ADOPTED). Takes the job over: it is the function's to free. */
typedef int (*job_exit_function)(struct job *job, int exit_status, void *userdata);

/* Whether such a status says that the process was ended by a signal: by its own fault, unless somebody sent it. */
static inline bool job_was_killed(int exit_status)
{
        return exit_status > 128;
}

/* Starts lvm, or what else the kind of job takes, with `arguments`. Returns 0 and `*ret`, which frees itself by
 * no means, or a negative errno. */
int job_start(sd_event *event, enum job_kind kind, const struct string_vector *arguments,
        job_exit_function on_exit, void *userdata, struct job **ret) _must_check_;

/* Follows the process `pid`, which is not our child. -ESRCH if there is no such process (any more). */
int job_adopt(
        sd_event *event, pid_t pid, job_exit_function on_exit, void *userdata, struct job **ret) _must_check_;

/* Whether the process has used no processor time since the previous look, 2.5 seconds ago: it waits for something. Does
 * not look before `look_usec`. How long a process takes by the clock tells nothing, while udev has thousands of events to
 * handle. */
bool job_stands_still(struct job *job);

/* Does not end the process. */
struct job *job_free(struct job *job);
DEFINE_CLEANUP(struct job *, job_free)
#define _cleanup_job_ _cleanup_(job_freep)
