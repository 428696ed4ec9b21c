/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From one worker to the next: adopts the vgchanges and requests of an earlier worker. Also the steps L1 to L4, W5
 * and W6 of flags.h, by which a worker starts to receive all devices, and leaves without losing one. */

#include <fcntl.h>
#include <systemd/sd-login.h>

#include "lvm/dm-devices.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"
#include "worker/vg.h"

/* How long an idle worker stays. While it runs, a new disk starts no process; after it has left, it uses no memory. */
#define IDLE_USEC (10 * USEC_PER_SEC)

static int clear(const struct worker *worker, const char *flag)
{
        int r = flags_clear(worker->run_fd, flag);

        return r < 0 ? log_error_errno(r, "Failed to remove /run/headgate/%s: %m", flag) : 0;
}

/* ------ vgchanges of an earlier worker ------ */

/* The VGs of a vgchange are the arguments after "--", each terminated by NUL. Returns whether the process is one. */
static int adopt_groups(struct worker *worker, struct job *job)
{
        _cleanup_free_ char *command_line = NULL;
        bool is_vgchange = false, names = false;
        size_t size;
        int r;

        /* A process that has just ended has no command line. */
        if (read_file_at(AT_FDCWD, path_format("/proc/%i/cmdline", job->command.pid).text, &command_line, &size) <
                0)
                return 0;
        for (const char *word = command_line; word < command_line + size; word += strlen(word) + 1) {
                struct vg_entry *group;

                if (!names) {
                        is_vgchange = is_vgchange || streq(word, "vgchange");
                        names = is_vgchange && streq(word, "--");
                        continue;
                }
                group = names_find(worker->inventory, word);
                if (!group || group->job)
                        continue;
                r = vg_take(worker, group, &(struct vg_input){.event = VG_ADOPTED});
                if (r < 0)
                        return r;
                if (group->vg->status != VG_STATUS_ACTIVATING)
                        continue;
                group->job = job;
                if (group->vg->activating_usec == 0)
                        group->vg->activating_usec = now_usec();
        }
        return names;
}

static int adopt_process(struct worker *worker, pid_t pid)
{
        struct job *job;
        int r = job_adopt(worker->event, pid, activate_on_ended, worker, &job);

        if (r == -ESRCH)
                return 0;
        if (r < 0)
                return r;

        r = adopt_groups(worker, job);
        if (r <= 0) {
                /* A reader that is about to end, or a pvscan: its devices are recorded again. */
                job_free(job);
                return r;
        }
        /* Without records each VG is checked for active LVs when a slot is free, which must not wait for this job. */
        job->slot = worker->inventory->records_lost ? SLOT_SLOW : SLOT_PLAIN;
        log_notice("Waiting for vgchange of an earlier worker (process %i).", pid);
        dm_list_add(&worker->jobs, &job->list);
        return 0;
}

int handover_adopt(struct worker *worker)
{
        _cleanup_free_ char *cgroup = NULL, *pids = NULL;
        int r;

        /* A worker that was started by hand and killed leaves this flag; otherwise ExecStopPost= removes it. */
        r = clear(worker, FLAGS_COMPLETING);
        if (r < 0)
                return r;
        /* A worker that is started by hand has no cgroup of its own, with no earlier worker in it. */
        if (!secure_getenv("INVOCATION_ID") || sd_pid_get_cgroup(0, &cgroup) < 0)
                return 0;
        r = read_file_at(AT_FDCWD, path_format("/sys/fs/cgroup%s/cgroup.procs", cgroup).text, &pids, NULL);
        if (r < 0) {
                /* This matters only if an earlier worker ended unexpectedly. */
                if (flags_is_set(worker->run_fd, FLAGS_LISTENING) > 0 ||
                        flags_is_set(worker->run_fd, FLAGS_RESYNC) > 0)
                        log_warning("Failed to list the processes of headgate.service (%s), not waiting for a "
                                    "vgchange of an earlier worker. This needs cgroup v2.",
                                strerror(-r));
                return 0;
        }

        FOREACH_LINE(line, pids) {
                uint32_t pid;

                if (parse_u32(line, &pid) < 0 || (pid_t) pid == getpid())
                        continue;
                r = adopt_process(worker, (pid_t) pid);
                if (r < 0)
                        return log_error_errno(r, "Failed to follow process %u: %m", pid);
        }
        return 0;
}

int handover_adopt_again(struct worker *worker)
{
        if (!worker->inventory->records_lost || dm_list_empty(&worker->inventory->groups[VG_STATUS_COMPLETE]))
                return 0;
        FOREACH_LISTED(struct job, job, &worker->jobs) {
                int r = job->kind == JOB_ADOPTED ? adopt_groups(worker, job) : 0;

                if (r < 0)
                        return log_error_errno(r, "Failed to follow process %i: %m", job->command.pid);
        }
        return 0;
}

/* ------ listening ------ */

static int listen_to_udev(const struct worker *worker)
{
        int r = flags_set(worker->run_fd, FLAGS_LISTENING);

        return r < 0 ? log_error_errno(r, "Failed to set /run/headgate/listening: %m") : 0;
}

int handover_begin(struct worker *worker)
{
        int was_listening = flags_is_set(worker->run_fd, FLAGS_LISTENING);
        int resync = flags_is_set(worker->run_fd, FLAGS_RESYNC);
        int soft_reboot = flags_is_set(worker->run_fd, FLAGS_SOFT_REBOOT);
        /* Unreadable flags count as set. */
        bool begins_anew = was_listening || resync || soft_reboot || worker->inventory->records_lost;
        int r;

        /* During boot, and after a worker was killed, no timeline has been logged. */
        if (!begins_anew && flags_is_set(worker->run_fd, FLAGS_BOOT_FINISHED) > 0)
                worker->logged_usec = worker->inventory->now_usec;
        r = listen_to_udev(worker);
        if (r < 0)
                return r;
        if (begins_anew) {
                if (soft_reboot > 0)
                        log_info("Soft reboot; asking udev for all devices.");
                else if (worker->inventory->records_lost)
                        log_notice("Asking udev for all devices.");
                else
                        log_notice("An earlier worker ended unexpectedly; asking udev for all devices.");
                r = requests_enumerate(worker);
                if (r < 0)
                        return r;
        }

        r = flags_take_left_over(worker->run_fd, requests_take_entry, worker);
        worker->active_devices = dm_devices_free(worker->active_devices);
        if (r < 0)
                return log_error_errno(r, "Failed to take the requests of an earlier worker: %m");
        return clear(worker, FLAGS_RESYNC) ?: clear(worker, FLAGS_SOFT_REBOOT);
}

bool handover_has_work(const struct worker *worker)
{
        const struct inventory *inventory = worker->inventory;

        return inventory_has_device_before(inventory, DEVICE_KNOWN) || worker->check_requests ||
               worker->scans.job || worker->deadlines.unlock_query || worker->reset_failed_job ||
               !dm_list_empty(&worker->jobs) || !dm_list_empty(&inventory->groups[VG_STATUS_COMPLETE]);
}

/* The worker was about to leave, but there is new work. */
static int stay(struct worker *worker)
{
        worker->leaving = false;
        worker->idle_since_usec = 0;
        worker_check_requests(worker);
        return listen_to_udev(worker);
}

/* Leaves, by the steps L2 to L4, W5 and W6 of flags.h. The first call does L2, a later one the others, as udev needs
 * time to empty its queue. Until then "resync" stands for the events that this worker might lose. Returns 1 if the
 * worker has left. */
static int leave(struct worker *worker)
{
        int r;

        if (!worker->leaving) {
                report_timeline(worker->inventory, &worker->logged_usec);
                /* L2: from now on the rule makes a request for each device. */
                r = flags_end_listening(worker->run_fd);
                if (r < 0)
                        return log_error_errno(r, "Failed to clear /run/headgate/listening: %m");
                worker->leaving = true;
                worker_ask_step(worker);
                return 0;
        }

        /* L3: the last events whose rule has seen "listening". */
        if (!worker->queue_empty)
                return 0;
        r = uevents_drain(worker->uevents) ?: cookies_drain(worker->cookies);
        if (r < 0)
                return r;
        if (handover_has_work(worker))
                return stay(worker);

        /* L4: no event is missing. */
        r = clear(worker, FLAGS_RESYNC);
        if (r < 0)
                return r;
        /* W5: from now on a request starts another worker. W6: one that was made before has not. */
        closep(&worker->running_fd);
        worker->running_fd = -EBADF;
        r = flags_ask_pending(worker->run_fd);
        if (r == 0)
                return 1;
        if (r > 0)
                r = flags_take_running(worker->run_fd, &worker->running_fd);
        if (r < 0)
                return log_error_errno(r, "Failed to check for requests before leaving: %m");
        return r == FLAGS_IS_RUNNING ? 1 : stay(worker);
}

int handover_leave_if_idle(struct worker *worker)
{
        uint64_t now = worker->inventory->now_usec;

        /* A scheduled step counts as work. */
        if (handover_has_work(worker) || worker->next_step_usec != USEC_INFINITY) {
                worker->idle_since_usec = 0;
                return worker->leaving ? stay(worker) : 0;
        }
        /* It was started early to receive all disks from udev: stay until udev has handled coldplug. */
        if (worker->booting && !worker->queue_empty)
                return 0;

        if (worker->idle_since_usec == 0)
                worker->idle_since_usec = now;
        if (now - worker->idle_since_usec >= IDLE_USEC)
                return leave(worker);
        worker_wake_at(worker, worker->idle_since_usec + IDLE_USEC);
        return 0;
}
