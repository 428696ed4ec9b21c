/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/inventory.h"

/* VGs by name, of which several may have the same, from the disks of other machines. */

/* A VG of that name, owned by the inventory, or NULL; the others are its `next_same_name`, and so on. All are checked, see
 * inventory_check(). */
struct managed_group *names_find(struct inventory *inventory, const char *name);

/* Whether another VG of that name goes before it: lvm2 activates by events, of those with one name, only the one that is
 * complete first, for which it claims the name (`vgs_online`, see online.h). Returns 1, 0, or a negative errno, which is
 * logged. */
int names_is_taken(struct inventory *inventory, const struct managed_group *group);

/* Whether lvm2 has seen PVs of another VG of that name, which is known since before then. It is to be asked for such a VG in a process of its own,
 * as by its own rule: that may tell the two apart by the list of PVs (`pvs_lookup`, see online.h). */
bool names_is_shared(const struct inventory *inventory, const struct managed_group *group, uint64_t before_usec);

/* Writes that list, by online_write_lookup() or online_update_lookup(), unless lvm2 has seen PVs of the other VG first: it is
 * that VG's then. Returns 0 or a negative errno, which is logged. */
int names_write_lookup(const struct inventory *inventory, const struct managed_group *group,
        int (*write)(int lvm_run_fd, const struct volume_group *vg));
