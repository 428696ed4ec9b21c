/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/inventory.h"
#include "lvm/config.h"
#include "shared/settings.h"

/* Expected VGs, and absent ones. An expected VG is one that boot (an LV in fstab, for example) or a unit waits for;
 * it is activated before others. An absent VG is known only from lvm2's backup. */

struct expectation {
        struct dm_list list; /* of all expectations, few as fstab names them */
        char *name;
        uint64_t since_usec;
        bool overdue;           /* its deadline has passed without any PV */
        struct vg_entry *group; /* once a PV of it was read; not owned */
};

void expectations_done(struct dm_list *expectations);

/* Adds an expectation of the VG `name`, unless there is one. Returns 0 and `*ret`, owned by the expectations, or
 * -ENOMEM. */
int expectations_add(struct dm_list *expectations, const char *name, struct expectation **ret) _must_check_;

/* Returns the expectation of that VG, or NULL. */
struct expectation *expectations_find(const struct dm_list *expectations, const char *name);

/* Whether an expected VG with inactive LVs may appear at any moment: the first device of all, or its last PV, appeared
 * less than 5 s ago. Times are those of now_usec(). */
bool expectations_are_near(const struct dm_list *expectations, uint64_t first_device_usec, uint64_t now);

/* Adds the absent VGs to `names`: lvm2 has a backup of them and would autoactivate them, no PV has appeared, and
 * headgate.conf does not exclude them. Bad backups are not reported here, as the generator reports them. Returns 0
 * or -ENOMEM. */
int absent_list(struct inventory *inventory, const struct config *config, const struct settings *settings,
        struct strv *names) _must_check_;

/* How many of these are still absent. */
size_t absent_count(const struct inventory *inventory, const struct strv *names);

/* Reads the backup of an absent VG, the only source for its PVs. A PV without metadata may be present, but does not
 * contain the name of its VG. Returns 0 and `*ret`, or an error of backup_read(). */
int absent_read_backup(const struct inventory *inventory, const struct config *config, const char *name,
        struct vg **ret) _must_check_;

/* Whether /dev has a device that is named like an LV of this VG, but is none. */
bool absent_has_foreign_device(const char *name);

/* Frees the expectation: the VG is settled, or nothing waits for it any longer. */
void expectation_drop(struct expectation *expectation);
