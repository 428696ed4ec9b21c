/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/udev.h"
#include "view/sources.h"

/* Waits until VGs may have changed: by inotify for the worker's records, by udev for device-mapper devices, which may be
 * activated or deactivated by hand. */

/* Starts empty: all zeros. */
struct watch {
        sd_event *event;
        sd_event_source *run_source; /* for the run directory */
        struct monitor monitor;
        bool changed; /* since the last look */
        bool hung_up; /* standard output is a pipe whose reader has exited */
};

/* Starts to watch, before the first look. Returns 0 or a negative errno. The caller calls watch_done() in any case. */
int watch_start(struct watch *watch, const struct sources *sources) _nonnull_all_ _must_check_;
void watch_done(struct watch *watch) _nonnull_all_;

/* Waits until the next look is due, after one that took `took_usec`. Returns 0; -EPIPE if the reader of standard output has
 * exited; or another negative errno. */
int watch_wait(struct watch *watch, uint64_t took_usec) _nonnull_all_ _must_check_;
