/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/expectations.h"
#include "inventory/inventory.h"

/* The worker's journal lines, one for each thing that happens to a VG, and the unit's STATUS=.
 * headgate-differences(7) describes the fields. Without memory for a line, the line is dropped. */

/* The first PV of a VG with several has appeared, as the device `device_name`. Logged with LOG_DEBUG. */
void report_seen(const struct vg_entry *group, const char *device_name);

/* Logs a report of vg_next(), except VG_SAY_LATE and VG_SAY_BLOCKED. The VG is already in the new state. */
void report_vg(const struct vg_entry *group, enum vg_report report);

/* A vgchange was started for these VGs: one line for all, with one HEADGATE_VG field for each. */
void report_activating(struct vg_entry *const *groups, size_t n);

/* A PV has appeared after its VG was activated without it. */
void report_late(const struct vg *vg, const struct vg_pv *pv);

/* Logs the output of a vgchange that ran for this VG alone, each line with the fields of the VG. */
void report_output(const struct vg *vg, const char *output) _nonnull_(1, 2);

/* Logs the absent VGs that nothing waits for, if there are any. */
void report_all_absent(const struct strv *names);

/* The deadline of an expected VG has passed, and none of its PVs has appeared. `backup` is lvm2's, or NULL. */
void report_absent(const struct expectation *expectation, const struct vg *backup);

/* A label or metadata copy is damaged. `vg_name` is a guess, or ""; `pvid` is "" if it could not be read. `usable`:
 * another copy is intact. */
void report_damaged(
        const char *device_name, const char *pvid, const char *vg_name, const char *reason, bool usable);

/* Two devices hold the same PV; headgate ignores the second one. */
void report_duplicate(const struct vg *vg, const char *pvid, const char *device_name, const char *duplicate_name);

/* The device has older metadata of the VG, and the current metadata no longer lists it as a PV. */
void report_outdated(const struct vg *vg, const char *pvid, const char *device_name);

/* lvm2's backup of the metadata of an expected VG cannot be read; `error` is a negative errno. */
void report_backup_unusable(const char *vg_name, int error);

/* Logs a timeline of the VGs that became active or settled since `*logged_usec`, and sets that to now. Later boots
 * have no other source. All VGs of one vgchange are logged together. The first timeline of an activation is the
 * most accurate, as udev may create links again. */
void report_timeline(const struct inventory *inventory, uint64_t *logged_usec);

/* Sets STATUS= to the number of VGs in each state, including those of `absent` that are still absent. */
void report_status(const struct inventory *inventory, const struct strv *absent);
