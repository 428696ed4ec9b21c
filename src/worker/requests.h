/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* What the worker, the `userdata` of the callbacks here, is asked for, by entries of the protocol and by udev, from the
 * question to its end. All return 0, or a negative errno if the worker cannot go on. */

/* An entry that is now in working.d. */
int requests_take_entry(const char *entry, void *userdata);

/* A device that udev tells of. */
int requests_take_device(const struct uevents_device *told, void *userdata);

/* After an enumeration of all devices, if events may have been missed: has those looked for as which a PV was seen and
 * that were not found. That a device has gone nobody else would tell. */
int requests_look_for_recorded(struct worker *worker);

/* Ends the request for a VG, if there is one, by the name that it had then: it has another one now, or no longer exists. The
 * record may still have the old name, so this is not lost but moot. */
int requests_finish_group(struct worker *worker, struct managed_group *group, const char *name);

/* Queues devices that were asked for again since they were read. */
void requests_read_again(struct worker *worker);

/* Ends the requests whose devices and VGs are settled. Call after the inventory was saved. */
int requests_release(struct worker *worker);
