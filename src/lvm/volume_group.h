/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lvm/metadata.h"
#include "shared/macro.h"

/* What headgate knows of one volume group (VG): the worker keeps it in memory, and in a record for its successor and
 * for all that look on. */

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
        dev_t device;       /* 0 as long as the PV has not been seen */
        char *device_name;  /* "/dev/sda" once seen; before that, where lvm2 last had it, or NULL */
        bool flagged;       /* carries lvm2's MISSING flag: the VG was changed without it */
        uint64_t late_usec; /* when it came, if that was after its VG had been activated without it; else 0 */
};

struct volume_group_lv {
        char *name;
        char lvid[LVM_ID_SIZE];
        bool autoactivated; /* see metadata.h */
        bool active;        /* as of when the VG was last looked at */
        bool stranded;      /* as of then: it is in the kernel, on a disk that has gone; never in a record */
};

/* now_usec() of the steps of an activation: the first PV was seen, all PVs were, or it was decided to do without those that
 * were missing, lvm2 was asked (the same for all VGs of one vgchange), the state became final. 0 if not yet. */
struct volume_group_times {
        uint64_t first_seen_usec;
        uint64_t complete_usec;
        uint64_t activating_usec;
        uint64_t settled_usec;
};

struct volume_group {
        char *name;
        char vgid[LVM_ID_SIZE];
        uint64_t seqno;
        enum volume_group_state state;
        const char *worker_state; /* the worker's own, see volume_group_enter(); NULL if no worker has said it */
        char *reason;             /* one sentence: why it is not active; NULL where there is nothing to explain */
        bool slow;                /* see metadata.h */
        bool overdue;             /* its deadline has passed and has been reported */
        bool lost_after_active;   /* it was up once, and since its PV went no other has come */
        char *skip_reason;        /* what of the metadata forbids activation, or NULL */
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

        size_t n_pvs;
        struct volume_group_pv *pvs;
        struct dm_hash_table *pvs_by_pvid; /* where there are many; else NULL */
        size_t n_lvs;
        struct volume_group_lv *lvs;
};

/* Makes a VG in state WAITING of what its metadata says, with no PV seen yet. Returns 0 or -ENOMEM. */
int volume_group_new(const struct metadata *metadata, struct volume_group **ret) _nonnull_(1, 2) _must_check_;

/* Takes over newer metadata. PVs and LVs that are still there keep what is known of them. Returns 0 or -ENOMEM,
 * and then the VG is as it was. */
int volume_group_update(struct volume_group *volume_group, const struct metadata *metadata)
        _nonnull_(1, 2) _must_check_;

struct volume_group *volume_group_free(struct volume_group *volume_group);
DEFINE_CLEANUP(struct volume_group *, volume_group_free)
#define _cleanup_volume_group_ _cleanup_(volume_group_freep)

/* Makes many PVs found faster, once they are there. Returns 0 or -ENOMEM. */
int volume_group_index_pvs(struct volume_group *volume_group) _nonnull_(1) _must_check_;

/* The PV with that identifier, or NULL. */
struct volume_group_pv *volume_group_find_pv(const struct volume_group *volume_group, const char *pvid)
        _nonnull_(1, 2);

size_t volume_group_count_seen(const struct volume_group *volume_group) _nonnull_(1);

/* Whether PVs are missing. */
static inline bool volume_group_is_incomplete(const struct volume_group *volume_group)
{
        return volume_group_count_seen(volume_group) < volume_group->n_pvs;
}

/* How many LVs autoactivation is to activate, and how many of those are active. */
size_t volume_group_count_autoactivated(const struct volume_group *volume_group) _nonnull_(1);
size_t volume_group_count_active(const struct volume_group *volume_group) _nonnull_(1);
size_t volume_group_count_stranded(const struct volume_group *volume_group) _nonnull_(1);

/* Whether any LV is active, whatever autoactivation does. */
bool volume_group_has_active_lv(const struct volume_group *volume_group) _nonnull_(1);

/* Of so many missing PVs the names are reported, and have links in /run/headgate; the others are counted. */
#define VOLUME_GROUP_NAMED_MISSING_MAX 16U

/* Names missing PVs, and where lvm2 last had them: "PV 6-4-...-6 (last at /dev/sda), PV ..., 5 more".
 * Returns a string to be freed by the caller, empty if none is missing, or NULL without memory. */
char *volume_group_describe_missing(const struct volume_group *volume_group) _nonnull_(1) _must_check_;

/* Sets the worker's state of the VG, in headgated(8)'s words, "waiting, overdue" for instance, and so in one of those above.
 * Returns 0, or -EBADMSG if there is no such state. */
int volume_group_enter(struct volume_group *volume_group, const char *worker_state) _nonnull_(1, 2);

/* Whether the worker has nothing more to do for it unless something new happens. */
bool volume_group_is_settled(const struct volume_group *volume_group) _nonnull_(1);

/* Since when it is in its state, on now_usec()'s clock; 0 if headgate was not there when it got there. */
uint64_t volume_group_since_usec(const struct volume_group *volume_group) _nonnull_(1);

/* The first activation, or the latest one if none has ended yet. */
struct volume_group_times volume_group_first_times(const struct volume_group *volume_group) _nonnull_(1);

/* Converts a time of the VG to seconds since 1970. */
int64_t volume_group_to_realtime(const struct volume_group *volume_group, uint64_t usec) _nonnull_(1);

const char *volume_group_state_to_string(enum volume_group_state state);
