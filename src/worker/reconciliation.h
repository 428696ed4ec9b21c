/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* VGs that change while the machine runs: they get another name, other PVs or LVs, or are removed. Each writer of
 * metadata causes an event of the PV that was written to, but a command of lvm2 writes to several, one after
 * another. So what each PV says is entered as it is read (intake.h), and what follows for the VG is found here,
 * when all has been read. lvm2 activates nothing because of such a change, and here nothing is activated. */

/* Puts in order what was changed: the VG's state, lvm2's records that have its name, the VG itself if it is no
 * more. Does nothing while devices are still to be read. Returns 0 or, if the worker cannot go on, a negative
 * errno. */
int reconciliation_run(struct worker *worker);
