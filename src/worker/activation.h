/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* From complete VGs to active LVs. Those that return a number return 0 or a negative errno if the worker cannot
 * go on. */

/* Activates the VGs that are complete and recorded: as many vgchanges at a time as there are processors, each with
 * its share of them, and those that boot waits for before the others. VGs that may take long get a process each,
 * and hold up nobody; nor does a process for long that takes long nevertheless. */
int activation_start(struct worker *worker);

/* A vgchange has ended, as job_exit_function: settles its VGs by what is active. */
int activation_on_ended(struct job *job, int exit_status, void *userdata);
