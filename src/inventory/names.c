/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* VGs by name. VGs with the same name are linked; lvm2's records decide which of them lvm2 activates. */

#include "inventory/inventory.h"

#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"

struct vg_entry *names_find(struct inventory *inventory, const char *name)
{
        struct vg_entry *first = inventory_find_named(inventory, name);

        for (struct vg_entry *group = first; group; group = group->next_same_name)
                (void) inventory_check(inventory, group);
        return first;
}

size_t names_count_recorded(const struct inventory *inventory, const struct vg *vg)
{
        size_t n = 0;

        FOREACH_PV(pv, vg)
                n += online_find_pv(inventory->lvm_run_fd, pv->pvid) != 0;
        return n;
}

bool names_is_shared(const struct inventory *inventory, const struct vg_entry *group, uint64_t before_usec)
{
        const struct vg_entry *other = inventory_find_named(inventory, group->vg->name);

        return ANY(for (; other; other = other->next_same_name),
                other != group && other->vg->first_seen_usec < before_usec &&
                        names_count_recorded(inventory, other->vg) > 0);
}

int names_write_lookup(const struct inventory *inventory, const struct vg_entry *group,
        int (*write)(int lvm_run_fd, const struct vg *vg))
{
        const struct vg *vg = group->vg;
        int r;

        if (names_is_shared(inventory, group, vg->first_seen_usec))
                return 0;
        r = write(inventory->lvm_run_fd, vg);
        return r < 0 ? log_error_errno(r, "Failed to write the list of PVs of VG %s: %m", vg->name) : 0;
}

/* Whether `other` has been complete for longer. */
static bool completed_before(
        const struct inventory *inventory, const struct vg_entry *other, const struct vg_entry *group)
{
        FOREACH_LISTED(const struct vg_entry, first, &inventory->groups[VG_STATUS_COMPLETE])
                if (first == group || first == other)
                        return first == other;
        return false;
}

/* Whether the other VG, of the same name as the complete `group`, had the name first. */
static bool has_claimed(const struct inventory *inventory, const struct vg_entry *other,
        const struct vg_entry *group, bool claimed)
{
        const struct vg *vg = other->vg;
        /* lvm2's rule does not find it complete: the last PV has no metadata that lists the others, and the list of
         * PVs for the name belongs to another VG. */
        bool overlooked = other->last_is_bare && names_is_shared(inventory, other, vg->first_seen_usec);

        switch (vg->status) {
        case VG_STATUS_COMPLETE:
                return !overlooked && completed_before(inventory, other, group) &&
                       names_count_recorded(inventory, vg) == vg->n_pvs;
        case VG_STATUS_ACTIVATING:
                return !overlooked;
        case VG_STATUS_DEGRADED:
                return vg_count(vg).active > 0;
        case VG_STATUS_ACTIVE:
                /* After a manual deactivation its name is free. */
                return claimed;
        case VG_STATUS_SKIPPED:
        case VG_STATUS_FAILED:
                /* lvm2 ignores the outcome. This does not hold for a VG that was deferred itself. */
                return !overlooked && (vg->activating_usec != 0 || vg->skip_reason) &&
                       names_count_recorded(inventory, vg) == vg->n_pvs;
        default:
                return false;
        }
}

int names_is_taken(struct inventory *inventory, const struct vg_entry *group)
{
        const char *name = group->vg->name;
        int claimed = online_is_claimed(inventory->lvm_run_fd, name);

        if (claimed < 0)
                return log_error_errno(claimed, "Failed to look for other VGs named %s: %m", name);
        for (const struct vg_entry *other = names_find(inventory, name); other; other = other->next_same_name)
                if (other != group && has_claimed(inventory, other, group, claimed))
                        return true;
        return false;
}
