/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/expectations.h"
#include "inventory/inventory.h"

/* What the worker says: one structured line in the journal for each thing that happens to a VG (the fields are
 * described in headgate-differences(7)), and the unit's STATUS=. Without memory for a line there is no line. */

/* The first PV of a VG with several has appeared, as the device `device_name`. Said with LOG_DEBUG. */
void report_seen(const struct managed_group *group, const char *device_name);

/* What vg_next() has yielded, but for VG_SAY_LATE and VG_SAY_HINDERED. The VG is in the state that follows. */
void report_vg(const struct managed_group *group, enum vg_report report);

/* A vgchange has been started for these VGs: one line for all, which is found by the name of each. */
void report_activating(struct managed_group *const *groups, size_t n);

/* A PV has appeared when its VG had been activated without it. */
void report_late(const struct vg *vg, const struct vg_pv *pv);

/* What a vgchange has printed that was asked for this VG alone, each line with the fields of the VG. */
void report_output(const struct vg *vg, const char *output) _nonnull_(1, 2);

/* The deadline of a VG that somebody waits for has passed, and nothing has told of it. */
/* VGs that nothing waits for and of which nothing was seen; none if there are none. */
void report_unseen(const struct strv *names);

void report_absent(const struct expectation *expectation, const struct vg *backup);

/* A label or metadata that cannot be used. `vg_name` is a guess, or ""; `pvid` is "" if not even that
 * could be read. `usable` says that another copy serves. */
void report_damaged(
        const char *device_name, const char *pvid, const char *vg_name, const char *reason, bool usable);

/* Two devices that hold the same PV; the second one is left alone. */
void report_duplicate(const struct vg *vg, const char *pvid, const char *device_name, const char *duplicate_name);

/* A device with older metadata of a VG, which does not name it as one of its PVs any more. */
void report_outdated(const struct vg *vg, const char *pvid, const char *device_name);

/* lvm2's backup of the metadata of a VG that somebody waits for is there and cannot be read; `error` is a negative
 * errno. */
void report_backup_unusable(const char *vg_name, int error);

/* Logs the timeline of what has changed since it was last done, at `*logged_usec`, which is set: the next boot knows of it by that
 * only. Those are VGs that were first active since, all of one vgchange, and VGs that were not yet and have got into their state
 * since. What is logged first of an activation is known best, as links may be made anew. */
void report_timeline(const struct inventory *inventory, uint64_t *logged_usec);

/* Sets STATUS= from the number of VGs in each state, and of those in `absent` that did not come, unless that is what it was set to
 * last, which is kept in `*last`. */
void report_status(const struct inventory *inventory, const struct strv *absent, char **last);
