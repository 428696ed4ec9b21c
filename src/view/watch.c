/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "view/watch.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>

#include "shared/program.h"
#include "shared/util.h"

/* Watching must not slow down the boot. So changes are gathered for a moment, and the pause between two looks is ten times the
 * duration of the last look. */
#define GATHER_USEC (50 * USEC_PER_MSEC)
#define PAUSE_MIN_USEC (250 * USEC_PER_MSEC)
#define PAUSE_FACTOR 10

static int on_inotify(sd_event_source *source _unused_, const struct inotify_event *event _unused_, void *userdata)
{
        struct watch *watch = userdata;

        watch->changed = true;
        return 0;
}

/* Reads all events: after an overflow, the kernel drops further events until all were read. */
static int on_udev(sd_event_source *source _unused_, int fd _unused_, uint32_t revents _unused_, void *userdata)
{
        struct watch *watch = userdata;

        for (;;) {
                _cleanup_udev_device_ struct udev_device *device =
                        monitor_receive(&watch->monitor, &watch->changed);

                if (!device)
                        return 0;
                watch->changed |= skip_prefix(udev_device_get_sysname(device) ?: "", "dm-") != NULL;
        }
}

/* The reader of the pipe has exited: ends as if writing to it. */
static int on_hangup(sd_event_source *source, int fd _unused_, uint32_t revents _unused_, void *userdata)
{
        struct watch *watch = userdata;

        watch->hung_up = true;
        (void) raise(SIGPIPE);
        return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

int watch_start(struct watch *watch, const struct sources *sources)
{
        struct path path = path_format("/proc/self/fd/%i/.", sources->run_fd);
        int r = sd_event_new(&watch->event)
                        ?: sd_event_add_inotify(watch->event, &watch->run_source, path.text,
                                   IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ONLYDIR, on_inotify,
                                   watch);

        if (r < 0)
                return r;
        /* A regular file cannot be watched, and has no reader that could exit. */
        r = sd_event_add_io(watch->event, NULL, STDOUT_FILENO, 0, on_hangup, watch);
        if (r < 0 && r != -EPERM)
                return r;
        if (root_is_chosen())
                return 0;
        return monitor_open(&watch->monitor, NULL) ?: monitor_start(&watch->monitor, watch->event, on_udev, watch);
}

void watch_done(struct watch *watch)
{
        monitor_close(&watch->monitor);
        sd_event_source_disable_unref(watch->run_source);
        sd_event_unref(watch->event);
}

int watch_wait(struct watch *watch, uint64_t took_usec)
{
        uint64_t now = now_usec(), until;
        uint64_t next_look_usec = now + MAX(PAUSE_MIN_USEC, PAUSE_FACTOR * took_usec);
        int r = 0;

        while (r >= 0 && !watch->changed && !watch->hung_up)
                r = sd_event_run(watch->event, USEC_INFINITY);
        until = MAX(now_usec() + GATHER_USEC, next_look_usec);
        while (r >= 0 && !watch->hung_up && (now = now_usec()) < until)
                r = sd_event_run(watch->event, until - now);
        watch->changed = false;
        return watch->hung_up ? -EPIPE : MIN(r, 0);
}
