/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/expectation.h"
#include "worker/inventory.h"

/* What the worker says: one structured line in the journal for each thing that happens to a VG (the fields are
 * described in headgated(8)), and the unit's STATUS=. Without memory for a line there is no line. */

/* All PVs of the VG are there. */
void report_complete(const struct volume_group *volume_group);

/* The VG's state has become ACTIVE, SKIPPED or FAILED. */
void report_settled(const struct volume_group *volume_group);

/* The deadline of a VG that is WAITING has passed. */
void report_overdue(const struct volume_group *volume_group);

/* The deadline of a VG that somebody waits for has passed, and nothing has told of it. */
void report_absent(const struct expectation *expectation);

/* A label or metadata that cannot be used. `volume_group_name` is a guess, or NULL; `pvid` is "" if not even that
 * could be read. `usable` says that another copy serves. */
void report_damaged(
        const char *device_name, const char *pvid, const char *volume_group_name, const char *reason, bool usable);

/* Two devices that hold the same PV; the second one is left alone. */
void report_duplicate(const struct volume_group *volume_group, const char *pvid, const char *device_name,
        const char *duplicate_name);

/* Sets STATUS= from the number of VGs in each state, unless that is what it was set to last, which is kept in
 * `*last`. */
void report_status(const struct inventory *inventory, char **last);
