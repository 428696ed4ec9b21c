/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "shared/names.h"
#include "shared/util.h"

/* What udev tells: the devices that 68-headgate.rules has tagged, as they come and as they are, and whether udev
 * is busy. */

struct uevents;

enum uevents_kind {
        UEVENTS_READY_OR_REMOVED, /* it has become ready, or it went */
        UEVENTS_CHANGED,          /* somebody has written to it: lvm2 perhaps, to its metadata */
        UEVENTS_FOUND,            /* nothing new: an enumeration has found it */
};

/* What udev tells of a device. */
struct uevents_device {
        dev_t number;
        enum uevents_kind kind;
        const char *name; /* as udev had handled it then, or NULL if it was removed */
        uint64_t diskseq; /* of the disk that it was then, see diskseq_read(); 0 if that is not known */
};

/* Called for each device. */
typedef int (*uevents_device_function)(const struct uevents_device *device, void *userdata);

typedef int (*uevents_function)(void *userdata);

/* Begins to listen. `on_module` is called when a kernel module was loaded; `on_overflow` when devices were lost on the way to us, more having come than the socket holds:
 * enumerate them; `on_queue` when udev's queue has become empty, perhaps. The callbacks come from the event loop, a negative
 * errno from them ends it. Returns 0 or a negative errno. */
int uevents_new(sd_event *event, uevents_device_function on_device, uevents_function on_module,
        uevents_function on_overflow, uevents_function on_queue, void *userdata,
        struct uevents **ret) _must_check_;
struct uevents *uevents_free(struct uevents *uevents);

/* Calls `function` for each device that carries the tag now and has been ready, or was made a PV since. Costs a pass over all of
 * them. */
int uevents_enumerate(struct uevents *uevents, uevents_device_function function, void *userdata);

/* Handles all that has arrived so far, at once. */
int uevents_drain(struct uevents *uevents);

/* Whether `on_queue` is called from now on, which it is if nothing is said. What it would have been called for meanwhile is made up
 * for. */
void uevents_watch_queue(struct uevents *uevents, bool watched);

bool uevents_queue_is_empty(struct uevents *uevents);

/* What the device is called, "/dev/sda". Returns 0 and `*ret`, to be freed by the caller, or -ENOENT if there is
 * no such device, or another negative errno if that cannot be told. A device that udev has not handled yet
 * counts as none: it may have come in the place of one that went, has no links yet, and will be announced. */
int uevents_get_device_name(struct uevents *uevents, dev_t number, char **ret);

/* Adds the links that udev has made for the device and that lead to it, "/dev/disk/by-id/...", to `links`: of two
 * devices that are to have the same link, one has it. Returns 0, also if there is no such device, or -ENOMEM. */
int uevents_get_device_links(struct uevents *uevents, dev_t number, struct strv *links);
