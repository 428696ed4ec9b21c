/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "view/judgement.h"

/* lvm2 withdraws its claim on a VG of which LVs are deactivated. A program that removes devices without lvm2, as teardown
 * does, leaves it; but then fewer LVs are active than the worker saw. What it never saw active is not wanted. */
static bool was_deactivated(const struct judgement_facts *facts)
{
        return facts->n_active < facts->n_wanted && (facts->n_active < facts->n_active_before || !facts->claimed);
}

enum volume_group_state judge_recorded(enum volume_group_state recorded, const struct judgement_facts *facts)
{
        bool all_active = facts->n_active >= facts->n_wanted;

        switch (recorded) {
        case VOLUME_GROUP_ACTIVE:
                return was_deactivated(facts) ? VOLUME_GROUP_DEACTIVATED : VOLUME_GROUP_ACTIVE;
        case VOLUME_GROUP_DEGRADED:
                if (facts->n_active < facts->n_active_before)
                        return VOLUME_GROUP_DEACTIVATED;
                return facts->whole_again ? VOLUME_GROUP_ACTIVE : VOLUME_GROUP_DEGRADED;
        case VOLUME_GROUP_FAILED:
                /* Somebody has activated by hand what failed. */
                if (all_active && facts->n_wanted > 0)
                        return VOLUME_GROUP_ACTIVE;
                /* LVs on removed disks were in the way, and are not any more. */
                if (!all_active && facts->lost_pv && !facts->stranded)
                        return VOLUME_GROUP_DEACTIVATED;
                return VOLUME_GROUP_FAILED;
        default:
                return recorded;
        }
}

enum volume_group_state judge_unrecorded(const struct volume_group *volume_group)
{
        size_t n_wanted = volume_group_count_autoactivated(volume_group);

        if (volume_group->n_pvs > 0 && n_wanted > 0 && volume_group_count_active(volume_group) == n_wanted)
                return VOLUME_GROUP_ACTIVE;
        return !volume_group_has_active_lv(volume_group) && volume_group_count_seen(volume_group) == 0
                       ? VOLUME_GROUP_ABSENT
                       : VOLUME_GROUP_UNKNOWN;
}
