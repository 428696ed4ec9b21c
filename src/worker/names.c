/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/names.h"

#include "lvm/online.h"
#include "shared/log.h"
#include "shared/util.h"

struct managed_group *names_find(struct inventory *inventory, const char *name)
{
        struct managed_group *first = inventory_find_named(inventory, name);

        for (struct managed_group *group = first; group; group = group->next_same_name)
                (void) inventory_check(inventory, group);
        return first;
}

/* Of how many of its PVs lvm2 has a record. With one of each it would have claimed the VG's name for it. */
static size_t count_recorded(const struct inventory *inventory, const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_pvs; i++)
                n += online_find_pv(inventory->lvm_run_fd, volume_group->pvs[i].pvid) != 0;
        return n;
}

bool names_is_shared(const struct inventory *inventory, const struct managed_group *group, uint64_t before_usec)
{
        const struct managed_group *other = inventory_find_named(inventory, group->volume_group->name);

        for (; other; other = other->next_same_name)
                if (other != group && other->volume_group->first_seen_usec < before_usec &&
                        count_recorded(inventory, other->volume_group) > 0)
                        return true;
        return false;
}

int names_write_lookup(const struct inventory *inventory, const struct managed_group *group,
        int (*write)(int lvm_run_fd, const struct volume_group *volume_group))
{
        const struct volume_group *volume_group = group->volume_group;
        int r;

        if (names_is_shared(inventory, group, volume_group->first_seen_usec))
                return 0;
        r = write(inventory->lvm_run_fd, volume_group);
        return r < 0 ? log_error_errno(r, "Failed to write the list of PVs of VG %s: %m", volume_group->name) : 0;
}

/* Whether the VG, of the same name as one that is complete, had the name first. */
static bool has_claimed(const struct inventory *inventory, const struct volume_group *volume_group, bool claimed)
{
        switch (volume_group->state) {
        case VOLUME_GROUP_ACTIVATING:
                return true;
        case VOLUME_GROUP_DEGRADED:
                return volume_group_count_active(volume_group) > 0;
        case VOLUME_GROUP_ACTIVE:
                /* Once it is deactivated by hand, its name is free. */
                return claimed;
        case VOLUME_GROUP_SKIPPED:
        case VOLUME_GROUP_FAILED:
                /* What came of it is all the same to lvm2. Not so one that had to stand back itself. */
                return (volume_group->activating_usec != 0 || volume_group->skip_reason) &&
                       count_recorded(inventory, volume_group) == volume_group->n_pvs;
        default:
                return false;
        }
}

/* Whether it has been complete for longer, if one of the two is complete. */
static bool is_elder(
        const struct inventory *inventory, const struct managed_group *other, const struct managed_group *group)
{
        const struct managed_group *first;

        dm_list_iterate_items(first, &inventory->groups[VOLUME_GROUP_COMPLETE])
                if (first == group || first == other)
                        return first == other;
        return false;
}

int names_is_taken(struct inventory *inventory, const struct managed_group *group)
{
        const char *name = group->volume_group->name;
        int claimed = online_is_claimed(inventory->lvm_run_fd, name);

        if (claimed < 0)
                return log_error_errno(claimed, "Failed to look for other VGs called %s: %m", name);
        for (const struct managed_group *other = names_find(inventory, name); other; other = other->next_same_name)
                if (other != group && (has_claimed(inventory, other->volume_group, claimed) ||
                                              (other->volume_group->state == VOLUME_GROUP_COMPLETE &&
                                                      is_elder(inventory, other, group) &&
                                                      count_recorded(inventory, other->volume_group) ==
                                                              other->volume_group->n_pvs)))
                        return true;
        return false;
}
