/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/inventory.h"
#include "lvm/config.h"
#include "shared/settings.h"

/* The VGs that are to come. Some are waited for: by boot itself, for the name of an LV in fstab for instance, or by a unit ordered
 * after one. They go before all others. Of others lvm2's backups tell that the machine has them. */

struct expectation {
        struct dm_list list; /* expectations.list */
        char *name;
        uint64_t since_usec;
        bool overdue;                /* its deadline has passed, and nothing of it was seen */
        struct managed_group *group; /* once a PV was read that tells of it; not owned */
};

/* Few: boot waits for as many as fstab names. */
struct expectations {
        struct dm_list list;
};

void expectations_done(struct expectations *expectations);

/* Expects the VG `name`. One that is expected already stays as it is. Returns 0 and `*ret`, owned by the expectations, or
 * -ENOMEM. */
int expectations_add(struct expectations *expectations, const char *name, struct expectation **ret) _must_check_;

/* The one for a VG of that name, or NULL. */
struct expectation *expectations_find(const struct expectations *expectations, const char *name);

/* Whether one of them, of which not all LVs are active yet, may come at any moment, as it is 5 s at most since the first device of
 * all has come, or has just come, since all of its PVs have. Both times are those of now_usec(). */
bool expectations_are_near(const struct expectations *expectations, uint64_t first_device_usec, uint64_t now);

/* Adds to `names` those VGs that lvm2 has a backup of and would activate, that nothing was seen of, and that headgate.conf does not say
 * are not expected. What is wrong with a backup, the generator has said. Returns 0 or -ENOMEM. */
int absent_list(struct inventory *inventory, const struct config *config, const struct settings *settings,
        struct strv *names) _must_check_;

/* Of these, how many are still not there. */
size_t absent_count(const struct inventory *inventory, const struct strv *names);

/* What such a VG consists of, which only its backup tells. A PV may be there that holds no metadata, and does not tell which VG it
 * belongs to. Returns 0 and `*ret`, or what backup_read() does. */
int absent_read_backup(const struct inventory *inventory, const struct config *config, const char *name,
        struct vg **ret) _must_check_;

/* Whether a device is there that is called like an LV of the VG: what an entry names may only look like one. */
bool absent_is_name_of_others(const char *name);

/* The VG is settled, or nobody waits for it any longer. Frees the expectation. */
void expectation_drop(struct expectation *expectation);
