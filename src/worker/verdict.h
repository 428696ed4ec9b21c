/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* What has come of asking lvm2 for a VG. Those that return a number return 0 or a negative errno if the worker cannot
 * go on. */

/* Judges a VG, ACTIVATING until now, by the devices that are there, which are marked in it. What lvm2 printed, when it
 * was asked for `n_groups` VGs at once, explains what there is not. If it has overlooked the VG, has crashed at one of
 * several, or one of its disks has come or gone meanwhile and all PVs are there, it is asked again; if a PV is gone, the
 * VG has FAILED, and waits for it. */
int verdict_take(
        struct worker *worker, struct managed_group *group, size_t n_groups, int exit_status, const char *output);

/* lvm2 is to be asked for the VG once more: it is COMPLETE. */
void verdict_ask_again(struct worker *worker, struct managed_group *group);

/* Likewise, by a process that is asked for no other. */
void verdict_ask_alone(struct worker *worker, struct managed_group *group);

/* The VG is in its final state, ACTIVE, DEGRADED, SKIPPED or FAILED, which is reported. */
void verdict_settle(struct worker *worker, struct managed_group *group, enum volume_group_state state);

/* As many of its LVs are active as lvm2 wants: it is claimed, and ACTIVE or, where lvm2 was allowed to do without a PV,
 * DEGRADED. */
int verdict_settle_active(struct worker *worker, struct managed_group *group);

/* The reason of a VG for which lvm2 waits for the unresponsive device, "/dev/sda" for instance; the caller frees it. NULL if
 * there is no memory. */
char *verdict_format_unresponsive(const char *device);

/* Sets it in the VG. Returns 0 or -ENOMEM. */
int verdict_set_unresponsive(const struct worker *worker, struct managed_group *group, const char *device);

/* What lvm2 has said of an LV, as device-mapper calls it, or as lvm2 does; to be freed by the caller, NULL if there is
 * nothing. */
char *verdict_find_words_about_lv(const char *output, const char *vg, const char *lv);
