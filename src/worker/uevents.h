/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "shared/names.h"
#include "shared/util.h"

/* udev events: the devices that 68-headgate.rules tags, as they appear and change, and whether udev is busy. */

struct uevents;

enum uevents_kind {
        UEVENTS_READY_OR_REMOVED, /* it became ready, or was removed */
        UEVENTS_CHANGED,          /* it was written to, for example by lvm2 to its metadata */
        UEVENTS_FOUND,            /* an enumeration found it; nothing is new */
};

/* One event of a device. */
struct uevents_device {
        dev_t number;
        enum uevents_kind kind;
        const char *name; /* the device node at that time, or NULL if it was removed */
        uint64_t diskseq; /* of the disk at that time, see diskseq_read(); 0 if unknown */
};

/* Called for each device. */
typedef int (*uevents_device_function)(const struct uevents_device *device, void *userdata);

typedef int (*uevents_function)(void *userdata);

/* Subscribes to udev. `on_module` is called when a kernel module was loaded, `on_queue` when udev's queue may have
 * become empty. `on_overflow` is called when events were lost because the socket was full: the caller has to
 * enumerate the devices. A negative errno of a callback ends the event loop. Returns 0 or a negative errno. */
int uevents_new(sd_event *event, uevents_device_function on_device, uevents_function on_module,
        uevents_function on_overflow, uevents_function on_queue, void *userdata,
        struct uevents **ret) _must_check_;
struct uevents *uevents_free(struct uevents *uevents);

/* Calls `function` for each device that has the tag now and has been ready, or has become a PV since. This reads
 * all tagged devices. */
int uevents_enumerate(struct uevents *uevents, uevents_device_function function, void *userdata);

/* Handles all events that are queued, without waiting. */
int uevents_drain(struct uevents *uevents);

/* Enables or disables `on_queue`, which is enabled at first; a call that was missed while it was disabled is made up
 * for. Events of devices are handled once in `interval_usec` at most; 0 for at once. */
void uevents_watch(struct uevents *uevents, bool queue, uint64_t interval_usec);

bool uevents_queue_is_empty(struct uevents *uevents);

/* Returns 0 and the device node, "/dev/sda", in `*ret`, to be freed by the caller; -ENOENT if there is no such
 * device; or another negative errno. A device that udev has not handled yet counts as missing: it has no links, may
 * have replaced a removed one, and will be announced. */
int uevents_get_device_name(struct uevents *uevents, dev_t number, char **ret);

/* Adds the links "/dev/disk/by-id/..." that lead to the device to `links`. If two devices claim one link, only one
 * has it. Returns 0, also if there is no such device, or -ENOMEM. */
int uevents_get_device_links(struct uevents *uevents, dev_t number, struct strv *links);
