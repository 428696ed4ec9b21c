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

/* The worker: all state of headgated, driven by one event loop. Each event (a request, a uevent, the end of a
 * process) changes the inventory and schedules a step; the step decides what to do next. */

/* Deadlines of missing PVs and VGs; see deadline_check(). */
struct deadlines {
        struct job *unlock_query;    /* the systemctl that asks whether a disk is being unlocked, or NULL */
        uint64_t put_off_usec;       /* when all deadlines were last restarted; 0 if never */
        struct deadline_facts facts; /* as of the last check */
};

/* Number of watched configuration files, see refresh_config(). */
#define SETTINGS_FILES 5

/* The pvscan processes; see scan_start(). */
struct scans {
        struct job *job;        /* the current one, or NULL */
        uint64_t started_usec;  /* when the last one was started; 0 if none was */
        size_t max;             /* most devices for each; 0 for no limit */
        bool bisecting;         /* a device among the remaining ones makes pvscan fail or wait */
        struct dm_list overdue; /* those that wait for an unresponsive device; nothing waits for them */
};

struct worker {
        sd_event *event;
        int run_fd;     /* /run/headgate */
        int lvm_run_fd; /* /run/lvm */
        int running_fd; /* holds the lock on "running"; < 0 while leaving */

        struct inventory *inventory;
        struct dm_list expectations; /* see expectations.h */
        struct strv absent;          /* VGs that had not appeared at the end of boot, see absent_list() */
        struct settings settings;    /* of headgate.conf */
        struct stat settings_files[SETTINGS_FILES]; /* when they were last read */
        struct deadlines deadlines;
        struct uevents *uevents;
        struct gather gather; /* requests whose devices are not read yet */
        bool booting;         /* udev had not handled all devices of coldplug when the step began */
        bool queue_empty;     /* udev's queue was empty then, and coldplug had announced all devices */
        struct readers *readers;
        struct scans scans;
        struct dm_list jobs;               /* the vgchanges */
        struct dm_devices *active_devices; /* cached while requests are taken, if one needs them; else NULL */
        struct cookies *cookies;           /* with optimized rules, since the first vgchange; or NULL */
        struct load load;                  /* whether a processor is idle */
        uint64_t pause_usec;        /* end of the pause of VGs that boot does not wait for; see SLOTS_PAUSE_USEC */
        uint64_t look_usec;         /* when to look for unreported devices in udev's database */
        uint64_t first_device_usec; /* when the first device appeared; 0 if none has */
        size_t n_processors;
        struct job *reset_failed_job; /* the running "systemctl reset-failed", or NULL */
        struct config config;         /* lvm2's */
        struct alike alike;           /* the last failures of lvm2, to notice if it fails for any VG */
        bool event_activation;        /* lvm.conf's setting */
        bool passes_links; /* pass links to pvscan: a filter in lvm.conf may match them, and lvm2 does not look them up */
        bool imports_devices;   /* lvm2 has to be asked about the VG of / even if it is active */
        bool module_loaded;     /* a kernel module was loaded, which a failed VG may need */
        bool check_requests;    /* there may be pending requests */
        bool full;              /* /run is full, the state of VGs is not saved */
        bool leaving;           /* no longer listens; exits once udev's queue is empty */
        unsigned int n_ignored; /* datagrams that were not from root */

        sd_event_source *wakeup_source;
        sd_event_source *pending_source;
        sd_event_source *step_source; /* the timer of the next step */
        uint64_t next_step_usec;      /* when that is due at the latest */
        uint64_t idle_since_usec;
        uint64_t logged_usec; /* when the last timeline was logged; 0 if none was */
        uint64_t status_usec; /* when STATUS= was last set */
};

/* Creates a worker, which takes ownership of the lock `running_fd` and of the run directory `run_fd` in any case.
 * It takes over the work of an earlier worker, and starts to listen to udev and to the socket `wakeup_fd`, which
 * the caller owns; < 0 if there is none. Returns 0 or a negative errno. */
int worker_new(int run_fd, int running_fd, int wakeup_fd, struct worker **ret) _must_check_;
struct worker *worker_free(struct worker *worker);
DEFINE_CLEANUP(struct worker *, worker_free)
#define _cleanup_worker_ _cleanup_(worker_freep)

/* Runs until the worker has been idle for a while. Returns 0, or a negative errno if it cannot continue. */
int worker_run(struct worker *worker) _must_check_;

/* Schedules a step after the events that are pending now. */
static inline void worker_ask_step(struct worker *worker)
{
        worker->next_step_usec = 0;
        (void) sd_event_source_set_time(worker->step_source, 0);
        (void) sd_event_source_set_enabled(worker->step_source, SD_EVENT_ONESHOT);
}

/* Likewise, and the step takes requests. */
static inline void worker_check_requests(struct worker *worker)
{
        worker->check_requests = true;
        worker_ask_step(worker);
}

/* Schedules a step at `usec` (now_usec()) at the latest. For functions that run within a step. */
static inline void worker_wake_at(struct worker *worker, uint64_t usec)
{
        worker->next_step_usec = MIN(worker->next_step_usec, usec);
}

/* The parts of a step. Unless stated otherwise, they return 0, or a negative errno if the worker cannot continue,
 * after logging it. */

/* ------ requests.c: incoming requests; `userdata` of the callbacks is the worker ------ */

/* Takes an entry of the protocol, which is in working.d now. */
int requests_take_entry(const char *entry, void *userdata);

/* Takes a device that udev has reported. */
int requests_take_device(const struct uevents_device *reported, void *userdata);

/* Likewise, unless the device is known. */
int requests_take_unknown(const struct uevents_device *reported, void *userdata);

/* Enumerates all devices in udev's database. Returns 0, or a negative errno after logging it. */
int requests_enumerate(struct worker *worker);

/* Ends the request for a VG, if any, by its former name `name`: the VG was renamed or no longer exists. The record
 * may still have the old name; the request is moot, not lost. */
int requests_finish_group(struct worker *worker, struct vg_entry *group, const char *name);

/* Queues devices that were requested again after they were read. */
int requests_read_again(struct worker *worker);

/* Ends the requests of settled devices and VGs. Call after inventory_save(). */
int requests_release(struct worker *worker);

/* ------ intake.c: from devices to VGs ------ */

/* Looks up the names of devices in stage UNREAD, moves them to READING and adds them to `reading`. Removed devices
 * go on to be forgotten. */
int intake_prepare(struct worker *worker, struct reading *reading);

/* Adds the result of reading a device to the inventory of the worker `userdata`. */
int intake_result(const struct reader_result *result, void *userdata);

/* Updates VGs that were changed while the machine runs: their state, lvm2's records with their name, and whether
 * they still exist. Does nothing while devices are still to be read. */
int intake_recheck(struct worker *worker);

/* ------ scan.c: lvm2's records of PVs ------ */

/* Starts a pvscan that records all devices in stage UNRECORDED. Does nothing while a reader or a pvscan is busy, or
 * no vgchange could follow; for incomplete VGs alone, runs once a second at most. Each slow device has its own
 * pvscan. If a pvscan makes no progress, its devices are probed, and another one records those that respond; if all
 * respond, it is checked once more first. */
int scan_start(struct worker *worker);

/* ------ activate.c: from complete VGs to active LVs ------ */

/* Activates complete and recorded VGs, with one vgchange for each processor. VGs that become complete meanwhile are
 * the next batch.
 *
 * If a processor is idle though all vgchanges run, these wait for disks, udev or locks. Then more are started,
 * which take over VGs that the others have not reached. VGs that boot waits for go first; while more of them are
 * expected, the others run in small batches. A VG that may take long, or is locked by another command, has a
 * process of its own and delays no other VG. */
int activate_groups(struct worker *worker);

/* Whether a vgchange could start now for a VG that nothing waits for. */
bool activate_has_room(const struct worker *worker);

/* A vgchange has ended: settles its VGs by their active LVs. A job_exit_function. */
int activate_on_ended(struct job *job, int exit_status, const char *output, void *userdata);

/* ------ deadline.c ------ */

/* Has vg_next() decide on incomplete VGs whose deadline has passed, and reports expected VGs without any PV.
 * Coldplug does not count, as the missing disks may be next in udev's queue; nor does the unlocking of a LUKS
 * device, which may contain PVs. */
int deadline_check(struct worker *worker);

/* ------ handover.c: from one worker to the next ------ */

/* Adopts the vgchanges of an earlier worker, before listening to udev. Their VGs wait until they have ended. */
int handover_adopt(struct worker *worker);

/* Likewise for VGs that were unknown then, since the records were lost. */
int handover_adopt_again(struct worker *worker);

/* Sets "listening", so that udev starts no program for a device, and takes the unfinished and missed requests of
 * earlier workers. */
int handover_begin(struct worker *worker);

/* Whether there is work, or anything to wait for except PVs. */
bool handover_has_work(const struct worker *worker);

/* Called at the end of each step. Without work the worker stays for a while, then leaves without losing a request.
 * Returns 1 if it has left: it no longer holds "running", and has to end. Returns 0 if it stays. */
int handover_leave_if_idle(struct worker *worker);
