/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/udev-monitor.h"

#include <poll.h>

#include "shared/log.h"

/* udev's messages take about 2 KiB each in the kernel. */
#define RECEIVE_BUFFER_SIZE (32 * 1024 * 1024)

int monitor_open(struct monitor *monitor)
{
        errno = 0;
        monitor->udev = udev_new();
        if (monitor->udev)
                monitor->monitor = udev_monitor_new_from_netlink(monitor->udev, "udev");
        if (!monitor->monitor)
                return errno != 0 ? -errno : -ENOMEM;
        return 0;
}

void monitor_close(struct monitor *monitor)
{
        sd_event_source_disable_unref(monitor->source);
        udev_monitor_unref(monitor->monitor);
        udev_unref(monitor->udev);
}

int monitor_start(struct monitor *monitor, sd_event *event, sd_event_io_handler_t handler, void *userdata)
{
        int r;

        /* Needs CAP_NET_ADMIN beyond the system's limit; with the default size an overflow is only more likely. */
        (void) udev_monitor_set_receive_buffer_size(monitor->monitor, RECEIVE_BUFFER_SIZE);
        r = udev_monitor_enable_receiving(monitor->monitor);
        if (r < 0)
                return r;
        r = sd_event_add_io(
                event, &monitor->source, udev_monitor_get_fd(monitor->monitor), EPOLLIN, handler, userdata);
        if (r < 0)
                return r;
        (void) sd_event_source_set_exit_on_failure(monitor->source, true);
        return 0;
}

static bool has_message(struct udev_monitor *monitor)
{
        struct pollfd pollfd = {.fd = udev_monitor_get_fd(monitor), .events = POLLIN};

        return poll(&pollfd, 1, 0) > 0 && pollfd.revents & POLLIN;
}

struct udev_device *monitor_receive(const struct monitor *monitor, bool *lost)
{
        do {
                struct udev_device *device;

                errno = 0;
                device = udev_monitor_receive_device(monitor->monitor);
                if (device)
                        return device;
                if (errno == ENOBUFS || errno == ENOMEM)
                        *lost = true;
                else if (errno != EAGAIN && errno != EINTR && errno != 0)
                        log_debug("Ignoring an event that cannot be read: %s", strerror(errno));
                /* A message that is not from udev looks like none: libudev has thrown it away, the next may be
                 * good. */
        } while (has_message(monitor->monitor));
        return NULL;
}
