/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-event.h>

#include "reader/child.h"

/* Reads labels and metadata of devices in child processes. An unresponsive device may block read() for minutes,
 * which must delay neither the worker nor other devices. A reader is a child that reads a list of devices, and
 * reports each result at once. If a device blocks it for a tenth of a second, two other readers take half of the
 * rest each. */

struct readers;

/* Adds a device. Returns 0 or -ENOMEM. */
int reading_add(struct reading *reading, dev_t number, const char *name) _must_check_;
void reading_done(struct reading *reading);
#define _cleanup_reading_ _cleanup_(reading_done)

/* Called for each device of READER_READ. `result` and the data that it points to are valid during the call only.
 * Errors: -ETIMEDOUT: no response for 25 seconds; -EFAULT: two readers crashed on it; -EPIPE: the reader was killed
 * or had no memory, the device is unknown. */
typedef int (*reader_result_function)(const struct reader_result *result, void *userdata);

/* Called when a reader has ended or its device has become unresponsive. */
typedef int (*reader_progress_function)(void *userdata);

/* The caller owns `event`, which must outlive the readers. The event loop calls the callbacks; a negative errno of
 * these ends it. The children call `is_known`. Returns 0 or -ENOMEM. */
int readers_new(sd_event *event, reader_known_function is_known, reader_result_function on_result,
        reader_progress_function on_progress, void *userdata, struct readers **ret) _must_check_;

/* Kills all readers. */
struct readers *readers_free(struct readers *readers);
DEFINE_CLEANUP(struct readers *, readers_free)

/* Starts a reader for the devices, if there are any. Takes ownership of the list, also on failure. Returns 0 or a
 * negative errno. */
int readers_start(struct readers *readers, enum reader_task task, struct reading *reading) _must_check_;

/* Whether any reader is reading a device that is not known to be unresponsive. */
bool readers_are_busy(const struct readers *readers);

/* Whether any reader may finish its device within a moment: the device is not known to be slow. */
bool readers_are_quick(const struct readers *readers);

/* Whether any reader is stalled at the device, which is unresponsive then. */
bool readers_wait_for(const struct readers *readers, dev_t device);

/* For commands: reads devices or images, and returns when `on_result` was called for each. A device times out after
 * 3 seconds. Returns 0, or a negative errno of `on_result` or its own. */
int devices_read(char *const paths[], size_t n, reader_result_function on_result, void *userdata) _must_check_;

/* Describes the error of a result, to follow a colon; valid until the next call. */
const char *reader_describe_error(int error);
