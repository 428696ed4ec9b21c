/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* lvm2's own account of which PVs there are: has lvm2 record the devices of stage UNRECORDED, all of them in one
 * pvscan. Does nothing while devices are being read, or a pvscan is running, unless that waits for a disk that does not
 * answer: then others are shown to another one. Sets `*until` to when to look again. Returns 0 or a negative errno if the worker cannot
 * go on. */
int recording_start(struct worker *worker, uint64_t *until);
