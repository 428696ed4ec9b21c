/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/udev.h"
#include "table/table.h"
#include "view/sources.h"
#include "view/systemd.h"

/* Waits for whatever may have changed VGs: the worker's records, by inotify, and devices of device-mapper, by udev. At
 * shutdown prints the progress of headgate-teardown(8), by systemd. */

#define TEARDOWN_UNITS_N 2

/* Starts empty: all zeros. */
struct follower {
        sd_event *event;
        sd_event_source *run_source; /* of the run directory */
        struct monitor monitor;
        struct systemd systemd; /* without a bus if it cannot be asked */
        uint64_t look_usec;     /* when the last look began */
        bool changed;           /* since then */
        bool interrupted;
        bool ask_systemd;
        bool shutting_down; /* the system is */
        char *printed[TEARDOWN_UNITS_N];
};

/* Begins to watch, for the first look. Returns 0 or a negative errno; to be given back with follower_done() in any case. */
int follower_start(struct follower *follower, const struct sources *sources) _nonnull_(1, 2) _must_check_;
void follower_done(struct follower *follower) _nonnull_(1);

/* To be called after each look. Prints what the teardown units say, if that has changed, and waits for the next look. Returns 1
 * for that; 0 at the end: interrupted by SIGINT or SIGTERM, or teardown is over; or a negative errno. */
int follower_next(struct follower *follower, const struct table_options *options) _nonnull_(1, 2) _must_check_;
