/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Queries of systemd by systemctl. Once the removal has begun, none of them blocks. */

/* Whether the machine shuts down: 1, 0 or a negative errno. The units are also stopped by upgrades or by hand, and then storage
 * stays. */
int systemd_is_stopping(void) _must_check_;

/* Stops the unit that triggers all devices, so that systemd starts it again after a soft reboot, and removed storage is found
 * again. At other shutdowns this has no effect. */
void systemd_announce_devices_again(void);

/* At shutdown, checks whether nodes in use may still be released, because systemd is stopping a unit. Runs "systemctl list-jobs"
 * when the next query is due, and sets stop_job_watch.idle_since if no stop job runs and none is about to, or if that fails.
 *
 * Before that, has systemd retry mounts whose last user was a removed device. systemd tries each unmount only once, and does not
 * know that a loop device used a file on the mount. Nothing is unmounted here.
 *
 * Call this when there is nothing else to do. The event loop gets the result. Returns 0 or -ENOMEM. */
int systemd_ask(struct teardown *teardown, uint64_t now) _nonnull_all_ _must_check_;

/* When to call systemd_ask() again, on now_usec()'s clock; USEC_INFINITY while a query runs. */
uint64_t stop_job_watch_next_usec(const struct stop_job_watch *watch) _nonnull_all_;

enum stop_jobs {
        STOP_JOBS_NONE,
        STOP_JOBS_READY, /* one waits for no other: systemd starts it once it has handled events and queries */
        STOP_JOBS_RUN,
};

/* Stop jobs in `output` of "systemctl list-jobs --plain --no-legend", not counting headgate-teardown's own units. Only with
 * --before it has what jobs wait for; without, each that waits is ready. The others wait for these or for headgate-teardown. */
enum stop_jobs stop_jobs_listed(const char *output) _nonnull_all_;
