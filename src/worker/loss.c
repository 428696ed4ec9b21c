/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/loss.h"

#include "lvm/active.h"
#include "worker/report.h"

static void tell(const struct active_devices *devices, struct managed_group *group)
{
        struct volume_group *volume_group = group->volume_group;

        group->lost_pv = false;
        /* The same disk may have come back meanwhile, or another one with its copy. */
        if (!volume_group_is_incomplete(volume_group))
                return;
        if (devices)
                active_devices_mark(devices, volume_group);
        report_incomplete(volume_group);
}

void loss_tell(struct worker *worker)
{
        struct inventory *inventory = worker->inventory;
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        struct managed_group *group;

        if (!inventory->lost_pvs)
                return;
        inventory->lost_pvs = false;
        /* Without the list it is said without what it tells. */
        if (active_devices_get(&devices) < 0)
                devices = NULL;
        dm_list_iterate_items(group, &inventory->groups[VOLUME_GROUP_WAITING])
                if (group->lost_pv)
                        tell(devices, group);
}
