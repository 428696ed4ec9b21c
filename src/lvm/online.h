/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>
#include <sys/types.h>

#include "lvm/vg.h"
#include "shared/macro.h"
#include "shared/util.h"

/* lvm2's own record of what is online, in /run/lvm: which PVs there are, and which VGs were autoactivated. "lvm
 * pvscan --cache" writes it, "lvm vgchange --autoactivation event" reads it. Source of names and formats: lvm2,
 * lib/device/online.c. */

/* Opens /run/lvm ($HEADGATE_LVM_RUN_DIRECTORY in tests), and makes what is missing of it as lvm2 would. Returns
 * a descriptor or a negative errno. */
int online_open_directory(void);

/* Opens it as it is, for who only looks: any of it may be missing. Returns a descriptor or a negative errno. */
int online_open_to_look(void);

enum {
        ONLINE_FOUND = 0,
        ONLINE_NONE = 1, /* no such file, or one that says nothing */
};

/* The device as which lvm2 has recorded a PV, and the VG of which it was then, which may not be asked for, NULL where the
 * record names none, and is to be freed by the caller. Returns one of the above or a negative errno. */
int online_read_pv(int lvm_run_fd, const char *pvid, dev_t *ret, char **ret_vg_name) _nonnull_(2, 3) _must_check_;

/* The device alone, or 0 if there is none, or that cannot be told. */
dev_t online_find_pv(int lvm_run_fd, const char *pvid) _nonnull_all_;

/* The VGs of the PVs that are on record, each once for each of its PVs, in no order; records that name no VG
 * are left out. `lvm_run_fd` needs only to be readable, and may lack pvs_online. Returns 0 or a negative errno;
 * -E2BIG for more records than any machine has PVs. */
int online_list_vgs(int lvm_run_fd, struct strv *names) _nonnull_all_ _must_check_;

/* Writes pvs_lookup/VG, the list of the VG's PVs: with it a vgchange of this VG alone finds PVs that hold no
 * metadata without a scan of all devices. lvm2 writes it once and never updates it; this replaces it. Returns 0
 * or a negative errno. */
int online_write_lookup(int lvm_run_fd, const struct vg *vg) _nonnull_all_;

/* Likewise, if lvm2 has written one, which may be out of date. */
int online_update_lookup(int lvm_run_fd, const struct vg *vg) _nonnull_all_;

/* vgs_online/VG says that the VG was autoactivated and is not to be again for a further event. lvm2 removes it
 * when an LV of the VG is deactivated. Claiming a VG that is claimed is success, and so is the opposite. Return 0,
 * for the question also 1, or a negative errno. */
int online_claim(int lvm_run_fd, const char *vg_name) _nonnull_all_;
int online_is_claimed(int lvm_run_fd, const char *vg_name) _nonnull_all_;
int online_unclaim(int lvm_run_fd, const char *vg_name) _nonnull_all_;

/* Removes what lvm2 has recorded of a PV that is no longer where the record says, and the VG's claim and list with
 * it, as "pvscan --cache MAJOR:MINOR" does when a device goes. `vg_name` may be NULL. What is not there
 * is success. */
int online_forget(int lvm_run_fd, const char *pvid, const char *vg_name) _nonnull_(2);

/* Removes the claim and the list of a VG that nobody has under that name any more. */
int online_forget_name(int lvm_run_fd, const char *vg_name) _nonnull_all_;

/* lvm2's locks of VGs, for whoever changes what lvm2 believes to be alone with. As lvm2 takes them itself (lvm2,
 * lib/locking/file_locking.c and lib/misc/lvm-flock.c): flock(2) on the file V_NAME in a directory, which is made
 * for it and removed with it. */

struct vg_locks {
        char *directory;
        struct dm_hash_table *locks; /* by the VG's name */
};

/* `directory` is global/locking_dir of lvm.conf, and is made if it does not exist. Returns 0 or a negative
 * errno. */
int vg_locks_init(struct vg_locks *locks, const char *directory) _nonnull_all_ _must_check_;

/* Takes the lock of a VG against everybody else. While somebody has it, tries again until `until_usec`, as by
 * now_usec(). Returns 1 if it has been taken now; 0 if it had been before, or cannot be taken; or -ENOMEM. */
int vg_locks_take(struct vg_locks *locks, const char *name, uint64_t until_usec) _nonnull_all_ _must_check_;

/* What came of the last try: 0, a negative errno, -EAGAIN if somebody else has the lock; or -ENOENT for a VG that
 * was not tried. */
int vg_locks_get(const struct vg_locks *locks, const char *name) _nonnull_all_;

/* Whether somebody has the lock of a VG now. */
bool vg_is_locked(const char *directory, const char *name) _nonnull_all_;

/* Gives all of them back. */
void vg_locks_done(struct vg_locks *locks) _nonnull_all_;
