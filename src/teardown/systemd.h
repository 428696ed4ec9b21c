/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* What systemd is asked by systemctl. Once it has begun to stop units, nothing waits for an answer. */

/* Whether the machine shuts down: 1, 0 or a negative errno. A unit is also stopped when a package is upgraded, or by
 * hand, and then storage stays as it is. */
int systemd_is_stopping(void) _must_check_;

/* What is removed has to be found again after a soft reboot, whoever activates then. systemd asks the kernel for all
 * devices once only, unless the unit that does it was stopped. At other shutdowns that changes nothing. */
void systemd_announce_devices_again(void);

/* Finds out, at shutdown, whether it makes sense to wait any longer: something that is in use may be released as long
 * as systemd is still stopping a unit, a service or a mount. That is stop_job_watch.nothing_stops, by "systemctl
 * list-jobs", when the next question is due; what cannot be asked counts as nothing.
 *
 * Before that, has systemd stop the mounts that have to go, that nothing holds any more, and that something did which
 * has been removed: systemd tries each unmount once, and does not know that the file of a loop device lies there,
 * which was in use then. Nothing is unmounted here.
 *
 * To be called while there is nothing else to do. The answer comes by the event loop. Returns 0 or -ENOMEM. */
int systemd_ask(struct teardown *teardown) _nonnull_all_ _must_check_;

/* Something has gone: whoever could let go of something may be another one now. At shutdown. */
void stop_job_watch_renew(struct stop_job_watch *watch) _nonnull_all_;

/* When systemd_ask() is to be called again, as by now_usec(); USEC_INFINITY if not before an answer. */
uint64_t stop_job_watch_next_usec(const struct stop_job_watch *watch) _nonnull_all_;

/* Whether `output` of "systemctl list-jobs --plain --no-legend" has a unit that is being stopped right now, other
 * than headgate's own that do what we do. A unit that is to be stopped later waits for one that is, or for us. */
bool stop_job_is_listed(const char *output) _nonnull_all_;
