/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/dm-devices.h"
#include "worker/worker.h"

/* From what happens to a VG to what follows: gathers the facts, has vg_next() decide, and carries out what that yields but
 * for what takes a process, which is the caller's. */

struct vg_input {
        enum vg_event event;
        struct vg_pv *pv; /* VG_PV_APPEARED: the PV */
        /* VG_TURN, VG_REREAD*, VG_ENDED_*, VG_REQUESTED of an active VG: all that there are, by which its LVs are marked.
         * Else they are taken as they were marked last. */
        const struct dm_devices *devices;
        const char *words; /* VG_ENDED_*, VG_STUCK_OWN: the reason as a sentence, or NULL */
};

/* Lists the device-mapper devices unless `*devices` has them already, to be freed by the caller. Returns 0 or a negative errno,
 * which is logged. */
int vg_list_devices(struct dm_devices **devices) _nonnull_(1) _must_check_;

/* Returns VG_DO_ACTIVATE, _ALONE, _DEGRADED or VG_DO_FORGET if that is to be done, by the caller: until then, the VG is in the
 * state that it was in. Else VG_DO_NOTHING, or a negative errno if the worker cannot go on. */
int vg_take(struct worker *worker, struct managed_group *group, const struct vg_input *input) _nonnull_(1, 2, 3);

/* Has a VG that has failed tried again, and says so. Returns VG_DO_NOTHING or a negative errno. */
int vg_retry(struct worker *worker, struct managed_group *group) _nonnull_(1, 2) _must_check_;

/* Whether it failed a moment ago, so that it is worth a try if udev announces one of its devices: only the first time. lvm2
 * itself may have written to one. */
bool vg_has_just_failed(const struct worker *worker, const struct managed_group *group) _nonnull_(1, 2);

/* Reports VGs that have lost a PV which is not back. Returns 0. */
int vg_report_lost(struct worker *worker) _nonnull_(1);

/* The reason of a VG for which lvm2 waits for an unresponsive device, "/dev/sda" for instance: a format. */
#define VG_UNRESPONSIVE "lvm2 waits for unresponsive device %s."
