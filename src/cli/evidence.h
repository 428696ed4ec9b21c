/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/active.h"
#include "lvm/configuration.h"
#include "lvm/dm_devices.h"
#include "lvm/volume_group.h"

/* What tells of a VG where the worker has written nothing down: lvm2's backup of its metadata, lvm2's record of the
 * PVs that are online, and the LVs in device-mapper. What cannot be read, by somebody who is not root for instance,
 * tells of nothing. */
struct evidence {
        int root_fd;
        int lvm_run_fd; /* < 0 if there is nothing to be seen */
        struct configuration configuration;
        struct dm_devices list;
        struct active_devices *active; /* the same, or NULL */
};

/* Nothing, of which nothing has to be freed. */
#define EVIDENCE_NONE ((struct evidence){.root_fd = -EBADF, .lvm_run_fd = -EBADF})

/* Returns 0 and `*ret`, to be emptied with evidence_done(), or a negative errno. */
int evidence_gather(struct evidence *ret) _nonnull_(1) _must_check_;

/* Makes the VG of that name of it, in state UNKNOWN. Without a backup it has no PVs, and those LVs that are active;
 * if these do not tell its identifier, that is empty. Returns 0 or -ENOMEM. */
int evidence_describe(const struct evidence *evidence, const char *name, struct volume_group **ret)
        _nonnull_(1, 2, 3) _must_check_;

void evidence_done(struct evidence *evidence) _nonnull_(1);
#define _cleanup_evidence_ _cleanup_(evidence_done)
