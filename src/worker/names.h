/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/inventory.h"

/* VGs by name, of which several may have the same, from the disks of other machines. */

/* A VG of that name, owned by the inventory, or NULL; the others are its `next_namesake`, and so on. All are checked, see
 * inventory_check(). */
struct managed_group *names_find(struct inventory *inventory, const char *name);

/* A VG of that name that is not `group`, owned by the inventory, or NULL. */
struct managed_group *names_find_other(
        const struct inventory *inventory, const struct managed_group *group, const char *name);

/* The VG that has the name of `group` and goes before it: lvm2 activates by events, of those with one name, only
 * the one that is complete first, for which it claims the name (`vgs_online`, see online.h). 0 and `*ret`, owned
 * by the inventory, or -ENOENT, or another negative errno. */
int names_find_rival(struct inventory *inventory, const struct managed_group *group, struct managed_group **ret);

/* Whether lvm2 has seen PVs of another VG of that name. It is to be asked for such a VG in a process of its own,
 * as by its own rule: that may tell the two apart by the list of PVs (`pvs_lookup`, see online.h). */
bool names_is_shared(const struct inventory *inventory, const struct managed_group *group);

/* Whether it has seen them first. The list is then that of the other VG. */
bool names_has_elder(const struct inventory *inventory, const struct managed_group *group);
