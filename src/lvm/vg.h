/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/macro.h"
#include "shared/names.h"

/* One volume group (VG): what its metadata says, and what headgate knows of it besides. Metadata alone makes one in state
 * WAITING with no PV seen yet (metadata.h). The worker keeps those of its VGs in memory, and most of that in a record for its
 * successor and for all that look on; fields that are in no record are marked so. */

enum vg_status {
        VG_STATUS_WAITING,     /* some PVs have not been seen */
        VG_STATUS_COMPLETE,    /* all PVs are there, lvm2 has not been asked yet */
        VG_STATUS_ACTIVATING,  /* lvm2 is at it */
        VG_STATUS_ACTIVE,      /* lvm2 has activated what it will */
        VG_STATUS_DEGRADED,    /* lvm2 has activated what can do without PVs; see degraded_usec */
        VG_STATUS_SKIPPED,     /* complete, and not to be activated: exported, shared, autoactivation off, ... */
        VG_STATUS_FAILED,      /* lvm2 was asked and did not do it */
        VG_STATUS_DEACTIVATED, /* was active, and LVs of it were deactivated since; never in a record */
        VG_STATUS_ABSENT,      /* none of its PVs was seen, only files tell of it; never in a record itself */
        VG_STATUS_UNKNOWN,     /* headgate did not activate it and cannot tell how it should be; likewise */
        _VG_STATUS_MAX,
};

struct vg_pv {
        char pvid[LVM_ID_SIZE];
        dev_t device; /* 0 as long as the PV has not been seen */
        char *device_name; /* "/dev/sda" once seen; before that, where lvm2 last had it; NULL if unknown, or no usual name */
        bool flagged;       /* carries lvm2's MISSING flag: the VG was changed without it */
        uint64_t late_usec; /* when it came, if that was after its VG had been activated without it; else 0 */
};

struct vg_lv {
        char *name;             /* as logical_volume_name_to_show() writes it */
        char lvid[LVM_ID_SIZE]; /* the LV's own identifier; with the VG's before it, the end of the dm UUID */
        bool autoactivated;   /* neither ACTIVATION_SKIP nor NOAUTOACTIVATE; no VDO pool, which its LVs activate */
        bool activation_skip; /* ACTIVATION_SKIP: "lvchange -ay" leaves it alone, too; in no record */
        bool autoactivation_off; /* NOAUTOACTIVATE; in no record */
        bool active;             /* as of when the VG was last looked at */
        bool stranded;           /* as of then: it is in the kernel, on a disk that has gone; in no record */
        bool suspended;          /* as of then: it is active, and I/O to it waits; in no record */
};

/* now_usec() of the steps of an activation: the first PV was seen, all PVs were, or it was decided to do without those that
 * were missing, lvm2 was asked (the same for all VGs of one vgchange), the state became final. 0 if not yet. */
struct vg_times {
        uint64_t first_seen_usec;
        uint64_t complete_usec;
        uint64_t activating_usec;
        uint64_t settled_usec;
        /* When the kernel had the device of the last LV, and when udev had made its link; of the first activation only, and 0 if
         * that is not known. */
        uint64_t made_usec, linked_usec;
};

struct vg {
        /* What the metadata says: all before `state`, see vg_update(). */
        char *name;
        char vgid[LVM_ID_SIZE];
        uint64_t seqno;
        bool slow;    /* has LVs that take long to activate: thin, cache, writecache, VDO, RAID, mirror */
        bool checked; /* lvm2 runs programs that check some of them: thin, cache, VDO */
        char *skip_reason; /* why it is not to be activated, as the end of a sentence, "the VG is clustered."; or NULL */
        size_t n_pvs;
        struct vg_pv *pvs;
        struct dm_hash_table *pvs_by_pvid; /* of vg_finish() */
        size_t n_lvs;
        struct vg_lv *lvs; /* the visible ones; without old snapshots, which come with their origin */
        /* The same, in no record. */
        char *system_id; /* NULL if none */
        char *lock_type; /* NULL if none; "none" is given as NULL */
        bool exported;
        bool clustered;
        bool autoactivation_off; /* the VG's NOAUTOACTIVATE */

        enum vg_status state;
        const char *worker_state; /* the worker's own, see vg-record.h; NULL if no worker has said it */
        char *reason;             /* one sentence: why it is not active; NULL where there is nothing to explain */
        bool overdue;             /* its deadline has passed and has been reported */
        bool lost_after_active;   /* it was up once, and since its PV went no other has come */
        bool lost_pv;             /* a PV has gone, and since then LVs may be stranded: worth a look */

        /* The latest activation, as in struct vg_times. Times before `complete_usec` are of an earlier one. */
        uint64_t first_seen_usec;
        uint64_t complete_usec;
        uint64_t activating_usec;
        uint64_t settled_usec;
        /* The first one since the machine started that ended ACTIVE or DEGRADED; all 0 if there was none. */
        struct vg_times first;
        /* The program that lvm2 waited for longest in that, "thin_check", and for how long; NULL for none. */
        char *program;
        uint64_t program_usec;
        /* now_realtime_usec() - now_usec() when the VG got into its state: converts times of files, or for people, also if
         * the clock has been set since. */
        uint64_t clock_usec;

        /* now_usec() of when it was first decided to do without the PVs that are missing, as its policy in
         * headgate.conf(5) says; 0 if that was not, or all is as it should be again. While there are some, COMPLETE
         * means that lvm2 is to be asked without them. */
        uint64_t degraded_usec;
};

/* Each of its PVs or LVs. */
#define FOREACH_PV(pv, vg) FOREACH_ARRAY(pv, (vg)->pvs, (vg)->n_pvs)
#define FOREACH_LV(lv, vg) FOREACH_ARRAY(lv, (vg)->lvs, (vg)->n_lvs)

/* The `skip_reason` of one that is exported. */
#define VG_EXPORTED "the VG is exported (vgimport makes it usable)."

/* That of one of another host begins so. */
#define VG_FOREIGN "the VG belongs to the host with system ID "

/* To be called when all that a text says is in the VG: has PVs found, and sets `skip_reason` if the metadata
 * forbids activation. lvm2 refuses all of that by itself; it is told apart because it is settled without a process, and
 * because lvm2's event mode is silent about it. Returns 0 or -ENOMEM. */
int vg_finish(struct vg *vg) _nonnull_all_ _must_check_;

/* Takes over what newer metadata of the VG says. PVs and LVs that are still there keep what is known of them. `newer` stays
 * the caller's to free, with what the VG had before. Returns 0, or -ENOMEM and then the VG is as it was. */
int vg_update(struct vg *vg, struct vg *newer) _nonnull_all_ _must_check_;

struct vg *vg_free(struct vg *vg);
DEFINE_CLEANUP(struct vg *, vg_free)
#define _cleanup_vg_ _cleanup_(vg_freep)

struct system_id;

/* Sets `skip_reason`, unless there is one, if the VG is another host's: lvm2 does not touch it, and says so as if that were a
 * failure. Returns 0 or -ENOMEM. */
int vg_compare_host(struct vg *vg, const struct system_id *host) _nonnull_all_ _must_check_;

/* The PV with that identifier, or NULL. */
struct vg_pv *vg_find_pv(const struct vg *vg, const char *pvid) _nonnull_all_;

/* The LV of that name, or NULL. */
const struct vg_lv *vg_find_lv(const struct vg *vg, const char *name) _nonnull_all_;

struct vg_counts {
        size_t seen, missing; /* PVs */
        size_t autoactivated; /* LVs that autoactivation is to activate, */
        size_t active;        /* and those of them that are active */
        size_t stranded;      /* LVs on a disk that has gone */
        bool any_active;      /* any LV is, whatever autoactivation does */
        bool all_active;      /* autoactivation is to activate some, and all of these are */
};

struct vg_counts vg_count(const struct vg *vg) _nonnull_all_;

/* Whether PVs are missing. */
static inline bool vg_is_incomplete(const struct vg *vg)
{
        return vg_count(vg).missing > 0;
}

/* Of so many missing PVs the names are reported, and have links in /run/headgate; the others are counted. */
#define VG_NAMED_MISSING_MAX 16U

/* Names missing PVs, and where lvm2 last had them: "PV 6-4-...-6 (last at /dev/sda), PV ..., 5 more".
 * Returns a string to be freed by the caller, empty if none is missing, or NULL without memory. */
char *vg_describe_missing(const struct vg *vg) _nonnull_all_ _must_check_;

/* Whether none of the LVs with autoactivation enabled is active, as far as they are marked, and there are some. */
bool vg_is_untouched(const struct vg *vg) _nonnull_all_;

/* Whether the worker has nothing more to do for it unless something new happens. */
bool vg_is_settled(const struct vg *vg) _nonnull_all_;

/* Since when it is in its state, on now_usec()'s clock; 0 if headgate was not there when it got there. */
uint64_t vg_since_usec(const struct vg *vg) _nonnull_all_;

/* The first activation, or the latest one if none has ended yet. */
struct vg_times vg_first_times(const struct vg *vg) _nonnull_all_;

/* To be called when an activation has ended: if it is the first one, it is so from now on. vgchange waits for udev itself, VG by VG,
 * and ends once for all. /dev tells where its time went: the kernel makes the node of an LV's device, and later udev the link
 * /dev/VG/LV. Both keep the time at which they were made (STATX_BTIME, on devtmpfs from Linux 6.0 on), as exactly as the kernel's
 * tick, 1 to 10 ms. Times that cannot be true are not used. */
void vg_note_first(struct vg *vg) _nonnull_(1);

/* To be called before that: notes the program, and whether it took long enough to be of interest. */
void vg_note_program(struct vg *vg, const char *name, uint64_t usec) _nonnull_all_;

/* That lvm2 waited for it, as a sentence, with the setting in lvm.conf that has it do less; to be freed by the caller. NULL if it
 * waited for none, or without memory. */
char *vg_describe_program(const struct vg *vg) _nonnull_all_ _must_check_;

/* The activator of a VG that lvm2 was not asked for, behind "activated"; NULL for any other. */
const char *vg_describe_activator(const struct vg *vg) _nonnull_(1);

/* Converts a time of the VG to seconds since 1970. */
int64_t vg_to_realtime(const struct vg *vg, uint64_t usec) _nonnull_all_;

const char *vg_status_to_string(enum vg_status state);
