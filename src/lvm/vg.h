/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/macro.h"
#include "shared/names.h"

/* One volume group (VG): facts from its metadata, and its state. metadata.h creates one in state WAITING with no PV
 * seen. The worker keeps its VGs in memory, and in records for the next worker and for commands; fields that are in no
 * record are marked. */

enum vg_status {
        VG_STATUS_WAITING,     /* some PVs are missing */
        VG_STATUS_COMPLETE,    /* all PVs are present; queued for vgchange */
        VG_STATUS_ACTIVATING,  /* vgchange is running */
        VG_STATUS_ACTIVE,      /* lvm2 has activated all LVs that it wants to */
        VG_STATUS_DEGRADED,    /* active without the missing PVs; see degraded_usec */
        VG_STATUS_SKIPPED,     /* complete, but must not be activated: exported, shared, autoactivation off, ... */
        VG_STATUS_FAILED,      /* lvm2 failed to activate it */
        VG_STATUS_DEACTIVATED, /* was active, and LVs of it were deactivated since; never in a record */
        VG_STATUS_ABSENT,      /* no PV was seen, it is known from files only; never in a record */
        VG_STATUS_UNKNOWN,     /* not activated by headgate, which cannot judge it; never in a record */
        _VG_STATUS_MAX,
};

struct vg_pv {
        char pvid[LVM_ID_SIZE];
        dev_t device; /* 0 until the PV is seen */
        char *device_name; /* "/dev/sda" once seen; before that, lvm2's last device; NULL if unknown, or no usual name */
        bool flagged;       /* has lvm2's MISSING flag: the VG was changed without it */
        uint64_t late_usec; /* when it appeared after a degraded activation of its VG; else 0 */
};

struct vg_lv {
        char *name;             /* as logical_volume_name_to_show() writes it */
        char lvid[LVM_ID_SIZE]; /* the LV's own identifier; with the VG's before it, the end of the dm UUID */
        bool autoactivated;   /* neither ACTIVATION_SKIP nor NOAUTOACTIVATE; no VDO pool, which its LVs activate */
        bool activation_skip; /* ACTIVATION_SKIP: "lvchange -ay" skips it, too */
        bool autoactivation_off; /* NOAUTOACTIVATE */
        bool active;             /* at the last dm_devices_mark_active() */
        bool stranded;           /* likewise: its device exists, on a removed disk; in no record */
        bool suspended;          /* likewise: active, but its I/O is blocked; in no record */
};

/* now_usec() of the steps of an activation: first PV seen; all PVs seen, or degraded activation decided; vgchange
 * started (the same for all VGs of one vgchange); settled. 0 if not reached. */
struct vg_times {
        uint64_t first_seen_usec;
        uint64_t complete_usec;
        uint64_t activating_usec;
        uint64_t settled_usec;
        /* When the kernel created the device of the last LV, and when udev had created its link; of the first
         * activation only, 0 if unknown. */
        uint64_t made_usec, linked_usec;
};

struct vg {
        /* From metadata: all fields before `status`, see vg_update(). */
        char *name;
        char vgid[LVM_ID_SIZE];
        uint64_t seqno;
        bool slow;         /* has LVs that take long to activate: thin, cache, writecache, VDO, RAID, mirror */
        bool checked;      /* lvm2 runs programs that check some of them: thin, cache, VDO */
        char *skip_reason; /* why it must not be activated, as the end of a sentence, "the VG is clustered."; or NULL */
        size_t n_pvs;
        struct vg_pv *pvs;
        struct dm_hash_table *pvs_by_pvid; /* set by vg_finish() */
        size_t n_lvs;
        struct vg_lv *lvs; /* visible LVs, except old snapshots, which are activated with their origin */
        char *system_id;   /* NULL if none */
        char *lock_type;   /* NULL for none, also for "none" */
        bool exported;
        bool clustered;
        bool autoactivation_off; /* the VG's NOAUTOACTIVATE */

        /* Records have `worker_state`, from which the others follow, see vg_state_enter(). */
        enum vg_status status;
        const char *worker_state; /* NULL if no worker has set it */
        bool overdue;             /* its deadline has passed and has been reported */
        bool lost_after_active;   /* it was active, then a PV was removed, and none has appeared since */

        bool lost_pv; /* a PV was removed, so LVs may be stranded */
        char *reason; /* why it is not active, as a sentence; or NULL */

        /* The latest activation, as in struct vg_times. Times before `complete_usec` are of an earlier one. */
        uint64_t first_seen_usec;
        uint64_t complete_usec;
        uint64_t activating_usec;
        uint64_t settled_usec;
        /* The first activation of this boot that ended ACTIVE or DEGRADED; all 0 without one. */
        struct vg_times first;
        /* The program that lvm2 waited for longest in that, "thin_check", and how long; NULL for none. */
        char *program;
        uint64_t program_usec;
        /* now_realtime_usec() - now_usec() when the VG entered its state, to convert times of files, or for people,
         * even if the clock was set since. */
        uint64_t clock_usec;

        /* now_usec() of the first decision for a degraded activation, as headgate.conf(5) allows; 0 for none, or if
         * the VG is whole again. While PVs are missing, COMPLETE means that it is queued for a degraded activation. */
        uint64_t degraded_usec;
};

/* Walk over its PVs or LVs. */
#define FOREACH_PV(pv, vg) FOREACH_ARRAY(pv, (vg)->pvs, (vg)->n_pvs)
#define FOREACH_LV(lv, vg) FOREACH_ARRAY(lv, (vg)->lvs, (vg)->n_lvs)

/* `skip_reason` of an exported VG. */
#define VG_EXPORTED "the VG is exported (vgimport makes it usable)."

/* Start of `skip_reason` of a foreign VG. */
#define VG_FOREIGN "the VG belongs to the host with system ID "

/* Called when all fields from metadata are set: indexes PVs, and sets `skip_reason` if the metadata forbids
 * activation. lvm2 would refuse all of these itself, but headgate needs no process for that, and lvm2's event mode
 * prints nothing about it. Returns 0 or -ENOMEM. */
int vg_finish(struct vg *vg) _nonnull_all_ _must_check_;

/* Updates the VG from newer metadata. Remaining PVs and LVs keep their state. `newer` gets the former contents, and
 * the caller frees it. Returns 0, or -ENOMEM without any change. */
int vg_update(struct vg *vg, struct vg *newer) _nonnull_all_ _must_check_;

struct vg *vg_free(struct vg *vg);
DEFINE_CLEANUP(struct vg *, vg_free)
#define _cleanup_vg_ _cleanup_(vg_freep)

struct system_id;

/* Sets `skip_reason`, unless there is another one, if the VG is foreign: lvm2 does not touch it, and reports that like
 * a failure. Clears it if the VG was foreign, and the host has another system ID by now. Returns 0 or -ENOMEM. */
int vg_compare_host(struct vg *vg, const struct system_id *host) _nonnull_all_ _must_check_;

/* Returns the PV with that identifier, or NULL. */
struct vg_pv *vg_find_pv(const struct vg *vg, const char *pvid) _nonnull_all_;

/* Returns the LV of that name, or NULL. */
const struct vg_lv *vg_find_lv(const struct vg *vg, const char *name) _nonnull_all_;

struct vg_counts {
        size_t seen, missing; /* PVs */
        size_t autoactivated; /* LVs with autoactivation enabled, */
        size_t active;        /* and those of them that are active */
        size_t stranded;      /* LVs on a removed disk */
        bool any_active;      /* any LV is active, even without autoactivation */
        bool all_active;      /* autoactivation is enabled for some, and all of these are active */
};

struct vg_counts vg_count(const struct vg *vg) _nonnull_all_;

/* Whether PVs are missing. */
static inline bool vg_is_incomplete(const struct vg *vg)
{
        return vg_count(vg).missing > 0;
}

/* At most this many missing PVs are named, and have links in /run/headgate; the others are counted. */
#define VG_NAMED_MISSING_MAX 16U

/* Lists missing PVs with their last device: "PV 6-4-...-6 (last at /dev/sda), PV ..., 5 more". The caller frees the
 * string; empty if none is missing, NULL without memory. */
char *vg_describe_missing(const struct vg *vg) _nonnull_all_ _must_check_;

/* Whether there are LVs with autoactivation enabled, and none of them is marked active. */
bool vg_is_untouched(const struct vg *vg) _nonnull_all_;

/* Whether nothing is left to do for the worker without a new event. */
bool vg_is_settled(const struct vg *vg) _nonnull_all_;

/* When it entered its state, on the clock of now_usec(); 0 if that was before headgate started. */
uint64_t vg_since_usec(const struct vg *vg) _nonnull_all_;

/* Returns the times of the first activation, or of the latest one if none has ended yet. */
struct vg_times vg_first_times(const struct vg *vg) _nonnull_all_;

/* Called when an activation has ended; notes the times of the first one. vgchange waits for udev after each VG, but
 * ends once for all. So the times of each VG come from /dev: the kernel creates the node of an LV, and later udev
 * the link /dev/VG/LV. Both have a time of creation (STATX_BTIME, on devtmpfs from Linux 6.0 on), with the
 * precision of the kernel's tick, 1 to 10 ms. Impossible times are not used. */
void vg_note_first(struct vg *vg) _nonnull_(1);

/* Called before that: notes the program, if it took long enough to be of interest. */
void vg_note_program(struct vg *vg, const char *name, uint64_t usec) _nonnull_all_;

/* Describes the wait for that program as a sentence, with the setting of lvm.conf that shortens it; the caller
 * frees it. NULL if there was none, or without memory. */
char *vg_describe_program(const struct vg *vg) _nonnull_all_ _must_check_;

/* Returns who activated a VG without headgate, to follow "activated"; NULL for any other. */
const char *vg_describe_activator(const struct vg *vg) _nonnull_(1);

/* Converts a time of the VG to seconds since 1970. */
int64_t vg_to_realtime(const struct vg *vg, uint64_t usec) _nonnull_all_;

const char *vg_status_to_string(enum vg_status state);
