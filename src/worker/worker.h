/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-event.h>

#include "worker/gather.h"
#include "worker/inventory.h"
#include "worker/job.h"
#include "worker/reader.h"
#include "worker/uevents.h"

/* The one worker: everything that headgated knows and does, driven by one event loop. Whatever happens, a request,
 * an event of udev, the end of a process, changes the inventory and asks for a step; the step decides what is to
 * be done next. */
struct worker {
        sd_event *event;
        int run_fd;     /* /run/headgate */
        int lvm_run_fd; /* /run/lvm */
        int running_fd; /* holds the lock on "running"; < 0 while leaving */

        struct inventory *inventory;
        struct uevents *uevents;
        struct gather gather;
        struct reader *reader; /* NULL if it is not at work */
        struct job *recording; /* the pvscan, or NULL */
        struct dm_list jobs;   /* the vgchanges */
        unsigned int n_processors;
        bool event_activation;  /* of lvm.conf */
        bool look;              /* there may be requests to be taken */
        bool proved;            /* has settled a VG: whatever failed before is forgotten */
        bool leaving;           /* does not listen any more, and waits for udev's queue to end the run */
        unsigned int n_ignored; /* datagrams that were not from root */

        sd_event_source *wakeup_source;
        sd_event_source *pending_source;
        sd_event_source *step_source;
        sd_event_source *timer_source;
        uint64_t idle_since_usec;
        uint64_t status_usec; /* when STATUS= was last set */
};

/* Makes a worker that holds the lock `running_fd` (taken over in any case) of the run directory `run_fd`
 * (likewise), takes what an earlier one left, and starts to listen to udev and to the socket `wakeup_fd` (not
 * taken over; < 0 if there is none). Returns 0 or a negative errno. */
int worker_new(int run_fd, int running_fd, int wakeup_fd, struct worker **ret) _must_check_;
struct worker *worker_free(struct worker *worker);
DEFINE_CLEANUP(struct worker *, worker_free)
#define _cleanup_worker_ _cleanup_(worker_freep)

/* Works until there has been nothing to do for a while. Returns 0 or the negative errno that made it impossible to
 * go on. */
int worker_run(struct worker *worker) _must_check_;

/* Has worker_step() run after the events that are there now. */
void worker_ask_step(struct worker *worker);
