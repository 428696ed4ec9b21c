/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "follow/follow.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>

#include "shared/log.h"
#include "shared/program.h"

/* Following must not slow down the boot: changes are gathered for a moment, and with many VGs the next look is not before ten
 * times as long as the last one took. */
#define GATHER_USEC (50 * USEC_PER_MSEC)
#define PAUSE_MIN_USEC (250 * USEC_PER_MSEC)
#define PAUSE_FACTOR 10

/* ------ a shutdown: asks PID 1 about the teardown units ------ */

static const char *const units[TEARDOWN_UNITS_N] = {"headgate-teardown.service", "headgate-teardown-net.service"};

struct line {
        uint64_t time_usec;
        const char *event, *unit, *status;
};

static const struct column columns[] = {
        COLUMN("TIME", IN_TABLE, MOMENT, time_usec, ""),
        COLUMN("TIME-USEC", IN_JSON, NUMBER, time_usec, ""),
        COLUMN("EVENT", ALWAYS, STRING, event, ""),
        COLUMN("UNIT", ALWAYS, STRING, unit, ""),
        COLUMN("STATUS", ALWAYS, STRING, status, ""),
};

/* Keeps the status, which may be NULL, to print it once. */
static int print_status(struct follower *follower, size_t unit, char *status, bool json)
{
        const struct table_options options = {.json = json, .no_headings = true};
        _cleanup_table_ struct table table = {};
        char *before = follower->printed[unit];
        bool same = before && status && streq(before, status);
        int r;

        free(before);
        follower->printed[unit] = status;
        if (!status || same)
                return 0;
        r = table_new(TABLE_KIND("units", columns), &options, &table);
        if (r < 0)
                return r;
        table.by_line = true;
        table_add_line(&table, NULL, &(struct line){now_usec(), "teardown", units[unit], status});
        return table_print(&table);
}

/* Returns 1 to go on; 0 after teardown; -ENODATA if systemd does not answer; or another negative errno. */
static int ask_systemd(struct follower *follower, bool json)
{
        const struct systemd *systemd = &follower->systemd;
        _cleanup_free_ char *system = systemd_get_property(systemd, NULL, "SystemState");
        bool is_left = false;
        int r;

        if (!system)
                return -ENODATA;
        follower->shutting_down = streq(system, "stopping");
        for (size_t i = 0; i < TEARDOWN_UNITS_N; i++) {
                _cleanup_free_ char *state = systemd_get_property(systemd, units[i], "ActiveState"),
                                    *status = NULL;
                bool active, stopping;

                if (!state)
                        return -ENODATA;
                active = streq(state, "active");
                stopping = streq(state, "deactivating");
                is_left |= active || stopping;
                if (active && follower->shutting_down)
                        status = strdup("waiting for services to stop");
                /* "412 of 1015 devices down, 3 trees waiting for: /srv/a, /srv/b, /srv/c" */
                else if (stopping)
                        status = systemd_get_property(systemd, units[i], "StatusText");
                if (stopping && status && *status == '\0')
                        free(TAKE_PTR(status));
                r = print_status(follower, i, TAKE_PTR(status), json);
                if (r < 0)
                        return r;
        }
        return !follower->shutting_down || is_left;
}

/* ------ events ------ */

static int on_inotify(sd_event_source *source _unused_, const struct inotify_event *event _unused_, void *userdata)
{
        struct follower *follower = userdata;

        follower->changed = true;
        return 0;
}

/* All that there is: where messages were lost, the kernel drops others until the last one is read. */
static int on_udev(sd_event_source *source _unused_, int fd _unused_, uint32_t revents _unused_, void *userdata)
{
        struct follower *follower = userdata;

        for (;;) {
                _cleanup_udev_device_ struct udev_device *device =
                        monitor_receive(&follower->monitor, &follower->changed);

                if (!device)
                        return 0;
                follower->changed |= skip_prefix(udev_device_get_sysname(device) ?: "", "dm-") != NULL;
        }
}

/* Both units' paths have that, as sd_bus_path_encode() makes them. */
static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error _unused_)
{
        struct follower *follower = userdata;

        if (strstr(sd_bus_message_get_path(message) ?: "", "/headgate_2dteardown") ||
                sd_bus_message_is_signal(message, "org.freedesktop.DBus.Local", "Disconnected") > 0)
                follower->changed = follower->ask_systemd = true;
        return 0;
}

static int on_signal(
        sd_event_source *source _unused_, const struct signalfd_siginfo *info _unused_, void *userdata)
{
        struct follower *follower = userdata;

        follower->interrupted = true;
        return 0;
}

/* Nobody reads the pipe any more, so this ends as if it had written to it. */
static int on_hangup(sd_event_source *source _unused_, int fd _unused_, uint32_t revents _unused_, void *userdata)
{
        struct follower *follower = userdata;

        (void) raise(SIGPIPE);
        follower->interrupted = true;
        return 0;
}

/* ------ from start to end ------ */

static int watch_devices(struct follower *follower)
{
        int r;

        r = monitor_open(&follower->monitor);
        if (r >= 0)
                r = udev_monitor_filter_add_match_subsystem_devtype(follower->monitor.monitor, "block", "disk");
        return r < 0 ? r : monitor_start(&follower->monitor, follower->event, on_udev, follower);
}

/* Without systemd, there is no shutdown to be followed. */
static int watch_systemd(struct follower *follower, int root_fd)
{
        int r;

        r = systemd_connect(root_fd, &follower->systemd);
        if (r >= 0 && follower->systemd.bus)
                r = sd_bus_add_filter(follower->systemd.bus, NULL, on_message, follower);
        if (r >= 0 && follower->systemd.bus)
                r = sd_bus_attach_event(follower->systemd.bus, follower->event, SD_EVENT_PRIORITY_NORMAL);
        follower->ask_systemd = r >= 0;
        if (r < 0)
                log_debug("Failed to connect to systemd: %s", strerror(-r));
        return r == -ENOMEM ? r : 0;
}

int follower_start(struct follower *follower, const struct sources *sources)
{
        _cleanup_free_ char *path = string_format("/proc/self/fd/%i/.", sources->run_fd);
        static const int signals[] = {SIGINT, SIGTERM};
        int r;

        if (!path)
                return -ENOMEM;
        follower->look_usec = now_usec();
        r = sd_event_new(&follower->event);
        FOREACH_ARRAY(signal, signals, ELEMENTSOF(signals))
                if (r >= 0)
                        r = sd_event_add_signal(
                                follower->event, NULL, *signal | SD_EVENT_SIGNAL_PROCMASK, on_signal, follower);
        if (r >= 0)
                r = sd_event_add_inotify(follower->event, &follower->run_source, path,
                        IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ONLYDIR, on_inotify, follower);
        if (r < 0)
                return r;
        /* A file cannot hang up. */
        r = sd_event_add_io(follower->event, NULL, STDOUT_FILENO, 0, on_hangup, follower);
        if (r < 0 && r != -EPERM)
                return r;
        if (!root_is_chosen()) {
                r = watch_devices(follower);
                if (r < 0)
                        return r;
        }
        return watch_systemd(follower, sources->root_fd);
}

void follower_done(struct follower *follower)
{
        FOREACH_ARRAY(status, follower->printed, TEARDOWN_UNITS_N)
                free(*status);
        systemd_done(&follower->systemd);
        monitor_close(&follower->monitor);
        sd_event_source_disable_unref(follower->run_source);
        sd_event_unref(follower->event);
}

/* After an interruption there is one more look, for changes just before it. */
static int wait_for_change(struct follower *follower)
{
        uint64_t now = now_usec(), until;
        uint64_t next_look_usec = now + MAX(PAUSE_MIN_USEC, PAUSE_FACTOR * (now - follower->look_usec));
        int r = 0;

        if (follower->interrupted)
                return 0;
        while (r >= 0 && !follower->changed && !follower->interrupted)
                r = sd_event_run(follower->event, USEC_INFINITY);
        until = MAX(now_usec() + GATHER_USEC, next_look_usec);
        while (r >= 0 && !follower->interrupted && (now = now_usec()) < until)
                r = sd_event_run(follower->event, until - now);
        follower->changed = false;
        follower->look_usec = now_usec();
        return r < 0 ? r : 1;
}

int follower_next(struct follower *follower, const struct table_options *options)
{
        int r = 1;

        if (follower->ask_systemd) {
                follower->ask_systemd = false;
                r = ask_systemd(follower, options->json);
        }
        if (r == -ENODATA) {
                /* At the very end of a shutdown PID 1 stops answering. Without a shutdown, the VGs can still be followed. */
                log_debug("Failed to ask systemd.");
                systemd_done(&follower->systemd);
                r = !follower->shutting_down;
        }
        return r <= 0 ? r : wait_for_change(follower);
}
