/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* Reports the VGs that have not come in time: those of which PVs are missing, and those that somebody waits for
 * and of which nothing was seen. The former are allowed to do without if headgate.conf says so, see degraded.h.
 * Time in which coldplug is still being worked off does not count, as their disks may be next in udev's queue;
 * nor does time in which a LUKS device is being unlocked, by somebody who has to type a passphrase for instance,
 * as PVs may be inside. Returns when the next deadline is, USEC_INFINITY if none is set. */
uint64_t deadline_check(struct worker *worker, const struct gather_phase *phase);
