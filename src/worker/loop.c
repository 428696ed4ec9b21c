/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The worker's event loop: its event sources, and the step, which does everything that can be done at that moment. */

#include "worker/worker.h"

#include <sched.h>
#include <sys/inotify.h>
#include <systemd/sd-daemon.h>

#include "lvm/dm-devices.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"
#include "worker/report.h"
#include "worker/vg.h"

/* STATUS= is read by people, who need no faster updates. */
#define STATUS_INTERVAL_USEC (250 * USEC_PER_MSEC)

/* If a boot hangs, its timeline up to then must not be lost with the machine. */
#define TIMELINE_INTERVAL_USEC (30 * USEC_PER_SEC)

/* How often to check whether /run has room again. */
#define FULL_INTERVAL_USEC USEC_PER_SEC

/* How often to look for unreported devices, and which part of the time that may take at most. */
#define LOOK_INTERVAL_USEC (250 * USEC_PER_MSEC)
#define LOOK_SHARE 50

/* ------ configuration ------ */

/* Below the root. The time of a directory changes when a file in it is added, removed or replaced. */
static const char *const watched[SETTINGS_FILES] = {
        SETTINGS_FILE,
        "etc/lvm/lvm.conf",
        "etc/lvm/lvmlocal.conf",
        "etc/lvm/profile",
        "etc/lvm/devices",
};

/* Reads lvm.conf and headgate.conf if they, their profiles or the devices file changed (device, inode, size or
 * time). Called before each batch, so that a change applies to the next disk, as it does for lvm2. Errors in them
 * are logged, and do not prevent activation. scan_lvs is read only when headgate takes over (headgate-takeover(8)). */
static int refresh_config(struct worker *worker)
{
        bool first = !worker->config.backup_dir, activated = worker->event_activation;
        _cleanup_problems_ struct problems problems = {};
        _cleanup_close_ int root_fd = root_open();
        struct config config = {};
        struct settings settings = {};

        if (root_fd < 0)
                return log_error_errno(root_fd, "Failed to open /: %m");
        if (!files_have_changed(root_fd, watched, ELEMENTSOF(watched), worker->settings_files) && !first)
                return 0;
        if (settings_read(root_fd, &settings, &problems) < 0)
                return log_oom();
        settings_done(&worker->settings);
        worker->settings = settings;
        if (config_read(root_fd, &config, &problems) < 0)
                return log_oom();
        STRV_FOREACH(line, &problems.lines)
                log_warning("%s", *line);

        config_done(&worker->config);
        worker->config = config;
        worker->passes_links =
                (config.filter.set || config.global_filter.set) && lvm_version_takes_links_from_udev();
        worker->imports_devices = devices_file_is_to_be_made(root_fd, config.devicesfile);
        worker->event_activation = config_ask("global/event_activation", true);
        if (!first)
                log_info("Configuration of lvm2 or headgate changed, reloading.");
        if (!worker->event_activation && (first || activated))
                log_notice("event_activation=0 in lvm.conf, not activating anything.");
        return 0;
}

/* ------ event sources ------ */

static int on_module(void *userdata)
{
        struct worker *worker = userdata;

        worker->module_loaded = true;
        worker_ask_step(worker);
        return 0;
}

static int on_overflow(void *userdata)
{
        log_notice("udev monitor overflowed; asking udev for all devices.");
        return requests_enumerate(userdata);
}

/* udev's queue or a reader has made progress. */
static int on_progress(void *userdata)
{
        worker_ask_step(userdata);
        return 0;
}

static int on_pending(_unused_ sd_event_source *source, const struct inotify_event *event, void *userdata)
{
        if (event->mask & IN_Q_OVERFLOW || streq(event->name, FLAGS_PENDING))
                worker_check_requests(userdata);
        else if (streq(event->name, FLAGS_COLDPLUG))
                worker_ask_step(userdata);
        return 0;
}

/* The datagrams carry one bit only. */
static int on_wakeup(_unused_ sd_event_source *source, int fd, _unused_ uint32_t events, void *userdata)
{
        struct worker *worker = userdata;
        bool before = worker->n_ignored;
        int r = flags_receive_wakeups(fd, &worker->n_ignored);

        if (!before && worker->n_ignored)
                log_warning("Datagram is not a request, ignoring it.");
        if (r < 0)
                return log_error_errno(r, "Failed to receive from headgate.socket: %m");
        worker_check_requests(worker);
        if (r != FLAGS_WOKEN_TO_RESYNC)
                return 0;
        log_warning("A request could not be stored, /run may be full; asking udev for all devices.");
        return requests_enumerate(worker);
}

/* ------ the step ------ */

static int take_requests(struct worker *worker)
{
        int r;

        if (!worker->check_requests)
                return 0;
        worker->check_requests = false;
        r = refresh_config(worker);
        if (r < 0)
                return r;
        r = flags_take_requests(worker->run_fd, requests_take_entry, worker);
        worker->active_devices = dm_devices_free(worker->active_devices);
        return r < 0 ? log_error_errno(r, "Failed to take requests: %m") : 0;
}

static bool is_known(const struct text_id *text, void *userdata)
{
        const struct worker *worker = userdata;
        uint64_t seqno;

        return inventory_find_text(worker->inventory, text, &seqno);
}

/* udev adds a device to its database first, and reports it only after all programs of its rules have ended. While
 * udev is busy and the worker is not, look for new devices in the database. */
static int look_for_unreported(struct worker *worker)
{
        uint64_t now = now_usec();
        int r = 0;

        if (!worker->booting || worker->queue_empty || handover_has_work(worker))
                return 0;
        if (now >= worker->look_usec) {
                r = uevents_enumerate(worker->uevents, requests_take_unknown, worker);
                worker->look_usec = now + MAX(LOOK_INTERVAL_USEC, LOOK_SHARE * (now_usec() - now));
        }
        worker_wake_at(worker, worker->look_usec);
        return r < 0 ? log_error_errno(r, "Failed to look for unreported devices in udev's database: %m") : 0;
}

/* Reads the gathered devices once the batch is large enough. */
static int read_devices(struct worker *worker)
{
        _cleanup_reading_ struct reading reading = {};
        uint64_t gathered;
        int r;

        /* A reader that is busy calls on_progress(). */
        if (readers_are_quick(worker->readers))
                return 0;
        gathered =
                gather_until(&worker->gather, worker->booting, !worker->queue_empty, worker->inventory->now_usec);
        if (gathered > 0) {
                worker_wake_at(worker, gathered);
                return 0;
        }

        worker->gather = (struct gather){.read_usec = worker->inventory->now_usec};
        r = intake_prepare(worker, &reading);
        if (r < 0 || reading.n == 0)
                return r;
        r = refresh_config(worker);
        if (r < 0)
                return r;
        r = readers_start(worker->readers, READER_READ, &reading);
        return r < 0 ? log_error_errno(r, "Failed to start the disk reader: %m") : 0;
}

/* Parts before this one may hold, delay or queue devices, which no event announces. */
static int wait_for_devices(struct worker *worker)
{
        worker_wake_at(worker, inventory_end_holds(worker->inventory));
        if (worker->gather.first_usec > 0 || !inventory_has_device_before(worker->inventory, DEVICE_READING))
                return 0;
        gather_note(&worker->gather, true, worker->inventory->now_usec);
        worker_ask_step(worker);
        return 0;
}

/* A request ends only after its result is saved. VGs are activated even if /run is full. */
static int save_and_release(struct worker *worker)
{
        uint64_t until = inventory_finding_out_until(worker->inventory);
        bool was_full = worker->full;
        int r;

        if (until > 0) {
                worker_wake_at(worker, until);
                return 0;
        }
        r = inventory_save(worker->inventory);
        worker->full = r == -ENOSPC || r == -EDQUOT;
        if (worker->full) {
                if (!was_full)
                        log_error("/run/headgate is full; saving the state of VGs once there is room.");
                worker_wake_at(worker, worker->inventory->now_usec + FULL_INTERVAL_USEC);
                return 0;
        }
        if (r < 0)
                return log_error_errno(r, "Failed to save the state of VGs in /run/headgate: %m");
        if (was_full)
                log_notice("/run/headgate has room again, state of all VGs saved.");
        r = requests_release(worker);
        /* Ending the requests of removed devices has changed the inventory. */
        if (worker->inventory->changed)
                worker_ask_step(worker);
        return r;
}

static int withdraw_cookies(struct worker *worker)
{
        return dm_list_empty(&worker->jobs) ? cookies_withdraw(worker->cookies) : 0;
}

/* Boot is over: a new disk is no longer one of many. VGs that wait for PVs may wait for long, and must not delay it. */
static int finish_boot(struct worker *worker)
{
        if (!worker->booting || !worker->queue_empty || handover_has_work(worker) ||
                flags_set(worker->run_fd, FLAGS_BOOT_FINISHED) < 0)
                return 0;
        log_debug("All devices of coldplug are handled.");
        if (absent_list(worker->inventory, &worker->config, &worker->settings, &worker->absent) < 0)
                return log_oom();
        report_all_absent(&worker->absent);
        return 0;
}

static int step(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
        /* In this order, as each part uses the results of those before it, and a pvscan starts only if a vgchange
         * could follow. */
        static int (*const parts[])(struct worker *) = {take_requests, look_for_unreported, read_devices,
                intake_recheck, handover_adopt_again, activate_groups, scan_start, withdraw_cookies,
                vg_report_lost, wait_for_devices, deadline_check, requests_read_again, save_and_release,
                finish_boot};
        struct worker *worker = userdata;
        bool changes;
        int r = 0;

        inventory_ping(worker->inventory);
        worker->next_step_usec = USEC_INFINITY;
        worker->booting = flags_is_set(worker->run_fd, FLAGS_BOOT_FINISHED) == 0;
        /* During coldplug udev's queue may be empty for a moment, before the kernel announces more devices. */
        worker->queue_empty = uevents_queue_is_empty(worker->uevents) &&
                              (!worker->booting || flags_is_set(worker->run_fd, FLAGS_COLDPLUG) != 0);
        FOREACH_ELEMENT(part, parts)
                if (r >= 0)
                        r = (*part)(worker);
        if (r < 0)
                return r;
        if (worker->inventory->now_usec - worker->status_usec >= STATUS_INTERVAL_USEC ||
                !handover_has_work(worker)) {
                worker->status_usec = worker->inventory->now_usec;
                report_status(worker->inventory, &worker->absent);
        }
        if (worker->inventory->now_usec >= worker->logged_usec + TIMELINE_INTERVAL_USEC)
                report_timeline(worker->inventory, &worker->logged_usec);
        r = handover_leave_if_idle(worker);
        if (r != 0)
                return r < 0 ? r : sd_event_exit(worker->event, 0);

        /* While lvm2 activates, the queue becomes empty after the event of each LV. */
        changes = !worker->booting && worker->gather.first_usec > 0 && !worker->gather.urgent;
        uevents_watch(worker->uevents,
                (worker->booting && dm_list_empty(&worker->jobs)) || worker->leaving || changes,
                changes ? GATHER_CHANGES_USEC : 0);
        return sd_event_source_set_time(worker->step_source, worker->next_step_usec)
                       ?: sd_event_source_set_enabled(worker->step_source, SD_EVENT_ONESHOT);
}

/* ------ from start to end ------ */

struct worker *worker_free(struct worker *worker)
{
        if (!worker)
                return NULL;

        dm_devices_free(worker->active_devices);
        readers_free(worker->readers);
        job_free(worker->scans.job);
        FOREACH_LISTED(struct job, job, &worker->scans.overdue)
                job_free(job);
        FOREACH_LISTED(struct job, job, &worker->jobs)
                job_free(job);
        uevents_free(worker->uevents);
        cookies_free(worker->cookies);
        job_free(worker->deadlines.unlock_query);
        job_free(worker->reset_failed_job);
        expectations_done(&worker->expectations);
        strv_done(&worker->absent);
        inventory_free(worker->inventory);
        config_done(&worker->config);
        free(worker->alike.words);
        settings_done(&worker->settings);
        sd_event_source_disable_unref(worker->wakeup_source);
        sd_event_source_disable_unref(worker->pending_source);
        sd_event_source_disable_unref(worker->step_source);
        sd_event_unref(worker->event);
        closep(&worker->lvm_run_fd);
        closep(&worker->running_fd);
        closep(&worker->run_fd);
        free(worker);
        return NULL;
}

static int add_sources(struct worker *worker, int wakeup_fd)
{
        int r;

        /* One step handles all events that happened at one time. */
        r = signals_block()
                ?: sd_event_new(&worker->event)
                ?: MIN(sd_event_set_watchdog(worker->event, true), 0)
                ?: MIN(sd_event_set_signal_exit(worker->event, true), 0)
                ?: sd_event_add_inotify_fd(worker->event, &worker->pending_source, worker->run_fd, IN_CREATE | IN_ONLYDIR, on_pending, worker)
                ?: sd_event_add_time(worker->event, &worker->step_source, CLOCK_MONOTONIC, USEC_INFINITY, 1, step, worker)
                ?: sd_event_source_set_priority(worker->step_source, SD_EVENT_PRIORITY_IDLE);
        if (r >= 0 && wakeup_fd >= 0)
                r = sd_event_add_io(worker->event, &worker->wakeup_source, wakeup_fd, EPOLLIN, on_wakeup, worker);
        if (r < 0)
                return r;

        /* A worker that cannot continue exits, and the next one takes over. It must never continue with a dead
         * event source. */
        sd_event_source *const sources[] = {worker->pending_source, worker->step_source, worker->wakeup_source};
        FOREACH_ELEMENT(source, sources)
                if (*source)
                        (void) sd_event_source_set_exit_on_failure(*source, true);
        return 0;
}

int worker_new(int run_fd, int running_fd, int wakeup_fd, struct worker **ret)
{
        _cleanup_worker_ struct worker *worker = calloc(1, sizeof(*worker));
        cpu_set_t processors;
        int r;

        if (!worker) {
                close(run_fd);
                close(running_fd);
                return log_oom();
        }
        worker->run_fd = run_fd;
        worker->running_fd = running_fd;
        dm_list_init(&worker->expectations);
        dm_list_init(&worker->jobs);
        dm_list_init(&worker->scans.overdue);
        worker->n_processors = sched_getaffinity(0, sizeof(processors), &processors) < 0
                                       ? 1
                                       : (unsigned int) CPU_COUNT(&processors);

        r = flags_prepare(run_fd);
        if (r < 0)
                return log_error_errno(r, "Failed to create directories in /run/headgate: %m");
        worker->lvm_run_fd = online_open_directory();
        if (worker->lvm_run_fd < 0)
                return log_error_errno(worker->lvm_run_fd, "Failed to open /run/lvm: %m");

        r = refresh_config(worker);
        if (r < 0)
                return r;

        r = inventory_new(run_fd, worker->lvm_run_fd, &worker->inventory);
        if (r < 0)
                return log_error_errno(r, "Failed to load the state from /run/headgate: %m");
        r = add_sources(worker, wakeup_fd);
        if (r < 0)
                return log_error_errno(r, "Failed to set up the event loop: %m");
        r = readers_new(worker->event, is_known, intake_result, on_progress, worker, &worker->readers);
        if (r < 0)
                return log_oom();
        r = handover_adopt(worker);
        if (r < 0)
                return r;
        r = uevents_new(worker->event, requests_take_device, on_module, on_overflow, on_progress, worker,
                &worker->uevents); /* L1 */
        if (r < 0)
                return log_error_errno(r, "Failed to listen to udev: %m");
        r = handover_begin(worker);
        if (r < 0)
                return r;

        worker_check_requests(worker);
        *ret = TAKE_PTR(worker);
        return 0;
}

int worker_run(struct worker *worker)
{
        int r = sd_event_loop(worker->event);

        /* A callback has failed. */
        if (r < 0)
                (void) log_error_errno(r, "Event loop failed: %m");
        report_timeline(worker->inventory, &worker->logged_usec);
        if (worker->n_ignored > 1)
                log_warning("Ignored %u datagrams that were not requests from root.", worker->n_ignored);
        return r;
}
