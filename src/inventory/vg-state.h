/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* The life of a VG: its states and events, and the step that follows from an event. vg-state.c has the table.
 * Everything here is pure: no clock, file, process or device is used. */

enum vg_state {
        VG_WAITING,      /* PVs are missing, the deadline is running */
        VG_OVERDUE,      /* PVs are missing, the deadline has passed */
        VG_LOST,         /* was settled when a PV was removed; none has appeared since; the deadline is running */
        VG_LOST_OVERDUE, /* likewise, the deadline has passed */
        VG_COMPLETE,     /* all PVs are present; queued for vgchange */
        VG_COMPLETE_ALONE,      /* likewise, for a vgchange of its own */
        VG_DUE,                 /* PVs are missing; queued for a degraded activation */
        VG_DEGRADED_DUE,        /* likewise, although it is active degraded already */
        VG_ACTIVATING,          /* vgchange is running */
        VG_ACTIVATING_DEGRADED, /* vgchange is running, for a degraded activation */
        VG_ACTIVE,              /* active, except LVs that lvm2's configuration excludes */
        VG_DEGRADED,            /* active without the missing PVs */
        VG_DEGRADED_RETRY,      /* likewise; a PV has appeared since, the deadline for the others is running */
        VG_DEGRADED_COMPLETE,   /* active, all PVs are present, but RAIDs do not use one of them */
        VG_SKIPPED,             /* must not be activated */
        VG_FAILED,              /* lvm2 failed to activate all LVs */
        _VG_STATE_SETTABLE,
        VG_REMOVED = _VG_STATE_SETTABLE, /* no longer exists; only as a result of vg_next() */
        _VG_STATE_MAX,
};

/* Events of a VG. */
enum vg_event {
        VG_PV_APPEARED,     /* a missing PV is present; followed by one of the next three */
        VG_PV_WRITTEN,      /* one of its PVs was read after a write */
        VG_PV_FOUND,        /* one of its PVs was read after an enumeration */
        VG_PV_ANNOUNCED,    /* one of its PVs was read after udev announced it */
        VG_PV_REMOVED,      /* one of its PVs was removed */
        VG_REREAD,          /* its metadata changed, and all PVs were read */
        VG_REREAD_LEFT,     /* likewise; a PV has left the VG */
        VG_DEADLINE_PASSED, /* its deadline has passed */
        VG_REQUESTED,       /* it is requested by name */
        VG_RETRY,           /* it failed, and the cause may be gone */
        VG_SLOT_FREE,       /* a vgchange can start for it */
        VG_ENDED_UNKNOWN,   /* the vgchange of an earlier worker has ended, with unknown output */
        VG_ENDED_OK,        /* it has ended without an error for the VG */
        VG_ENDED_FAILED,    /* it has failed for the VG */
        VG_ENDED_UNCLEAR,   /* it has failed for some of its VGs, perhaps for this one */
        VG_STUCK_OWN,       /* it waits for an unresponsive PV of this VG */
        VG_STUCK_OTHER,     /* it waits for another VG; retry this one in another process */
        VG_WORKER_LOST,     /* the worker that started it has ended */
        VG_ADOPTED,         /* a vgchange of an earlier worker is still running */
        _VG_EVENT_MAX,
};

enum vg_pvs {
        VG_PVS_NONE, /* no PV is present */
        VG_PVS_SOME,
        VG_PVS_ALL,
        _VG_PVS_MAX,
};

/* Of the LVs with autoactivation enabled. */
enum vg_lvs {
        VG_LVS_UNWANTED, /* no LV has it enabled */
        VG_LVS_NONE,     /* none is active */
        VG_LVS_SOME,
        VG_LVS_ALL,
        _VG_LVS_MAX,
};

/* Why vgchange must not run, or need not. */
enum vg_obstacle {
        VG_OBSTACLE_NONE,
        VG_OBSTACLE_METADATA,        /* exported, shared, foreign, autoactivation disabled, ... */
        VG_OBSTACLE_CONFIG,          /* event_activation=0 */
        VG_OBSTACLE_PV,              /* lvm2 refuses one of its PVs */
        VG_OBSTACLE_NAME,            /* another VG has claimed its name */
        VG_OBSTACLE_LVM,             /* lvm2 fails for any VG */
        VG_OBSTACLE_UNKNOWN_HISTORY, /* an earlier worker settled it, with an unknown result */
        _VG_OBSTACLE_MAX,
};

struct vg_facts {
        enum vg_pvs pvs;
        enum vg_lvs lvs;
        enum vg_obstacle obstacle;
        bool degraded_allowed; /* headgate.conf allows a degraded activation */
        bool always_activate;  /* run vgchange even if LVs are active, or the name is claimed */
        bool activate_again;   /* since vgchange started, a PV appeared or was removed, or the VG was requested */
        bool on_removed;       /* LVs are still on removed devices */
        bool raids_degraded;   /* RAIDs do not use a PV that appeared late */
        bool has_reason;       /* lvm2's reason not to activate it is still valid */
};

enum vg_action {
        VG_DO_NOTHING,
        VG_DO_ACTIVATE,
        VG_DO_ACTIVATE_ALONE, /* by a vgchange of its own */
        VG_DO_ACTIVATE_DEGRADED,
        VG_DO_CLAIM,   /* write lvm2's vgs_online entry, as it is active */
        VG_DO_RECHECK, /* VG_REREAD follows once all PVs are read */
        VG_DO_FORGET,
        _VG_ACTION_MAX,
};

/* The message that follows. */
enum vg_report {
        VG_SAY_NOTHING,
        VG_SAY_COMPLETE,
        VG_SAY_ACTIVE,
        VG_SAY_DEGRADED,
        VG_SAY_SKIPPED,
        VG_SAY_FAILED,
        VG_SAY_LATE, /* the VG is degraded, and the PV appeared too late */
        VG_SAY_LOST, /* it has lost a PV, unless the PV is back at the end of the step in which it is waiting */
        VG_SAY_OVERDUE,
        VG_SAY_NOTHING_ACTIVATED, /* no LV was activated without the missing PVs */
        VG_SAY_BLOCKED,           /* the obstacle prevents a degraded activation */
        VG_SAY_REMOVED,
        _VG_REPORT_MAX,
};

/* The reason for the state, if it needs one. */
enum vg_reason {
        VG_REASON_KEEP, /* the present one */
        VG_REASON_NONE,
        VG_REASON_OBSTACLE,
        VG_REASON_ON_REMOVED,   /* LVs are still on removed devices */
        VG_REASON_PV_REMOVED,   /* during vgchange */
        VG_REASON_UNWANTED,     /* lvm2's configuration excludes the others */
        VG_REASON_LVM,          /* lvm2's message or exit status */
        VG_REASON_INACTIVE,     /* likewise, with the inactive LVs */
        VG_REASON_RAIDS,        /* RAIDs do not use a PV that appeared late */
        VG_REASON_UNRESPONSIVE, /* lvm2 waits for a device */
        VG_REASON_CHANGED,      /* lvm2 does not autoactivate changed VGs on a running machine */
        _VG_REASON_MAX,
};

/* Effects on its times and its record. */
enum vg_effect {
        VG_EFFECT_ENTERED = 1 << 0,  /* the state begins now, even if it is the same as before */
        VG_EFFECT_DEADLINE = 1 << 1, /* a deadline begins now */
        VG_EFFECT_COMPLETE = 1 << 2, /* it no longer waits for a PV */
        VG_EFFECT_SETTLED = 1 << 3,  /* an activation has ended, or none will follow */
        VG_EFFECT_REREAD = 1 << 4,   /* likewise, after a change of its metadata */
        VG_EFFECT_UP = 1 << 5,       /* its LVs are active */
        VG_EFFECT_WHOLE = 1 << 6,    /* none of them is degraded */
};

struct vg_step {
        enum vg_state state;
        enum vg_action action;
        enum vg_report report;
        enum vg_reason reason;
        unsigned int effects; /* of enum vg_effect */
};

/* Returns the step that follows from the event for a VG in that state. All combinations of facts are defined; facts
 * that the table does not name do not matter. */
struct vg_step vg_next(enum vg_state state, enum vg_event event, const struct vg_facts *facts);

/* Whether the event is the end of a vgchange, or follows a change of metadata. */
bool vg_event_is_end(enum vg_event event);
bool vg_event_is_reread(enum vg_event event);

/* Whether nothing is left to do without a new event. */
bool vg_state_is_settled(enum vg_state state);

/* Whether it is queued for a degraded activation. */
bool vg_state_is_due(enum vg_state state);

/* Whether it waits for PVs, and was not activated since they were present last. */
bool vg_state_is_waiting(enum vg_state state);

/* Whether a deadline is running while PVs are missing. */
bool vg_state_has_deadline(enum vg_state state);
