/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/names.h"

#include "lvm/online.h"
#include "shared/util.h"

/* Brings to memory what earlier workers have left in files. One that is damaged is no VG. */
static int load_all(struct inventory *inventory)
{
        _cleanup_closedir_ DIR *dir = open_directory_at(inventory->vgs_fd, ".");
        const struct dirent *entry;

        if (!dir)
                return -errno;

        while (errno = 0, (entry = readdir(dir))) {
                struct managed_group *group;

                if (entry->d_name[0] != '.')
                        (void) inventory_find_group(inventory, entry->d_name, &group);
        }
        return -errno;
}

int names_find_group(struct inventory *inventory, const char *name, struct managed_group **ret)
{
        struct managed_group *group;
        int r;

        r = load_all(inventory);
        if (r < 0)
                return r;
        for (enum volume_group_state state = 0; state < _VOLUME_GROUP_STATE_MAX; state++)
                dm_list_iterate_items(group, &inventory->groups[state])
                        if (streq(group->volume_group->name, name)) {
                                *ret = group;
                                return 0;
                        }
        return -ENOENT;
}

/* Of how many of its PVs lvm2 has a record. With one of each it would have claimed the VG's name for it. */
static size_t count_recorded(const struct inventory *inventory, const struct volume_group *volume_group)
{
        size_t n = 0;
        dev_t recorded;

        for (size_t i = 0; i < volume_group->n_pvs; i++)
                n += online_read_pv(inventory->lvm_run_fd, volume_group->pvs[i].pvid, &recorded) == ONLINE_FOUND;
        return n;
}

static bool is_recorded(const struct inventory *inventory, const struct volume_group *volume_group)
{
        return count_recorded(inventory, volume_group) == volume_group->n_pvs;
}

/* Whether there is a VG of the same name of which lvm2 has seen a PV, the VG being known since before `usec`. */
static bool has_namesake(const struct inventory *inventory, const struct managed_group *group, uint64_t usec)
{
        const struct managed_group *other;

        for (enum volume_group_state state = 0; state < _VOLUME_GROUP_STATE_MAX; state++)
                dm_list_iterate_items(other, &inventory->groups[state])
                        if (other != group && other->volume_group->first_seen_usec < usec &&
                                streq(other->volume_group->name, group->volume_group->name) &&
                                count_recorded(inventory, other->volume_group) > 0)
                                return true;
        return false;
}

bool names_is_shared(const struct inventory *inventory, const struct managed_group *group)
{
        return has_namesake(inventory, group, USEC_INFINITY);
}

bool names_has_elder(const struct inventory *inventory, const struct managed_group *group)
{
        return has_namesake(inventory, group, group->volume_group->first_seen_usec);
}

/* Whether the VG, of the same name as one that is complete, had the name first. */
static bool has_claimed(const struct inventory *inventory, const struct volume_group *volume_group, bool claimed)
{
        switch (volume_group->state) {
        case VOLUME_GROUP_ACTIVATING:
                return true;
        case VOLUME_GROUP_ACTIVE:
                /* Once it is deactivated by hand, its name is free. */
                return claimed;
        case VOLUME_GROUP_SKIPPED:
        case VOLUME_GROUP_FAILED:
                /* What came of it is all the same to lvm2. Not so one that had to stand back itself. */
                return (volume_group->activating_usec != 0 || volume_group->skip_reason) &&
                       is_recorded(inventory, volume_group);
        default:
                return false;
        }
}

int names_find_rival(struct inventory *inventory, const struct managed_group *group, struct managed_group **ret)
{
        const char *name = group->volume_group->name;
        int claimed = online_is_claimed(inventory->lvm_run_fd, name);
        struct managed_group *other;

        if (claimed < 0)
                return claimed;
        /* A worker that is no more may have activated it. */
        if (claimed) {
                int r = load_all(inventory);

                if (r < 0)
                        return r;
        }

        /* Of those that are complete, the one that has been so for the longest time is the first of the list. */
        dm_list_iterate_items(other, &inventory->groups[VOLUME_GROUP_COMPLETE]) {
                if (other == group)
                        break;
                if (streq(other->volume_group->name, name) && is_recorded(inventory, other->volume_group)) {
                        *ret = other;
                        return 0;
                }
        }
        for (enum volume_group_state state = 0; state < _VOLUME_GROUP_STATE_MAX; state++)
                dm_list_iterate_items(other, &inventory->groups[state])
                        if (other != group && streq(other->volume_group->name, name) &&
                                has_claimed(inventory, other->volume_group, claimed)) {
                                *ret = other;
                                return 0;
                        }
        return -ENOENT;
}
