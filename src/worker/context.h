/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/stat.h>
#include <systemd/sd-event.h>

#include "fast-rules/cookies.h"
#include "lvm/command.h"
#include "reader/reader.h"
#include "shared/settings.h"
#include "worker/expectation.h"
#include "worker/gather.h"
#include "worker/inventory.h"
#include "worker/uevents.h"

/* How long is waited for what does not come; see deadline.h. */
struct deadlines {
        struct job *question;  /* the systemctl that tells whether a disk is being unlocked, or NULL */
        uint64_t asked_usec;   /* when that was answered last; 0 if never */
        uint64_t put_off_usec; /* when there was last a reason to wait longer; 0 if never */
        uint64_t due_usec;     /* since when one has passed and devices are still to be read; 0 if none has */
        bool unlocking;        /* the last answer was that one is */
};

/* How many files are watched, see settings-watch.h. */
#define SETTINGS_FILES 6

/* The pvscans; see recording.h. */
struct recordings {
        struct job *job;        /* the one that is waited for, or NULL */
        size_t max;             /* how many devices one is to be shown at most; 0 for all */
        bool bisecting;         /* one of those that are left is known to be too much for a pvscan */
        struct dm_list overdue; /* those that wait for a disk, and are not waited for */
};

/* The one worker: everything that headgated knows and does, driven by one event loop. Whatever happens, a request,
 * an event of udev, the end of a process, changes the inventory and asks for a step; the step decides what is to
 * be done next. */
struct worker {
        sd_event *event;
        int run_fd;     /* /run/headgate */
        int lvm_run_fd; /* /run/lvm */
        int running_fd; /* holds the lock on "running"; < 0 while leaving */

        struct inventory *inventory;
        struct expectations expectations;
        struct settings settings;                   /* of headgate.conf */
        struct stat settings_files[SETTINGS_FILES]; /* as they were when they were read */
        struct deadlines deadlines;
        struct uevents *uevents;
        struct gather gather;
        struct readers *readers;
        struct recordings recordings;
        struct dm_list jobs;                   /* the vgchanges */
        struct active_devices *active_devices; /* while requests are taken and once one needs them; else NULL */
        struct cookies *cookies;               /* since the first of them, where udev has quicker rules; or NULL */
        unsigned int n_processors;
        char *backup_directory; /* lvm2's */
        bool event_activation;  /* of lvm.conf */
        bool shows_links;       /* a filter in lvm.conf may mean links, and lvm2 does not look for them itself */
        bool imports_devices;   /* lvm2 wants to be asked about the VG of / also if it is active */
        bool check_requests;    /* there may be requests to be taken */
        bool full;              /* /run has no room for the state of VGs */
        bool proved;            /* has settled a VG: whatever failed before is forgotten */
        bool leaving;           /* does not listen any more, and waits for udev's queue to end the run */
        unsigned int n_ignored; /* datagrams that were not from root */

        sd_event_source *wakeup_source;
        sd_event_source *pending_source;
        sd_event_source *step_source;
        sd_event_source *timer_source;
        uint64_t next_step_usec; /* the latest time of the next step, as far as this one knows */
        uint64_t idle_since_usec;
        uint64_t status_usec; /* when STATUS= was last set */
        char *status;         /* and what to, or NULL */
};

/* Has the worker take its next step after the events that are there now. */
static inline void worker_ask_step(struct worker *worker)
{
        (void) sd_event_source_set_enabled(worker->step_source, SD_EVENT_ONESHOT);
}

/* Likewise, with a look at the requests. */
static inline void worker_check_requests(struct worker *worker)
{
        worker->check_requests = true;
        worker_ask_step(worker);
}

/* Has the worker take its next step at that time of now_usec() at the latest. For what is called in a step. */
static inline void worker_wake_at(struct worker *worker, uint64_t usec)
{
        worker->next_step_usec = MIN(worker->next_step_usec, usec);
}
