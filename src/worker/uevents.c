/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/uevents.h"

#include <libudev.h>

#include "lvm/identifier.h"
#include "shared/log.h"

/* Both are set by 68-headgate.rules: the tag on each device that may be a PV, in all its events; the property in
 * those events that make it ready. */
#define TAG "headgate"
#define PROPERTY "HEADGATE_SCAN"

/* udev's messages take about 2 KiB each in the kernel: room for a shelf of several thousand disks that appears at
 * once. */
#define RECEIVE_BUFFER_SIZE (32 * 1024 * 1024)

struct uevents {
        struct udev *udev;
        struct udev_monitor *monitor;
        struct udev_queue *queue;
        sd_event_source *monitor_source;
        sd_event_source *queue_source;
        uevents_device_function on_device;
        uevents_overflow_function on_overflow;
        uevents_queue_function on_queue;
        void *userdata;
};

struct uevents *uevents_free(struct uevents *uevents)
{
        if (!uevents)
                return NULL;
        sd_event_source_disable_unref(uevents->monitor_source);
        sd_event_source_disable_unref(uevents->queue_source);
        udev_queue_unref(uevents->queue);
        udev_monitor_unref(uevents->monitor);
        udev_unref(uevents->udev);
        free(uevents);
        return NULL;
}
DEFINE_CLEANUP(struct uevents *, uevents_free)

static bool is_removal(struct udev_device *device)
{
        const char *action = udev_device_get_action(device);

        return action && streq(action, "remove");
}

static bool is_of_interest(struct udev_device *device)
{
        return is_removal(device) || udev_device_get_property_value(device, PROPERTY);
}

/* What blkid has found. */
static void get_pvid(struct udev_device *device, char ret[LVM_ID_SIZE])
{
        const char *uuid = udev_device_get_property_value(device, "ID_FS_UUID");

        if (!uuid || is_removal(device) || lvm_id_parse(uuid, ret) < 0)
                ret[0] = '\0';
}

int uevents_drain(struct uevents *uevents)
{
        for (;;) {
                struct udev_device *device;
                char pvid[LVM_ID_SIZE];
                dev_t number = 0;
                int r = 0;

                errno = 0;
                device = udev_monitor_receive_device(uevents->monitor);
                if (!device) {
                        if (errno == ENOBUFS)
                                return uevents->on_overflow(uevents->userdata);
                        /* Also a message that is not from udev: libudev has thrown it away, the next may be
                         * good. */
                        if (errno != EAGAIN && errno != EINTR && errno != 0)
                                log_debug("Ignoring an event that cannot be read: %s", strerror(errno));
                        return 0;
                }
                if (is_of_interest(device))
                        number = udev_device_get_devnum(device);
                get_pvid(device, pvid);
                udev_device_unref(device);

                if (number != 0)
                        r = uevents->on_device(number, pvid, uevents->userdata);
                if (r < 0)
                        return r;
        }
}

static int on_monitor(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t revents, void *userdata)
{
        return uevents_drain(userdata);
}

static int on_queue(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t revents, void *userdata)
{
        struct uevents *uevents = userdata;

        (void) udev_queue_flush(uevents->queue);
        return uevents->on_queue(uevents->userdata);
}

int uevents_new(sd_event *event, uevents_device_function on_device, uevents_overflow_function on_overflow,
        uevents_queue_function on_queue_changed, void *userdata, struct uevents **ret)
{
        _cleanup_(uevents_freep) struct uevents *uevents = calloc(1, sizeof(*uevents));
        int r;

        if (!uevents)
                return -ENOMEM;
        uevents->on_device = on_device;
        uevents->on_overflow = on_overflow;
        uevents->on_queue = on_queue_changed;
        uevents->userdata = userdata;

        errno = 0;
        uevents->udev = udev_new();
        if (!uevents->udev)
                return -ENOMEM;
        uevents->monitor = udev_monitor_new_from_netlink(uevents->udev, "udev");
        uevents->queue = udev_queue_new(uevents->udev);
        if (!uevents->monitor || !uevents->queue)
                return errno != 0 ? -errno : -ENOMEM;

        r = udev_monitor_filter_add_match_tag(uevents->monitor, TAG);
        if (r < 0)
                return r;
        /* Needs CAP_NET_ADMIN beyond the system's limit; with the default size an overflow is only more likely. */
        (void) udev_monitor_set_receive_buffer_size(uevents->monitor, RECEIVE_BUFFER_SIZE);
        r = udev_monitor_enable_receiving(uevents->monitor);
        if (r < 0)
                return r;

        r = sd_event_add_io(event, &uevents->monitor_source, udev_monitor_get_fd(uevents->monitor), EPOLLIN,
                on_monitor, uevents);
        if (r < 0)
                return r;

        r = udev_queue_get_fd(uevents->queue);
        if (r < 0)
                return r;
        r = sd_event_add_io(event, &uevents->queue_source, r, EPOLLIN, on_queue, uevents);
        if (r < 0)
                return r;

        (void) sd_event_source_set_exit_on_failure(uevents->monitor_source, true);
        (void) sd_event_source_set_exit_on_failure(uevents->queue_source, true);
        *ret = TAKE_PTR(uevents);
        return 0;
}

int uevents_enumerate(struct uevents *uevents, uevents_device_function function, void *userdata)
{
        struct udev_enumerate *enumerate;
        struct udev_list_entry *entry;
        int r;

        enumerate = udev_enumerate_new(uevents->udev);
        if (!enumerate)
                return -ENOMEM;
        r = udev_enumerate_add_match_tag(enumerate, TAG);
        if (r >= 0)
                r = udev_enumerate_scan_devices(enumerate);
        if (r < 0)
                goto finish;

        udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(enumerate)) {
                struct udev_device *device;
                char pvid[LVM_ID_SIZE];
                dev_t number = 0;

                device = udev_device_new_from_syspath(uevents->udev, udev_list_entry_get_name(entry));
                if (!device)
                        continue; /* has just gone */
                if (udev_device_has_current_tag(device, TAG) > 0)
                        number = udev_device_get_devnum(device);
                get_pvid(device, pvid);
                udev_device_unref(device);

                r = number != 0 ? function(number, pvid, userdata) : 0;
                if (r < 0)
                        goto finish;
        }
        r = 0;

finish:
        udev_enumerate_unref(enumerate);
        return r;
}

bool uevents_queue_is_empty(struct uevents *uevents)
{
        return udev_queue_get_queue_is_empty(uevents->queue) > 0;
}

int uevents_get_device_name(struct uevents *uevents, dev_t number, char **ret)
{
        struct udev_device *device = udev_device_new_from_devnum(uevents->udev, 'b', number);
        const char *name = device ? udev_device_get_devnode(device) : NULL;
        int r = -ENOENT;

        if (name) {
                *ret = strdup(name);
                r = *ret ? 0 : -ENOMEM;
        }
        udev_device_unref(device);
        return r;
}
