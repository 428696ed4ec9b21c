/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/inventory.h"

/* The VGs that somebody waits for: boot itself, by the name of an LV in fstab for instance, or a unit ordered
 * after one. They go before all others. Which PVs such a VG has is taken from lvm2's backup of its metadata, so
 * that it is known when the last of them has appeared, without reading any other disk. Only the order depends on
 * it: a backup can be out of date, and what a VG is made of is what its disks say. */

enum expectation_state {
        EXPECTATION_WAITING,   /* some PVs have not been announced, or are not known */
        EXPECTATION_ANNOUNCED, /* udev has announced all of them: to be read at once */
        EXPECTATION_TAKEN,     /* the worker is at it */
};

struct expectation {
        struct dm_list list; /* expectations.list */
        enum expectation_state state;
        char *name;
        uint64_t since_usec;
        bool overdue;                /* its deadline has passed, and nothing of it was seen */
        struct volume_group *backup; /* as the backup has it, with the devices that were announced; or NULL */
        struct managed_group *group; /* once a PV was read that tells of it; not owned */
};

/* Few: boot waits for as many as fstab names. */
struct expectations {
        struct dm_list list;
        uint64_t announced_usec; /* when the oldest in state ANNOUNCED got there */
};

void expectations_done(struct expectations *expectations);

/* Expects the VG `name`; `backup` is what its backup says, which is taken over in any case, or NULL if there is none. One that
 * is expected already stays as it is. Returns 0 and `*ret`, owned by the expectations, or -ENOMEM. */
int expectations_add(struct expectations *expectations, const char *name, struct volume_group *backup,
        struct expectation **ret) _must_check_;

/* The one for a VG of that name, or NULL. */
struct expectation *expectations_find(const struct expectations *expectations, const char *name);

/* udev has announced a PV as `device`. Returns whether somebody waits for it. */
bool expectations_announce(struct expectations *expectations, const char *pvid, dev_t device);

/* The VGs that have been announced are being dealt with. */
void expectations_take_announced(struct expectations *expectations);

/* The VG is settled, or nobody waits for it any longer. Frees the expectation. */
void expectation_drop(struct expectation *expectation);

/* When the disks of the VGs that have been announced are to be read: 0 for at once, USEC_INFINITY if none has
 * been, else a time to look again. */
uint64_t expectations_ready_at(const struct expectations *expectations, uint64_t now);
