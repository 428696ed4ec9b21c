/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* Has vg_next() decide on incomplete VGs whose deadline has passed, and reports expected VGs of which no PV has appeared in
 * time. The time of coldplug does not count, as the missing disks may be next in udev's queue; nor does the time in which a
 * LUKS device is being unlocked, as PVs may be inside. Returns 0, or a negative errno if the worker cannot go on. */
int deadline_check(struct worker *worker, const struct gather_phase *phase);
