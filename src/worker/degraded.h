/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* VGs that are to do without the PVs that are missing, since headgate.conf(5) says so: what it calls
 * degraded = "yes". Such a VG goes from WAITING to COMPLETE at its deadline, with PVs missing all the same, and on to
 * DEGRADED; all of it is in its file, and so outlives the worker. Those that return a value return 0 or a negative
 * errno if the worker cannot go on. */

/* The deadline of the VG has passed. If its policy says so, lvm2 is to be asked next. */
void degraded_allow(struct worker *worker, struct managed_group *group);

/* A PV has come, as the device it has now. If lvm2 was asked to do without it before, that is told; if PVs are still
 * missing, the deadline for those starts anew. */
void degraded_take_pv(struct worker *worker, struct managed_group *group, struct volume_group_pv *pv);

/* All PVs are there. That the VG was allowed to do without is forgotten if lvm2 has not been asked for that. */
void degraded_end(struct volume_group *volume_group);

/* Asks lvm2 for those that are due, by one vgchange for all, once no disk is left to be looked at that has come in
 * time. What becomes due while that is at work waits for it, though not for long. VGs that lvm2 must not be asked for
 * go back to WAITING. */
int degraded_start(struct worker *worker);

/* Whether what lvm2 was asked for last, or is to be, is the VG without the PVs that are missing. */
bool degraded_is_asked(const struct volume_group *volume_group);

/* lvm2 is done with the VG, whose active LVs have been marked: settles it. */
int degraded_settle(struct worker *worker, struct managed_group *group, int exit_status, const char *output);

/* The VG, activated without some of its PVs, is complete and lvm2 has been asked once more. Returns 1 if RAIDs of it
 * still go without, having given the VG its reason; 0 if it is as any other; or a negative errno. */
int degraded_is_left(struct managed_group *group);
