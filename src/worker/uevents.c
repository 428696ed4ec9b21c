/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* udev's monitor, queue and database. */

#include "worker/uevents.h"

#include <sys/stat.h>

#include "shared/udev.h"
#include "shared/util.h"

/* Set by 68-headgate.rules: the tag on each device that may be a PV, in all its events. The properties are set in
 * events that make it ready, or that report a write to it. */
#define TAG "headgate"
#define PROPERTY_READY "HEADGATE_SCAN"
#define PROPERTY_CHANGED "HEADGATE_CHANGED"
/* Set since the device was first ready; events of removal and enumerations have it, too. */
#define PROPERTY_ANNOUNCED "HEADGATE_ANNOUNCED"

struct uevents {
        struct monitor monitor;
        struct udev_queue *queue;
        sd_event_source *queue_source;
        uevents_device_function on_device;
        uevents_function on_module;
        uevents_function on_overflow;
        uevents_function on_queue;
        void *userdata;
};

struct uevents *uevents_free(struct uevents *uevents)
{
        if (!uevents)
                return NULL;
        sd_event_source_disable_unref(uevents->queue_source);
        udev_queue_unref(uevents->queue);
        monitor_close(&uevents->monitor);
        free(uevents);
        return NULL;
}
DEFINE_CLEANUP(struct uevents *, uevents_free)

static bool is_removal(struct udev_device *device)
{
        return udev_property_is(device, "ACTION", "remove");
}

static int pass_on(
        struct udev_device *device, enum uevents_kind kind, uevents_device_function function, void *userdata)
{
        const char *diskseq = udev_device_get_property_value(device, "DISKSEQ");
        struct uevents_device reported = {.number = udev_device_get_devnum(device), .kind = kind};

        if (reported.number == 0)
                return 0;
        if (!is_removal(device)) {
                reported.name = udev_device_get_devnode(device);
                if (diskseq && parse_u64(diskseq, &reported.diskseq) < 0)
                        reported.diskseq = 0;
        }
        return function(&reported, userdata);
}

static int take_event(const struct uevents *uevents, struct udev_device *device)
{
        /* Loaded kernel modules have the tag, too. */
        if (streq(udev_device_get_subsystem(device) ?: "", "module"))
                return uevents->on_module(uevents->userdata);
        if (udev_device_get_property_value(device, is_removal(device) ? PROPERTY_ANNOUNCED : PROPERTY_READY))
                return pass_on(device, UEVENTS_READY_OR_REMOVED, uevents->on_device, uevents->userdata);
        if (udev_device_get_property_value(device, PROPERTY_CHANGED))
                return pass_on(device, UEVENTS_CHANGED, uevents->on_device, uevents->userdata);
        return 0;
}

/* Handles at most `n_max` events. After an overflow, the kernel queues nothing until the last queued message is
 * read, and reports the overflow only once. So the socket is emptied before the devices are enumerated; otherwise
 * events in between would be lost. (netlink_overrun() and netlink_rcv_wake() in net/netlink/af_netlink.c) */
static int take_events(struct uevents *uevents, size_t n_max)
{
        bool overflown = false;

        for (size_t n = 0; n < n_max || overflown; n++) {
                _cleanup_udev_device_ struct udev_device *device = monitor_receive(&uevents->monitor, &overflown);
                int r;

                if (!device)
                        break;
                r = take_event(uevents, device);
                if (r < 0)
                        return r;
        }
        return overflown ? uevents->on_overflow(uevents->userdata) : 0;
}

int uevents_drain(struct uevents *uevents)
{
        return take_events(uevents, SIZE_MAX);
}

static int on_monitor(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t revents, void *userdata)
{
        return take_events(userdata, MONITOR_EVENTS_MAX);
}

static int on_queue(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t revents, void *userdata)
{
        struct uevents *uevents = userdata;

        (void) udev_queue_flush(uevents->queue);
        return uevents->on_queue(uevents->userdata);
}

int uevents_new(sd_event *event, uevents_device_function on_device, uevents_function on_module,
        uevents_function on_overflow, uevents_function on_queue_changed, void *userdata, struct uevents **ret)
{
        _cleanup_(uevents_freep) struct uevents *uevents = calloc(1, sizeof(*uevents));
        int r;

        if (!uevents)
                return -ENOMEM;
        *uevents = (struct uevents){.on_device = on_device,
                .on_module = on_module,
                .on_overflow = on_overflow,
                .on_queue = on_queue_changed,
                .userdata = userdata};

        r = monitor_open(&uevents->monitor, TAG);
        if (r < 0)
                return r;
        uevents->queue = udev_queue_new(uevents->monitor.udev);
        if (!uevents->queue)
                return -ENOMEM;
        r = monitor_start(&uevents->monitor, event, on_monitor, uevents) ?: udev_queue_get_fd(uevents->queue);
        if (r >= 0)
                r = sd_event_add_io(event, &uevents->queue_source, r, EPOLLIN, on_queue, uevents);
        if (r < 0)
                return r;

        (void) sd_event_source_set_exit_on_failure(uevents->queue_source, true);
        *ret = TAKE_PTR(uevents);
        return 0;
}

/* libudev's enumeration reads all devices in one call, since systemd 261 some thirty files for each. With thousands of disks on a
 * busy machine systemd's watchdog could end the worker meanwhile. */
int uevents_enumerate(struct uevents *uevents, uevents_device_function function, void *userdata)
{
        _cleanup_closedir_ DIR *directory = opendir("/run/udev/tags/" TAG);
        int r = 0;

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        FOREACH_ENTRY(name, directory) {
                _cleanup_udev_device_ struct udev_device *device = NULL;
                dev_t number;

                if (name[0] != 'b' || parse_device_number(name + 1, &number) < 0)
                        continue;
                device = udev_device_new_from_devnum(uevents->monitor.udev, 'b', number);
                /* It may just have been removed. */
                if (!device || udev_device_has_current_tag(device, TAG) <= 0)
                        continue;
                /* A PV that was created on the running machine was never announced. */
                if (udev_device_get_property_value(device, PROPERTY_ANNOUNCED))
                        r = pass_on(device, UEVENTS_FOUND, function, userdata);
                else if (udev_device_get_property_value(device, PROPERTY_CHANGED))
                        r = pass_on(device, UEVENTS_CHANGED, function, userdata);
                if (r < 0)
                        return r;
        }
        return 0;
}

void uevents_watch(struct uevents *uevents, bool queue, uint64_t interval_usec)
{
        (void) sd_event_source_set_enabled(uevents->queue_source, queue ? SD_EVENT_ON : SD_EVENT_OFF);
        (void) sd_event_source_set_ratelimit(uevents->monitor.source, interval_usec, 1);
}

bool uevents_queue_is_empty(struct uevents *uevents)
{
        return udev_queue_get_queue_is_empty(uevents->queue) > 0;
}

int uevents_get_device_name(struct uevents *uevents, dev_t number, char **ret)
{
        _cleanup_udev_device_ struct udev_device *device = NULL;
        const char *name = NULL;

        errno = 0;
        device = udev_device_new_from_devnum(uevents->monitor.udev, 'b', number);
        if (device && udev_device_get_is_initialized(device))
                name = udev_device_get_devnode(device);
        if (!name)
                return errno != 0 && errno != ENODEV && errno != ENXIO ? -errno : -ENOENT;
        *ret = strdup(name);
        return *ret ? 0 : -ENOMEM;
}

int uevents_get_device_links(struct uevents *uevents, dev_t number, struct strv *links)
{
        _cleanup_udev_device_ struct udev_device *device =
                udev_device_new_from_devnum(uevents->monitor.udev, 'b', number);
        struct udev_list_entry *entry = device ? udev_device_get_devlinks_list_entry(device) : NULL;

        for (; entry; entry = udev_list_entry_get_next(entry)) {
                const char *link = udev_list_entry_get_name(entry);
                struct stat status;

                if (stat(link, &status) >= 0 && S_ISBLK(status.st_mode) && status.st_rdev == number &&
                        strv_add(links, link) < 0)
                        return -ENOMEM;
        }
        return 0;
}
