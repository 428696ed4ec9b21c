/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/volume_group.h"

/* What the state of a VG is now, for all who look on. The worker's records say how it was when the worker looked last; LVs
 * may have been activated or deactivated since. A pure function of facts. */

struct judgement_facts {
        size_t n_wanted;        /* LVs with autoactivation enabled */
        size_t n_active;        /* how many of these are active */
        size_t n_active_before; /* how many were, by the record */
        bool claimed;           /* lvm2 counts the VG as autoactivated */
        bool lost_pv;           /* a PV was removed while LVs were active */
        bool stranded;          /* some are still active on removed disks */
        bool whole_again;       /* of one that was degraded: all PVs take part in all RAIDs */
};

/* Of a VG that has a record. */
enum volume_group_state judge_recorded(enum volume_group_state recorded, const struct judgement_facts *facts)
        _nonnull_(2);

/* Of a VG without one: ACTIVE if all is that autoactivation would activate; ABSENT if nothing of it is there; else UNKNOWN, as
 * somebody may want it as it is. */
enum volume_group_state judge_unrecorded(const struct volume_group *volume_group) _nonnull_(1);
