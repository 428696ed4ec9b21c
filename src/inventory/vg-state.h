/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* The life of a VG: which states there are, what happens to a VG, and what follows from it. vg-state.c has the table.
 * Nothing here knows of a clock, a file, a process or a device. */

enum vg_state {
        VG_WAITING, /* PVs are missing, and its deadline is running */
        VG_OVERDUE, /* PVs are missing, and its deadline has passed */
        VG_LOST, /* was settled when a PV was removed, and no other has appeared since; the deadline is running */
        VG_LOST_OVERDUE,        /* likewise, and the deadline has passed */
        VG_COMPLETE,            /* all PVs are there; lvm2 is to be asked */
        VG_COMPLETE_ALONE,      /* likewise, by a process that is asked for no other VG */
        VG_DUE,                 /* PVs are missing; lvm2 is to be asked for a degraded activation */
        VG_DEGRADED_DUE,        /* likewise, once more: it is active degraded */
        VG_ACTIVATING,          /* lvm2 is at work */
        VG_ACTIVATING_DEGRADED, /* lvm2 is at work on a degraded activation */
        VG_ACTIVE,              /* active as lvm2 wants it */
        VG_DEGRADED,            /* active without the PVs that are missing */
        VG_DEGRADED_RETRY,      /* likewise; a PV has appeared since, and the deadline for the others is running */
        VG_DEGRADED_COMPLETE,   /* active, and all PVs are there, but RAIDs of it still do without one */
        VG_SKIPPED,             /* not activated: it is not to be */
        VG_FAILED,              /* not activated, or not wholly: lvm2 did not manage to */
        _VG_STATE_SETTABLE,
        VG_REMOVED = _VG_STATE_SETTABLE, /* no longer exists; only as a result */
        _VG_STATE_MAX,
};

/* What happens to a VG. */
enum vg_event {
        VG_PV_APPEARED,     /* a PV that was missing is there; followed by one of the next three */
        VG_PV_WRITTEN,      /* one of its PVs was read because it had been written to */
        VG_PV_FOUND,        /* one of its PVs was read because udev knows it */
        VG_PV_ANNOUNCED,    /* one of its PVs was read because udev has announced it */
        VG_PV_REMOVED,      /* one of its PVs was removed */
        VG_REREAD,          /* after it was changed: no PV is left to be read */
        VG_REREAD_LEFT,     /* likewise; a PV says that it no longer belongs to the VG */
        VG_DEADLINE_PASSED, /* its deadline has passed */
        VG_REQUESTED,       /* it is requested by name */
        VG_RETRY,           /* it has failed, which may have passed */
        VG_TURN,            /* a process can be started for it */
        VG_ENDED_UNKNOWN,   /* the vgchange has ended; it was an earlier worker's, whose output is not known */
        VG_ENDED_CONTENT,   /* it has ended and has nothing against the VG */
        VG_ENDED_FAILED,    /* it has ended and failed for the VG */
        VG_ENDED_UNCLEAR,   /* asked for several VGs, it has failed for some, perhaps for this one */
        VG_STUCK_OWN,       /* it makes no progress, because of an unresponsive PV of this VG */
        VG_STUCK_OTHER,     /* it waits for something else than this VG, which another one is to be asked for */
        VG_WORKER_LOST,     /* the worker that had started it is no more */
        VG_ADOPTED,         /* a vgchange of an earlier worker is still at work on it */
        _VG_EVENT_MAX,
};

enum vg_pvs {
        VG_PVS_NONE, /* are there */
        VG_PVS_SOME,
        VG_PVS_ALL,
        _VG_PVS_MAX,
};

/* Of the LVs with autoactivation enabled. */
enum vg_lvs {
        VG_LVS_UNWANTED, /* there are none */
        VG_LVS_NONE,     /* are active */
        VG_LVS_SOME,
        VG_LVS_ALL,
        _VG_LVS_MAX,
};

/* Why lvm2 must not be asked, or need not be. */
enum vg_obstacle {
        VG_OBSTACLE_NONE,
        VG_OBSTACLE_METADATA, /* exported, shared, foreign, autoactivation disabled, ... */
        VG_OBSTACLE_CONFIG,   /* event_activation=0 */
        VG_OBSTACLE_PV,       /* lvm2 does not accept one of its PVs */
        VG_OBSTACLE_NAME,     /* another VG of this name goes before it */
        VG_OBSTACLE_LVM,      /* lvm2 fails, whatever it is asked for */
        VG_OBSTACLE_EARLIER,  /* an earlier worker was done with it, and what became of it is not known */
        _VG_OBSTACLE_MAX,
};

struct vg_facts {
        enum vg_pvs pvs;
        enum vg_lvs lvs;
        enum vg_obstacle obstacle;
        bool permitted;      /* headgate.conf permits a degraded activation */
        bool ask_anyway;     /* its LVs being active, or lvm2's claim on its name, is no reason not to ask lvm2 */
        bool ask_again;      /* since lvm2 was asked, a PV has appeared or was removed, or the VG was requested */
        bool on_removed;     /* LVs are still on removed devices */
        bool raids_degraded; /* RAIDs do without a PV that appeared late */
        bool has_reason;     /* lvm2's reason not to activate it still stands */
};

enum vg_action {
        VG_DO_NOTHING,
        VG_DO_ACTIVATE,
        VG_DO_ACTIVATE_ALONE, /* by a process that is asked for no other VG */
        VG_DO_ACTIVATE_DEGRADED,
        VG_DO_CLAIM,   /* have lvm2 know that it is active */
        VG_DO_RECHECK, /* VG_REREAD is to follow, once no PV is left to be read */
        VG_DO_FORGET,
        _VG_ACTION_MAX,
};

/* What is to be said. */
enum vg_report {
        VG_SAY_NOTHING,
        VG_SAY_COMPLETE,
        VG_SAY_ACTIVE,
        VG_SAY_DEGRADED,
        VG_SAY_SKIPPED,
        VG_SAY_FAILED,
        VG_SAY_LATE, /* the PV that has appeared was done without */
        VG_SAY_LOST, /* it has lost a PV, if that is not back at the end of the step in which it is waiting */
        VG_SAY_OVERDUE,
        VG_SAY_IN_VAIN,  /* no LV could be activated without the missing PVs */
        VG_SAY_HINDERED, /* the obstacle forbids a degraded activation */
        VG_SAY_REMOVED,
        _VG_REPORT_MAX,
};

/* Why it is in its state, as far as that needs a reason. */
enum vg_reason {
        VG_REASON_KEEP, /* the one that it has */
        VG_REASON_NONE,
        VG_REASON_OBSTACLE,
        VG_REASON_ON_REMOVED,   /* LVs are still on removed devices */
        VG_REASON_PV_REMOVED,   /* while lvm2 was at work */
        VG_REASON_UNWANTED,     /* lvm2's configuration activates nothing else */
        VG_REASON_LVM,          /* what lvm2 has said, or how it has ended */
        VG_REASON_INACTIVE,     /* likewise, with the LVs that are not active */
        VG_REASON_RAIDS,        /* RAIDs do without a PV that appeared late */
        VG_REASON_UNRESPONSIVE, /* lvm2 waits for a device */
        VG_REASON_CHANGED,      /* lvm2 does not activate what is changed while the machine runs */
        _VG_REASON_MAX,
};

/* What else follows, for its times and its record. */
enum vg_effect {
        VG_EFFECT_ENTERED = 1 << 0,  /* the state begins now, also if it is the same as before */
        VG_EFFECT_DEADLINE = 1 << 1, /* a deadline begins now */
        VG_EFFECT_COMPLETE = 1 << 2, /* no PV is waited for any more */
        VG_EFFECT_SETTLED = 1 << 3,  /* an activation has ended, or is not to be */
        VG_EFFECT_REREAD = 1 << 4,   /* likewise, because of a change, which activates nothing */
        VG_EFFECT_UP = 1 << 5,       /* LVs of it are active */
        VG_EFFECT_WHOLE = 1 << 6,    /* none of them does without a PV */
};

struct vg_step {
        enum vg_state state;
        enum vg_action action;
        enum vg_report report;
        enum vg_reason reason;
        unsigned int effects; /* of enum vg_effect */
};

/* What follows from the event for a VG in that state. Any values of the facts are defined; those that the table does not
 * name do not matter. */
struct vg_step vg_next(enum vg_state state, enum vg_event event, const struct vg_facts *facts);

/* Whether the vgchange has ended, and whether the VG was read again after a change. */
bool vg_event_is_end(enum vg_event event);
bool vg_event_is_reread(enum vg_event event);

/* Whether there is nothing to be done unless something happens. */
bool vg_state_is_settled(enum vg_state state);

/* Whether lvm2 is to be asked for a degraded activation. */
bool vg_state_is_due(enum vg_state state);

/* Whether PVs are waited for, and nothing of it was activated since they were there last. */
bool vg_state_is_waiting(enum vg_state state);

/* Whether a deadline is running while PVs are missing. */
bool vg_state_has_deadline(enum vg_state state);
