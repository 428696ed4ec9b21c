/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/stat.h>
#include <systemd/sd-event.h>

#include "fast-rules/cookies.h"
#include "inventory/batches.h"
#include "inventory/expectations.h"
#include "inventory/outcome.h"
#include "lvm/command.h"
#include "lvm/config.h"
#include "reader/reader.h"
#include "shared/settings.h"
#include "worker/uevents.h"

/* The one worker: everything that headgated knows and does, driven by one event loop. Whatever happens, a request, an event
 * of udev, the end of a process, changes the inventory and asks for a step; the step decides what is to be done next. */

/* How far boot is. */
struct phase {
        bool booting;     /* coldplug has not been worked off yet */
        bool queue_empty; /* udev has no event in its queue, and coldplug has announced all devices */
};

/* How long is waited for what does not come; see deadline_check(). */
struct deadlines {
        struct job *question;        /* the systemctl that tells whether a disk is being unlocked, or NULL */
        uint64_t put_off_usec;       /* when there was last a reason to wait longer; 0 if never */
        struct deadline_facts facts; /* as of the last look */
};

/* How many files are watched, see refresh_config(). */
#define SETTINGS_FILES 5

/* The pvscans; see scan_start(). */
struct scans {
        struct job *job;        /* the one that is waited for, or NULL */
        uint64_t started_usec;  /* when one was last started; 0 if none was */
        size_t max;             /* how many devices one is to be shown at most; 0 for all */
        bool bisecting;         /* one of those that are left is known to be too much for a pvscan */
        struct dm_list overdue; /* those that wait for a disk, and are not waited for */
};

struct worker {
        sd_event *event;
        int run_fd;     /* /run/headgate */
        int lvm_run_fd; /* /run/lvm */
        int running_fd; /* holds the lock on "running"; < 0 while leaving */

        struct inventory *inventory;
        struct expectations expectations;
        struct strv absent;                         /* see absent_list(), as of the end of boot */
        struct settings settings;                   /* of headgate.conf */
        struct stat settings_files[SETTINGS_FILES]; /* as they were when they were read */
        struct deadlines deadlines;
        struct uevents *uevents;
        struct gather gather;
        struct phase phase; /* at the beginning of the step */
        struct readers *readers;
        struct scans scans;
        struct dm_list jobs;               /* the vgchanges */
        struct dm_devices *active_devices; /* while requests are taken and once one needs them; else NULL */
        struct cookies *cookies;           /* since the first of them, where udev has quicker rules; or NULL */
        struct load load;
        uint64_t pause_usec;        /* when VGs that boot does not wait for may go on; see SLOTS_PAUSE_USEC */
        uint64_t look_usec;         /* when to look for devices that udev has not reported */
        uint64_t first_device_usec; /* when the first device came; 0 if none has */
        size_t n_processors;
        struct job *forgetting; /* the systemctl that has systemd forget units that have failed, or NULL */
        struct config config;   /* lvm2's */
        struct alike alike;     /* what lvm2 has said when it failed for one VG alone */
        bool event_activation;  /* of lvm.conf */
        bool shows_links;       /* a filter in lvm.conf may mean links, and lvm2 does not look for them itself */
        bool imports_devices;   /* lvm2 wants to be asked about the VG of / also if it is active */
        bool module_loaded;     /* a kernel module, which a VG that has just failed may have wanted */
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
        uint64_t logged_usec; /* when the timeline was last logged, of all VGs up to then; 0 if of none */
        uint64_t status_usec; /* when STATUS= was last set */
        char *status;         /* and what to, or NULL */
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

/* What a step is made of. Unless something else is said, these functions return 0, or a negative errno if the worker cannot go
 * on, which is logged. */

/* ------ requests.c: what the worker, the `userdata` of the callbacks, is asked for ------ */

/* An entry of the protocol that is now in working.d. */
int requests_take_entry(const char *entry, void *userdata);

/* A device that udev tells of. */
int requests_take_device(const struct uevents_device *told, void *userdata);

/* The same, unless the device is known. */
int requests_take_unknown(const struct uevents_device *told, void *userdata);

/* Has udev tell of all devices. Returns 0 or a negative errno, which is logged. */
int requests_enumerate(struct worker *worker);

/* Ends the request for a VG, if there is one, by the name that it had then: it has another one now, or no longer exists. The
 * record may still have the old name, so this is not lost but moot. */
int requests_finish_group(struct worker *worker, struct managed_group *group, const char *name);

/* Queues devices that were asked for again since they were read. */
int requests_read_again(struct worker *worker);

/* Ends the requests whose devices and VGs are settled. Call after the inventory was saved. */
int requests_release(struct worker *worker);

/* ------ intake.c: from devices to VGs ------ */

/* Finds out what the devices of stage UNREAD are called, moves them to READING and adds them to `reading`;
 * those that were removed go on to be forgotten. */
int intake_prepare(struct worker *worker, struct reading *reading);

/* Enters into the inventory what the reader of the worker, which is `userdata`, has found on a device. */
int intake_result(const struct reader_result *result, void *userdata);

/* Puts in order what was changed: the VG's state, lvm2's records that have its name, the VG itself if it no longer exists.
 * Does nothing while devices are still to be read. */
int intake_recheck(struct worker *worker);

/* ------ scan.c: lvm2's own account of which PVs there are ------ */

/* Has one pvscan record all devices of stage UNRECORDED. Does nothing while a reader is busy, a pvscan is running, or no vgchange
 * could follow; for incomplete VGs alone, once a second. Slow devices have a pvscan of their own each. If one makes no progress,
 * its devices are probed, and another one gets those that respond; if all do, it first has the time until the next look. */
int scan_start(struct worker *worker);

/* ------ activate.c: from complete VGs to active LVs ------ */

/* Activates the VGs that are complete and recorded: as many vgchanges at a time as there are processors, each with its share
 * of them. What becomes complete meanwhile is the next batch. While a processor has nothing to do though vgchanges are at work,
 * these wait, for disks, for udev or for a lock, each for one VG after the other: then there are more of them, and they take
 * over VGs that others have not come to. VGs that boot waits for go first, and while more of them are expected, the others go in
 * small batches. VGs that may take long get a process each, and hold up nobody; nor does a VG that another command has locked. */
int activate_groups(struct worker *worker);

/* Whether a vgchange could be started now for a VG that nobody waits for. */
bool activate_has_room(const struct worker *worker);

/* A vgchange has ended, as job_exit_function: settles its VGs by what is active. */
int activate_on_ended(struct job *job, int exit_status, const char *output, void *userdata);

/* ------ deadline.c ------ */

/* Has vg_next() decide on incomplete VGs whose deadline has passed, and reports expected VGs of which no PV has appeared in
 * time. The time of coldplug does not count, as the missing disks may be next in udev's queue; nor does the time in which a
 * LUKS device is being unlocked, as PVs may be inside. */
int deadline_check(struct worker *worker);

/* ------ handover.c: from one worker to the next ------ */

/* Before listening to udev: follows the vgchanges that an earlier worker has left running, and leaves their VGs to these until
 * they have ended. */
int handover_adopt(struct worker *worker);

/* The same for VGs that were not known then, since the records were lost. */
int handover_adopt_again(struct worker *worker);

/* Says that the worker listens to udev, so that no program need run for a device, and takes whatever an earlier one had not
 * finished, or has not heard. */
int handover_begin(struct worker *worker);

/* Whether there is anything to be done, or to be waited for but PVs. */
bool handover_has_work(const struct worker *worker);

/* To be called at the end of each step: with nothing to do the worker stays for a while, and leaves without losing a request.
 * Returns 1 if it has left: it no longer holds "running", and is to end. 0 if it stays. */
int handover_leave_if_idle(struct worker *worker);
