/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* VGs that change while the machine runs: they get another name, other PVs or LVs, or are removed. Each writer of metadata
 * causes an event of the PV that was written to, but a command of lvm2 writes to several, one after another. So what each PV
 * says is entered as it is read (intake.c), and what follows for the VG is found here, when all has been read. lvm2 activates
 * nothing because of such a change, and here nothing is activated. */

#include "inventory/names.h"
#include "lvm/active.h"
#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"
#include "worker/vg.h"

/* Removes what lvm2 has under a name that was this VG's, unless another VG has that name. */
static int forget_name(struct worker *worker, const struct managed_group *group, const char *name)
{
        const struct managed_group *other = inventory_find_named(worker->inventory, name);

        return other && (other != group || other->next_same_name) ? 0
                                                                  : online_forget_name(worker->lvm_run_fd, name);
}

static int follow_rename(struct worker *worker, struct managed_group *group)
{
        _cleanup_free_ char *former = TAKE_PTR(group->former_name);
        int claimed, r;

        if (streq(former, group->vg->name))
                return 0;
        log_info("VG %s is called %s now.", former, group->vg->name);
        claimed = online_is_claimed(worker->lvm_run_fd, former);
        r = MIN(claimed, 0);
        if (claimed > 0 && group->vg->state == VOLUME_GROUP_ACTIVE)
                r = online_claim(worker->lvm_run_fd, group->vg->name);
        if (r >= 0)
                r = forget_name(worker, group, former);
        /* Nobody would find it by that. */
        if (r >= 0)
                r = requests_finish_group(worker, group, former);
        return r < 0 ? log_error_errno(r, "Failed to have VG %s follow its name: %m", former) : 0;
}

static int drop_group(struct worker *worker, struct managed_group *group)
{
        const char *name = group->vg->name;
        struct expectation *expectation;
        int r;

        group->state = VG_REMOVED;
        report_vg(group, VG_SAY_REMOVED);
        dm_list_iterate_items(expectation, &worker->expectations.list)
                if (expectation->group == group)
                        expectation->group = NULL;
        r = requests_finish_group(worker, group, name);
        if (r >= 0)
                r = forget_name(worker, group, name);
        if (r >= 0)
                r = inventory_drop_group(worker->inventory, group);
        return r < 0 ? log_error_errno(r, "Failed to forget a VG that is no more: %m") : 0;
}

static int recheck(struct worker *worker, const struct active_devices *devices, struct managed_group *group)
{
        int r = 0;

        if (group->former_name)
                r = follow_rename(worker, group);
        if (r >= 0 && group->vg->n_pvs > 1)
                r = names_write_lookup(worker->inventory, group, online_update_lookup);
        if (r >= 0)
                r = vg_take(worker, group,
                        &(struct vg_news){.event = group->left ? VG_REREAD_LEFT : VG_REREAD, .devices = devices});
        if (r < 0)
                return r;
        if (r == VG_DO_FORGET)
                return drop_group(worker, group);
        /* While lvm2 is at work, that is put off. */
        group->left &= group->needs_recheck;
        return 0;
}

int recheck_groups(struct worker *worker)
{
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        struct inventory *inventory = worker->inventory;
        int r;

        if (!inventory->needs_recheck || readers_are_busy(worker->readers) ||
                inventory_has_device_before(inventory, DEVICE_READING))
                return 0;
        inventory->needs_recheck = false;
        r = active_devices_get(&devices);
        if (r < 0)
                return log_error_errno(r, "Failed to list the device-mapper devices: %m");

        for (enum volume_group_state state = 0; state < _VOLUME_GROUP_STATE_MAX; state++) {
                struct managed_group *group, *next;

                dm_list_iterate_items_safe(group, next, &inventory->groups[state]) {
                        if (!group->needs_recheck)
                                continue;
                        /* An unresponsive device may have newer metadata. */
                        if (!inventory_pvs_have_reached(inventory, group->vg, DEVICE_UNRECORDED)) {
                                inventory->needs_recheck = true;
                                continue;
                        }
                        group->needs_recheck = false;
                        r = recheck(worker, devices, group);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}
