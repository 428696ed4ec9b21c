/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* LVs that the initrd has to activate: those at or anywhere below the devices of /, /usr and mounts with x-initrd.mount, and the
 * device to resume from. Read from the running system, for which the initrd has to be. */

struct needed_lv {
        char *name;     /* "VG/LV"; first, to be sorted by */
        char *vg, *lv;  /* its parts */
        struct strv by; /* what needs it: "/", "/usr", "resume", "other"; each once */
};

struct needed {
        struct needed_lv *lvs; /* by name; without hidden LVs */
        size_t n;
        char *obstacle; /* why LVs cannot be found, a clause; NULL if they can, or without memory */
};

/* Finds the LVs. `devices` are names, as in fstab, of further devices that the initrd opens. Returns 0; -ENXIO and the obstacle
 * if the LVs of /, /usr or one of these devices cannot be found; or another negative errno. A device to resume from that cannot
 * be found is ignored, since the initrd boots without it. */
int needed_find(int root_fd, char *const devices[], size_t n_devices, struct needed *ret)
        _nonnull_(4) _must_check_;

void needed_done(struct needed *needed) _nonnull_all_;
#define _cleanup_needed_ _cleanup_(needed_done)
