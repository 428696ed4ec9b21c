/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/sources.h"

/* All VGs at one moment, each with its state: VGs with a record of the worker, updated by the active LVs, and added ones. The
 * sources own them. Needs no running worker. */

/* Reads new records, all devices and all VGs, and replaces the VGs of the last call. Logs and omits a damaged record. If the
 * kernel cannot be asked, each VG is as on record. Returns 0 or a negative errno. */
int snapshot_read(struct sources *sources) _nonnull_all_ _must_check_;

/* Updates a VG from a record: LVs, state and reason. */
void snapshot_judge(const struct sources *sources, struct vg *vg) _nonnull_all_;

/* Finds a VG by its name, or returns NULL. Of several, one with active LVs, or else the first. */
const struct vg *snapshot_find(const struct sources *sources, const char *name) _nonnull_all_;

/* ------ VGs without a record ------ */

/* VGs without a record of the worker are known from lvm2's metadata backup, its records of online PVs, or LVs in device-mapper.
 * Sources that cannot be read, for lack of permission for instance, are ignored. The configuration and the devices have to be
 * read. */

/* Adds the VG of that name at the end, unless it is there. It is ACTIVE if all LVs with autoactivation are active; ABSENT if it is planned,
 * and none of its PVs and LVs is there; otherwise UNKNOWN. It is not added if no entry names it and other VGs have its PVs.
 * Without a backup it has no PVs, and only its active LVs. `planned` is the VG in the plan of boot; NULL if it is not planned, or
 * headgate is not in charge. Returns 0 or -ENOMEM. */
int unrecorded_add(struct sources *sources, const char *name, const struct planned_vg *planned)
        _nonnull_(1, 2) _must_check_;

/* Reads the sources' list of names, and adds all VGs in it. Returns likewise. */
int unrecorded_add_all(struct sources *sources) _nonnull_all_ _must_check_;

/* Sets the existing PVs, the active LVs and the state of a VG that was made from metadata. A PV exists if lvm2 has recorded it
 * and the kernel has the device. Returns 0 or -ENOMEM. */
int unrecorded_judge(const struct sources *sources, struct vg *vg) _nonnull_all_ _must_check_;

/* Makes a VG from lvm2's backup, and calls unrecorded_judge(). Returns as sources_read_backup(). */
int unrecorded_read(const struct sources *sources, const char *name, struct vg **ret) _nonnull_all_ _must_check_;

/* Makes a VG of device-mapper's list. It has no PVs, and only its active LVs; which have autoactivation is not known. Returns 0 or
 * -ENOMEM. */
int unrecorded_new(const struct sources *sources, const char *name, struct vg **ret) _nonnull_all_ _must_check_;

/* ------ known VGs without any PV ------ */

/* Makes the plan of boot from the files of headgate-generator; without `all`, omits the VGs that were read before. Problems of the
 * files are ignored; "headgate plan activate" reports them. Returns 0 and `*ret`, to be emptied with plan_done(), or a negative
 * errno. */
int expected_find(struct sources *sources, bool all, struct plan *ret) _nonnull_all_ _must_check_;

/* Makes the plan without these VGs, and adds its VGs; of those excluded from activation, only those that boot waits for unless
 * `all`. `*ret` starts empty. */
int expected_add(struct sources *sources, bool all, struct plan *ret) _nonnull_all_ _must_check_;

/* Makes a plan of the VGs that were read, from entries of fstab, crypttab and the command line, without reading backups. VGs
 * beyond PLAN_VGS_MAX are omitted. Returns 0 and `*ret`, to be emptied with plan_done(), or -ENOMEM. */
int claims_find(const struct sources *sources, struct plan *ret) _nonnull_all_ _must_check_;

/* Whether the VG is known from more than a backup, which may be of a removed VG. It has a record or is planned; or if headgate is
 * not in charge, it has an active LV, or a PV in lvm2's records. */
bool snapshot_is_current(const struct sources *sources, const struct vg *vg) _nonnull_all_;

/* ------ judgement ------ */

/* Facts for the current state of a VG. The worker's record has the state at its last look; LVs may have been activated or
 * deactivated since. */
struct judgement_facts {
        struct vg_counts before; /* from the record */
        struct vg_counts now;
        bool exported;    /* from the metadata */
        bool claimed;     /* lvm2 has a vgs_online entry */
        bool lost_pv;     /* a PV was removed while LVs were active */
        bool whole_again; /* of a degraded VG: RAIDs use all PVs again */
};

/* The state of a VG with a record. A pure function of facts. */
enum vg_status judge_recorded(enum vg_status recorded, const struct judgement_facts *facts) _nonnull_all_;

/* The state of a VG without a record: ACTIVE if all LVs with autoactivation are active, ABSENT if no PV or LV is there, otherwise
 * UNKNOWN. */
enum vg_status judge_unrecorded(const struct vg *vg) _nonnull_all_;
