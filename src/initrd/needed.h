/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* Which LVs have to be active in the initrd: those at or anywhere below the devices that it mounts, which are those of / and
 * /usr, or resumes from. Asked of the running system, so that it must be the one that the initrd is for. */

struct needed_lv {
        char *name;     /* "VG/LV"; first, to be sorted by */
        char *vg, *lv;  /* the parts of it */
        struct strv by; /* what needs it: "/", "/usr", "resume", "other"; each once */
};

struct needed {
        struct needed_lv *lvs; /* by name; without those that are only parts of others */
        size_t n;
        char *obstacle; /* why it cannot be told, a clause; NULL if it can, or without memory */
};

/* `devices` are names, as in fstab, of further devices that the initrd opens. Returns 0, or a negative errno:
 * -ENXIO and the obstacle if it cannot be told what /, /usr or one of these devices need. What cannot be told
 * of a device to resume from is left out, as the initrd goes on without it. */
int needed_find(int root_fd, char *const devices[], size_t n_devices, struct needed *ret)
        _nonnull_(4) _must_check_;

void needed_done(struct needed *needed) _nonnull_all_;
#define _cleanup_needed_ _cleanup_(needed_done)
