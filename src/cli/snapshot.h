/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/volume_group.h"

/* All VGs that headgate knows, as its worker has written them down, but with the LVs that are active now. Needs no
 * running worker. */
struct snapshot {
        struct volume_group **volume_groups; /* by name */
        size_t n;
};

/* Reads the records below `run_fd`. One that is damaged is named in a line on standard error and left out. Returns 0 or a
 * negative errno. */
int snapshot_read(int run_fd, struct snapshot *ret);

/* The same for who looks again and again: `*records`, NULL at first and to be freed at last, is read on. */
int snapshot_read_on(int run_fd, struct record_file **records, struct snapshot *ret);

/* Takes over a VG and puts it into its place by name. Returns 0, or -ENOMEM, and then the VG stays the caller's. */
int snapshot_insert(struct snapshot *snapshot, struct volume_group *volume_group) _nonnull_(1, 2) _must_check_;

void snapshot_done(struct snapshot *snapshot);
#define _cleanup_snapshot_ _cleanup_(snapshot_done)

/* Opens the run directory, provided that headgate is in charge of activation. Returns a descriptor or a negative
 * errno, having said on standard error why it cannot be. */
int open_run_directory_in_charge(void);

/* The VG of that name, or NULL. Of several with one name, the first. */
const struct volume_group *snapshot_find(const struct snapshot *snapshot, const char *name);

/* One line on standard error about a VG that is not up: its state and why, or which PVs are missing. */
void explain_volume_group(const struct volume_group *volume_group);

/* The same about a VG that no PV was seen of. */
void explain_absent(const char *name);
