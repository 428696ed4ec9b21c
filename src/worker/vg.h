/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/dm-devices.h"
#include "worker/worker.h"

/* Handles one event of a VG: gathers the facts, has vg_next() decide, and carries out the result. The caller starts
 * processes. */

struct vg_input {
        enum vg_event event;
        struct vg_pv *pv; /* VG_PV_APPEARED: the PV */
        /* VG_SLOT_FREE, VG_REREAD*, VG_ENDED_*, VG_REQUESTED of an active VG: all device-mapper devices, to find
         * its active LVs. NULL otherwise; then the last marks are used. */
        const struct dm_devices *devices;
        const char *words; /* VG_ENDED_*, VG_STUCK_OWN: the reason as a sentence, or NULL */
};

/* Lists the device-mapper devices unless `*devices` has them already; the caller frees them. Returns 0, or a
 * negative errno after logging it. */
int vg_list_devices(struct dm_devices **devices) _nonnull_(1) _must_check_;

/* Returns VG_DO_ACTIVATE, _ALONE, _DEGRADED or VG_DO_FORGET if the caller has to do that; the VG keeps its state
 * until then. Otherwise returns VG_DO_NOTHING, or a negative errno if the worker cannot continue. */
int vg_take(struct worker *worker, struct vg_entry *group, const struct vg_input *input) _nonnull_(1, 2, 3);

/* Retries a failed VG, and logs that. Returns VG_DO_NOTHING or a negative errno. */
int vg_retry(struct worker *worker, struct vg_entry *group) _nonnull_(1, 2) _must_check_;

/* Whether the VG failed a moment ago and was not retried for an event of a device yet. It is retried for the first
 * one only, as lvm2 itself may have caused it by writing to a PV. */
bool vg_has_just_failed(const struct worker *worker, const struct vg_entry *group) _nonnull_(1, 2);

/* Reports VGs that have lost a PV, unless the PV is back. Returns 0. */
int vg_report_lost(struct worker *worker) _nonnull_(1);

/* Probes the PVs of a vgchange, or the devices of a pvscan, for unresponsive ones. Returns 0, or a negative errno after logging
 * it. */
int vg_probe_job(struct worker *worker, struct job *job) _nonnull_all_ _must_check_;

/* Format of the reason of a VG while lvm2 waits for an unresponsive device, such as "/dev/sda". */
#define VG_UNRESPONSIVE "lvm2 waits for unresponsive device %s."
