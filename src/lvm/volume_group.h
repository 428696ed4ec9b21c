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

enum volume_group_state {
        VOLUME_GROUP_WAITING,    /* some PVs have not been seen */
        VOLUME_GROUP_COMPLETE,   /* all PVs are there, lvm2 has not been asked yet */
        VOLUME_GROUP_ACTIVATING, /* lvm2 is at it */
        VOLUME_GROUP_ACTIVE,     /* lvm2 has activated what it will */
        VOLUME_GROUP_DEGRADED,   /* lvm2 has activated what can do without PVs; see degraded_usec */
        VOLUME_GROUP_SKIPPED,    /* complete, and not to be activated: exported, shared, autoactivation off, ... */
        VOLUME_GROUP_FAILED,     /* lvm2 was asked and did not do it */
        VOLUME_GROUP_DEACTIVATED, /* was active, and somebody has deactivated LVs since; never in a record */
        VOLUME_GROUP_ABSENT,      /* none of its PVs was seen, only files tell of it; never in a record itself */
        VOLUME_GROUP_UNKNOWN,     /* headgate did not activate it and cannot tell how it should be; likewise */
        _VOLUME_GROUP_STATE_MAX,
};

struct volume_group_pv {
        char pvid[LVM_ID_SIZE];
        dev_t device; /* 0 as long as the PV has not been seen */
        char *device_name; /* "/dev/sda" once seen; before that, where lvm2 last had it; NULL if unknown, or no usual name */
        bool flagged;       /* carries lvm2's MISSING flag: the VG was changed without it */
        uint64_t late_usec; /* when it came, if that was after its VG had been activated without it; else 0 */
};

struct volume_group_lv {
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
struct volume_group_times {
        uint64_t first_seen_usec;
        uint64_t complete_usec;
        uint64_t activating_usec;
        uint64_t settled_usec;
        /* When the kernel had the device of the last LV, and when udev had made its link; of the first activation only, and 0 if
         * that is not known. */
        uint64_t made_usec, linked_usec;
};

struct volume_group {
        /* What the metadata says: all before `state`, see volume_group_update(). */
        char *name;
        char vgid[LVM_ID_SIZE];
        uint64_t seqno;
        bool slow;    /* has LVs that take long to activate: thin, cache, writecache, VDO, RAID, mirror */
        bool checked; /* lvm2 runs programs that check some of them: thin, cache, VDO */
        char *skip_reason; /* why it is not to be activated, as the end of a sentence, "the VG is clustered."; or NULL */
        size_t n_pvs;
        struct volume_group_pv *pvs;
        struct dm_hash_table *pvs_by_pvid; /* of volume_group_finish() */
        size_t n_lvs;
        struct volume_group_lv *lvs; /* the visible ones; without old snapshots, which come with their origin */
        /* The same, in no record. */
        char *system_id; /* NULL if none */
        char *lock_type; /* NULL if none; "none" is given as NULL */
        bool exported;
        bool clustered;
        bool autoactivation_off; /* the VG's NOAUTOACTIVATE */

        enum volume_group_state state;
        const char *worker_state; /* the worker's own, see volume_group_record.h; NULL if no worker has said it */
        char *reason;             /* one sentence: why it is not active; NULL where there is nothing to explain */
        bool overdue;             /* its deadline has passed and has been reported */
        bool lost_after_active;   /* it was up once, and since its PV went no other has come */
        bool lost_pv;             /* a PV has gone, and since then LVs may be stranded: worth a look */

        /* The latest activation, as in struct volume_group_times. Times before `complete_usec` are of an earlier one. */
        uint64_t first_seen_usec;
        uint64_t complete_usec;
        uint64_t activating_usec;
        uint64_t settled_usec;
        /* The first one since the machine started that ended ACTIVE or DEGRADED; all 0 if there was none. */
        struct volume_group_times first;
        /* now_realtime_usec() - now_usec() when the VG got into its state: converts times of files, or for people, also if
         * the clock has been set since. */
        uint64_t clock_usec;

        /* now_usec() of when it was first decided to do without the PVs that are missing, as its policy in
         * headgate.conf(5) says; 0 if that was not, or all is as it should be again. While there are some, COMPLETE
         * means that lvm2 is to be asked without them. */
        uint64_t degraded_usec;
};

/* Each of its PVs or LVs. */
#define FOREACH_PV(pv, volume_group) FOREACH_ARRAY(pv, (volume_group)->pvs, (volume_group)->n_pvs)
#define FOREACH_LV(lv, volume_group) FOREACH_ARRAY(lv, (volume_group)->lvs, (volume_group)->n_lvs)

/* The `skip_reason` of one that is exported. */
#define VOLUME_GROUP_EXPORTED "the VG is exported (vgimport makes it usable)."

/* To be called when all that a text says is in the VG: has PVs found, and sets `skip_reason` if the metadata
 * forbids activation. lvm2 refuses all of that by itself; it is told apart because it is settled without a process, and
 * because lvm2's event mode is silent about it. Returns 0 or -ENOMEM. */
int volume_group_finish(struct volume_group *volume_group) _nonnull_all_ _must_check_;

/* Takes over what newer metadata of the VG says. PVs and LVs that are still there keep what is known of them. `newer` stays
 * the caller's to free, with what the VG had before. Returns 0, or -ENOMEM and then the VG is as it was. */
int volume_group_update(struct volume_group *volume_group, struct volume_group *newer) _nonnull_all_ _must_check_;

struct volume_group *volume_group_free(struct volume_group *volume_group);
DEFINE_CLEANUP(struct volume_group *, volume_group_free)
#define _cleanup_volume_group_ _cleanup_(volume_group_freep)

struct system_id;

/* Sets `skip_reason`, unless there is one, if the VG is another host's: lvm2 does not touch it, and says so as if that were a
 * failure. Returns 0 or -ENOMEM. */
int volume_group_compare_host(
        struct volume_group *volume_group, const struct system_id *host) _nonnull_all_ _must_check_;

/* The PV with that identifier, or NULL. */
struct volume_group_pv *volume_group_find_pv(
        const struct volume_group *volume_group, const char *pvid) _nonnull_all_;

/* The LV of that name, or NULL. */
const struct volume_group_lv *volume_group_find_lv(
        const struct volume_group *volume_group, const char *name) _nonnull_all_;

struct volume_group_counts {
        size_t seen, missing; /* PVs */
        size_t autoactivated; /* LVs that autoactivation is to activate, */
        size_t active;        /* and those of them that are active */
        size_t stranded;      /* LVs on a disk that has gone */
        bool any_active;      /* any LV is, whatever autoactivation does */
};

struct volume_group_counts volume_group_count(const struct volume_group *volume_group) _nonnull_all_;

/* Whether PVs are missing. */
static inline bool volume_group_is_incomplete(const struct volume_group *volume_group)
{
        return volume_group_count(volume_group).missing > 0;
}

/* Of so many missing PVs the names are reported, and have links in /run/headgate; the others are counted. */
#define VOLUME_GROUP_NAMED_MISSING_MAX 16U

/* Names missing PVs, and where lvm2 last had them: "PV 6-4-...-6 (last at /dev/sda), PV ..., 5 more".
 * Returns a string to be freed by the caller, empty if none is missing, or NULL without memory. */
char *volume_group_describe_missing(const struct volume_group *volume_group) _nonnull_all_ _must_check_;

/* Whether none of the LVs with autoactivation enabled is active, as far as they are marked, and there are some. */
bool volume_group_is_untouched(const struct volume_group *volume_group) _nonnull_all_;

/* Whether the worker has nothing more to do for it unless something new happens. */
bool volume_group_is_settled(const struct volume_group *volume_group) _nonnull_all_;

/* Since when it is in its state, on now_usec()'s clock; 0 if headgate was not there when it got there. */
uint64_t volume_group_since_usec(const struct volume_group *volume_group) _nonnull_all_;

/* The first activation, or the latest one if none has ended yet. */
struct volume_group_times volume_group_first_times(const struct volume_group *volume_group) _nonnull_all_;

/* To be called when an activation has ended: if it is the first one, it is so from now on. vgchange waits for udev itself, VG by VG,
 * and ends once for all. /dev tells where its time went: the kernel makes the node of an LV's device, and later udev the link
 * /dev/VG/LV. Both keep the time at which they were made (STATX_BTIME, on devtmpfs from Linux 6.0 on), as exactly as the kernel's
 * tick, 1 to 10 ms. Times that cannot be true are not used. */
void volume_group_note_first(struct volume_group *volume_group) _nonnull_(1);

/* The activator of a VG that lvm2 was not asked for, behind "activated"; NULL for any other. */
const char *volume_group_describe_activator(const struct volume_group *volume_group) _nonnull_(1);

/* Converts a time of the VG to seconds since 1970. */
int64_t volume_group_to_realtime(const struct volume_group *volume_group, uint64_t usec) _nonnull_all_;

const char *volume_group_state_to_string(enum volume_group_state state);
