/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* From complete VGs to active LVs: all that headgate asks of lvm2. Both return 0 or a negative errno if the worker
 * cannot go on. */

/* Has lvm2 record the devices of stage UNRECORDED, all of them in one pvscan. Does nothing while one is
 * running. */
int activation_record(struct worker *worker);

/* Activates the VGs that are complete and recorded: as many vgchanges at a time as there are processors, each with
 * its share of them. VGs that may take long get a process each, and hold up nobody. */
int activation_start(struct worker *worker);

/* Takes over the vgchanges that an earlier worker has left running, and leaves their VGs alone until they have
 * ended. */
int activation_adopt(struct worker *worker);
