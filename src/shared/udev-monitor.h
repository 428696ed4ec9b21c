/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libudev.h>
#include <systemd/sd-event.h>

#include "shared/macro.h"

/* What everybody needs who listens to udev by libudev's monitor, in an event loop. */

/* How many events are handled at a time. Where udev's processes take most of the processors they may come as fast as they
 * are handled, for as long as there are disks to announce; everything else would have to wait till then, and systemd
 * would take the worker for one that hangs. */
#define MONITOR_EVENTS_MAX 64

/* Starts empty: all zeros. */
struct monitor {
        struct udev *udev;
        struct udev_monitor *monitor;
        sd_event_source *source;
};

/* Opens it, for filters to be added. Returns 0 or a negative errno; to be closed in any case. */
int monitor_open(struct monitor *monitor) _nonnull_(1) _must_check_;
void monitor_close(struct monitor *monitor) _nonnull_(1);

/* Begins to listen, with room for what a shelf of several thousand disks brings at once. `handler` is called by the
 * event loop, which a negative errno from it ends. Returns 0 or a negative errno. */
int monitor_start(struct monitor *monitor, sd_event *event, sd_event_io_handler_t handler, void *userdata)
        _nonnull_(1, 2, 3) _must_check_;

DEFINE_CLEANUP(struct udev_device *, udev_device_unref)
#define _cleanup_udev_device_ _cleanup_(udev_device_unrefp)

/* Returns the next device, to be given back with udev_device_unref(), or NULL when there is no more. `*lost` is set if
 * events were lost on the way to us, and is left as it is otherwise. */
struct udev_device *monitor_receive(const struct monitor *monitor, bool *lost) _nonnull_(1, 2);
