/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/inventory.h"

/* VGs by name, of which several may have the same, from the disks of other machines; and what else needs the files of all
 * VGs. */

/* The VG of that name. Looks at all files of earlier workers: only for what people ask for. If several have the
 * name, one of them. 0 and `*ret`, owned by the inventory, or -ENOENT, or another negative errno. */
int names_find_group(struct inventory *inventory, const char *name, struct managed_group **ret);

/* The VG that has or waits for the PV, also if that has no link; likewise. */
int names_find_group_of_pv(struct inventory *inventory, const char *pvid, struct managed_group **ret);

/* A VG of that name that is not `group`, likewise. */
int names_find_other(struct inventory *inventory, const struct managed_group *group, const char *name,
        struct managed_group **ret);

/* The VG that has the name of `group` and goes before it: lvm2 activates by events, of those with one name, only
 * the one that is complete first, for which it claims the name (`vgs_online`, see online.h). 0 and `*ret`, owned
 * by the inventory, or -ENOENT, or another negative errno. */
int names_find_rival(struct inventory *inventory, const struct managed_group *group, struct managed_group **ret);

/* Whether lvm2 has seen PVs of another VG of that name. It is to be asked for such a VG in a process of its own,
 * as by its own rule: that may tell the two apart by the list of PVs (`pvs_lookup`, see online.h). */
bool names_is_shared(const struct inventory *inventory, const struct managed_group *group);

/* Whether it has seen them first. The list is then that of the other VG. */
bool names_has_elder(const struct inventory *inventory, const struct managed_group *group);
