/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which VGs of the inventory have a name. It is one, nearly always; of several each leads to the next. */

#include "worker/inventory.h"

struct managed_group *inventory_find_named(const struct inventory *inventory, const char *name)
{
        return dm_hash_lookup(inventory->groups_by_name, name);
}

int inventory_name_group(struct inventory *inventory, struct managed_group *group)
{
        const char *name = group->volume_group->name;

        group->next_same_name = inventory_find_named(inventory, name);
        return dm_hash_insert(inventory->groups_by_name, name, group) ? 0 : -ENOMEM;
}

int inventory_unname_group(struct inventory *inventory, struct managed_group *group)
{
        const char *name = group->volume_group->name;
        struct managed_group *other = inventory_find_named(inventory, name);

        if (other == group) {
                if (!group->next_same_name)
                        dm_hash_remove(inventory->groups_by_name, name);
                else if (!dm_hash_insert(inventory->groups_by_name, name, group->next_same_name))
                        return -ENOMEM;
        } else {
                while (other->next_same_name != group)
                        other = other->next_same_name;
                other->next_same_name = group->next_same_name;
        }
        group->next_same_name = NULL;
        return 0;
}
