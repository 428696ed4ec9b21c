/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* lvm2's own account of which PVs there are: one pvscan records all devices of stage UNRECORDED. Does nothing while a
 * reader is busy or a pvscan is running. If a pvscan makes no progress, its devices are probed, and another one gets those
 * that respond. Returns 0 or a negative errno if the worker cannot go on. */
int recording_start(struct worker *worker);
