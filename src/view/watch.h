/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/udev.h"
#include "view/sources.h"

/* Waits until VGs may have changed: the worker's records, by inotify, or devices of device-mapper, by udev, which somebody has
 * activated or deactivated by hand. */

/* Starts empty: all zeros. */
struct watch {
        sd_event *event;
        sd_event_source *run_source; /* of the run directory */
        struct monitor monitor;
        bool changed; /* since the last look */
        bool hung_up; /* standard output is a pipe without a reader */
};

/* Begins to watch, before the first look. Returns 0 or a negative errno; watch_done() is to be called in any case. */
int watch_start(struct watch *watch, const struct sources *sources) _nonnull_all_ _must_check_;
void watch_done(struct watch *watch) _nonnull_all_;

/* Waits for the time of the next look, after one that took `took_usec`. Returns 0; -EPIPE if standard output is a pipe without
 * a reader; or another negative errno. */
int watch_wait(struct watch *watch, uint64_t took_usec) _nonnull_all_ _must_check_;
