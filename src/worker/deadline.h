/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* Passes on that the deadline of VGs has passed of which PVs are missing, and reports those that somebody waits for and of which
 * no PV has appeared. Time in which coldplug is still being worked off does not count, as their disks may be next in udev's
 * queue; nor does time in which a LUKS device is being unlocked, by somebody who has to type a passphrase for instance, as PVs
 * may be inside. Sets `*until` to when the next deadline is, USEC_INFINITY if none is set. Returns 0, or a negative errno if the
 * worker cannot go on. */
int deadline_check(struct worker *worker, const struct gather_phase *phase, uint64_t *until);
