/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "lvm/vg.h"
#include "shared/macro.h"
#include "shared/util.h"

/* lvm2's records in /run/lvm: which PVs are online, and which VGs were autoactivated. "lvm pvscan --cache" writes
 * them, "lvm vgchange --autoactivation event" reads them. Source of names and formats: lvm2, lib/device/online.c. */

/* Opens /run/lvm ($HEADGATE_LVM_RUN_DIRECTORY in tests), and creates missing directories as lvm2 would. Returns a
 * descriptor or a negative errno. */
int online_open_directory(void);

/* Opens it for reading only: any part of it may be missing. Returns a descriptor or a negative errno. */
int online_open_to_look(void);

enum {
        ONLINE_FOUND = 0,
        ONLINE_NONE = 1, /* no such file, or an empty one */
};

/* Reads lvm2's record of a PV: its device, and the name of its VG, NULL if it has none; the caller frees it, or
 * passes NULL. Returns a value of the enum above or a negative errno. */
int online_read_pv(int lvm_run_fd, const char *pvid, dev_t *ret, char **ret_vg_name) _nonnull_(2, 3) _must_check_;

/* Returns only the device; 0 if there is none, or on error. */
dev_t online_find_pv(int lvm_run_fd, const char *pvid) _nonnull_all_;

/* Lists the VG of each recorded PV, without order, and with repetitions; records without a VG are skipped.
 * `lvm_run_fd` only has to be readable, and may lack pvs_online. Returns 0 or a negative errno; -E2BIG for more
 * records than any machine has PVs. */
int online_list_vgs(int lvm_run_fd, struct strv *names) _nonnull_all_ _must_check_;

/* Writes pvs_lookup/VG, the list of the VG's PVs, with which a vgchange of this VG alone finds PVs without metadata
 * without a scan of all devices. lvm2 writes it once and never updates it; this replaces it. Returns 0 or a
 * negative errno. */
int online_write_lookup(int lvm_run_fd, const struct vg *vg) _nonnull_all_;

/* Likewise, if there is one, which may be out of date. */
int online_update_lookup(int lvm_run_fd, const struct vg *vg) _nonnull_all_;

/* vgs_online/VG: the VG was autoactivated, and further events do not activate it again. lvm2 removes the file when
 * an LV of the VG is deactivated. Claiming a claimed VG is not an error, nor is the opposite. Return 0,
 * online_is_claimed() also 1, or a negative errno. */
int online_claim(int lvm_run_fd, const char *vg_name) _nonnull_all_;
int online_is_claimed(int lvm_run_fd, const char *vg_name) _nonnull_all_;
int online_unclaim(int lvm_run_fd, const char *vg_name) _nonnull_all_;

/* Removes lvm2's record of a PV that is no longer on the recorded device, with the claim and list of its VG.
 * "pvscan --cache MAJOR:MINOR" does the same for a removed device. `vg_name` may be NULL. Missing files are not an
 * error. */
int online_forget(int lvm_run_fd, const char *pvid, const char *vg_name) _nonnull_(2);

/* Removes the claim and the list of a VG name that no VG has any longer. */
int online_forget_name(int lvm_run_fd, const char *vg_name) _nonnull_all_;

/* lvm2's locks of VGs, for changing devices that lvm2 may use. Taken as in lvm2 (lib/locking/file_locking.c and
 * lib/misc/lvm-flock.c): flock(2) on the file V_NAME in a directory, which is created for it and removed with it. */

struct vg_lock {
        char *name; /* of the VG */
        int fd; /* if it is taken; else the negative errno of the last attempt, -EAGAIN if another process has it */
};

struct vg_locks {
        const char *directory;
        struct vg_lock *locks;
        size_t n;
};

/* `directory` is global/locking_dir of lvm.conf, kept, not copied; it is created if missing. Returns 0 or a negative errno. */
int vg_locks_init(struct vg_locks *locks, const char *directory) _nonnull_all_ _must_check_;

/* Takes the exclusive lock of a VG, retrying until `until_usec` (now_usec()). Returns 1 if it was taken now; 0 if
 * it had been taken before, or cannot be; or -ENOMEM. */
int vg_locks_take(struct vg_locks *locks, const char *name, uint64_t until_usec) _nonnull_all_ _must_check_;

/* Whether another process has the lock of a VG now. */
bool vg_is_locked(const char *directory, const char *name) _nonnull_all_;

/* Releases all locks. */
void vg_locks_done(struct vg_locks *locks) _nonnull_all_;
