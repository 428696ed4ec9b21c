/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/sources.h"

/* All VGs at one moment, each judged once: those that the worker has on record, with the LVs that are active now, and those
 * that are added. They are in the sources. Needs no running worker. */

/* Reads records, which are read on, and devices, anew, and all VGs in place of those before. A record that is damaged is named
 * in a line on standard error and left out. Where the kernel cannot be asked, each VG is as the worker saw it. Returns 0 or a
 * negative errno. */
int snapshot_read(struct sources *sources) _nonnull_all_ _must_check_;

/* Brings the VG, which was made of a record, up to date: LVs, state and reason. */
void snapshot_judge(const struct sources *sources, struct vg *vg) _nonnull_all_;

/* The VG of that name, or NULL. Of several with one name, one with active LVs, or else the first. */
const struct vg *snapshot_find(const struct sources *sources, const char *name) _nonnull_all_;

/* ------ VGs without a record ------ */

/* The worker has no record of them, but lvm2's backup of the metadata tells of them, its record of the PVs that are online, or
 * LVs in device-mapper. What cannot be read, by somebody who is not root for instance, tells of nothing. */

/* Adds the VG of that name, unless it is there: ACTIVE if all LVs are that autoactivation would activate; ABSENT if it is
 * planned, and none of its PVs and LVs is there; none, if no entry names it and its PVs are another VG's by now; else UNKNOWN, as somebody may want it as it is. Without a backup it has no
 * PVs, and those LVs that are active. `planned` is the VG in the plan of boot; NULL if it is not in there, or headgate is not
 * in charge. */
void unrecorded_add(struct sources *sources, const char *name, const struct planned_vg *planned) _nonnull_(1, 2);

/* Adds all that have a name among the sources' names. */
void unrecorded_add_all(struct sources *sources) _nonnull_all_;

/* Adds to a VG that is made of its metadata which PVs are there, as lvm2 has them on record and the kernel has the device, which
 * LVs are active, and the state that follows. Returns 0 or -ENOMEM. */
int unrecorded_judge(const struct sources *sources, struct vg *vg) _nonnull_all_ _must_check_;

/* Makes a VG of lvm2's backup and that. Returns as sources_read_backup(). */
int unrecorded_read(const struct sources *sources, const char *name, struct vg **ret) _nonnull_all_ _must_check_;

/* ------ VGs that the machine is known to have, and of which headgate has seen no PV ------ */

/* Makes the plan of boot, less the VGs that were read, of the files of which headgate-generator makes its plan; those of VGs
 * that were are not read. "headgate plan activate" reports what is wrong with any of them. Returns 0 and `*ret`, to be
 * emptied with plan_done(), or a negative errno. */
int expected_find(struct sources *sources, struct plan *ret) _nonnull_all_ _must_check_;

/* The same, and adds these VGs; those that are not to be activated only with `all`. `*ret` starts empty. */
int expected_add(struct sources *sources, bool all, struct plan *ret) _nonnull_all_ _must_check_;

/* Makes a plan of the VGs that were read and of what entries of fstab, crypttab and the command line say of them, without looking
 * into backups. VGs beyond PLAN_VGS_MAX are left out. Returns 0 and `*ret`, to be emptied with plan_done(), or -ENOMEM. */
int claims_find(const struct sources *sources, struct plan *ret) _nonnull_all_ _must_check_;

/* Whether there is more of the VG than a backup, which may be of one that was removed: it is on record or planned; or, where lvm2's
 * rule is in charge, one of its LVs is active, or a PV is on lvm2's record of what is online. */
bool snapshot_is_current(const struct sources *sources, const struct vg *vg) _nonnull_all_;

/* ------ judgement ------ */

/* What the state of a VG is now, for all who look on. The worker's records say how it was when the worker looked last; LVs
 * may have been activated or deactivated since. */
struct judgement_facts {
        struct vg_counts before; /* by the record */
        struct vg_counts now;
        bool exported;    /* by the metadata that the worker has read */
        bool claimed;     /* lvm2 counts the VG as autoactivated */
        bool lost_pv;     /* a PV was removed while LVs were active */
        bool whole_again; /* of one that was degraded: all PVs take part in all RAIDs */
};

/* Of a VG that has a record. A pure function of facts. */
enum vg_status judge_recorded(enum vg_status recorded, const struct judgement_facts *facts) _nonnull_all_;

/* Of a VG without one: ACTIVE if all is that autoactivation would activate; ABSENT if nothing of it is there; else UNKNOWN, as
 * somebody may want it as it is. */
enum vg_status judge_unrecorded(const struct vg *vg) _nonnull_all_;
