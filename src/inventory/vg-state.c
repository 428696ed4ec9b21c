/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a VG as a table: each row has states, events and conditions, and the step that follows. */

#include "inventory/vg-state.h"

/* A set of states, or of events. */
#define BIT(name) (1U << VG_##name)

#define ANY (~0U)
#define WAITING_ANY (BIT(WAITING) | BIT(OVERDUE) | BIT(LOST) | BIT(LOST_OVERDUE))
#define COMPLETE_ANY (BIT(COMPLETE) | BIT(COMPLETE_ALONE))
#define DUE_ANY (BIT(DUE) | BIT(DEGRADED_DUE))
#define ACTIVATING_ANY (BIT(ACTIVATING) | BIT(ACTIVATING_DEGRADED))
#define DEGRADED_ANY (BIT(DEGRADED) | BIT(DEGRADED_RETRY) | BIT(DEGRADED_COMPLETE))

#define PV_READ (BIT(PV_FOUND) | BIT(PV_ANNOUNCED))
#define REREAD_ANY (BIT(REREAD) | BIT(REREAD_LEFT))
#define ENDED_ANY (BIT(ENDED_UNKNOWN) | BIT(ENDED_OK) | BIT(ENDED_FAILED) | BIT(ENDED_UNCLEAR))

/* Conditions on the facts. */
enum {
        PVS_ALL = 1 << 0,
        PVS_MISSING = 1 << 1,
        PVS_PARTIAL = 1 << 2, /* some present, others missing */
        PVS_NONE = 1 << 3,
        DEGRADED_ALLOWED = 1 << 4,    /* by headgate.conf */
        DEGRADED_IMPOSSIBLE = 1 << 5, /* headgate.conf forbids it, or no PV is present */
        LVS_DONE = 1 << 6,            /* all are active, or none is to be activated */
        LVS_LEFT = 1 << 7,            /* some are still to be activated */
        LVS_ALL = 1 << 8,
        LVS_SOME = 1 << 9,
        LVS_UNWANTED = 1 << 11, /* none is to be activated */
        LVS_INACTIVE = 1 << 12, /* none is active */
        BLOCKED = 1 << 13,      /* metadata, configuration or a PV forbids vgchange */
        BLOCKED_BY_METADATA = 1 << 14,
        OBSTACLE = 1 << 15,        /* any obstacle */
        KEEP_ACTIVE = 1 << 16,     /* with LVS_DONE: vgchange is optional, or the history is unknown */
        ALWAYS_ACTIVATE = 1 << 17, /* the fact of that name; otherwise ACTIVATION_OPTIONAL */
        ACTIVATION_OPTIONAL = 1 << 18,
        ACTIVATE_AGAIN = 1 << 19,
        ON_REMOVED = 1 << 20,
        RAIDS_DEGRADED = 1 << 21,
        HAS_REASON = 1 << 22,
        LVM_FAILS = 1 << 23, /* for any VG */
};

static unsigned int conditions_of(const struct vg_facts *facts)
{
        static const unsigned int pvs[_VG_PVS_MAX] = {
                [VG_PVS_NONE] = PVS_MISSING | PVS_NONE | DEGRADED_IMPOSSIBLE,
                [VG_PVS_SOME] = PVS_MISSING | PVS_PARTIAL,
                [VG_PVS_ALL] = PVS_ALL,
        };
        static const unsigned int lvs[_VG_LVS_MAX] = {
                [VG_LVS_UNWANTED] = LVS_DONE | LVS_INACTIVE | LVS_UNWANTED,
                [VG_LVS_NONE] = LVS_LEFT | LVS_INACTIVE,
                [VG_LVS_SOME] = LVS_LEFT | LVS_SOME,
                [VG_LVS_ALL] = LVS_DONE | LVS_ALL,
        };
        static const unsigned int obstacles[_VG_OBSTACLE_MAX] = {
                [VG_OBSTACLE_METADATA] = OBSTACLE | BLOCKED | BLOCKED_BY_METADATA,
                [VG_OBSTACLE_CONFIG] = OBSTACLE | BLOCKED,
                [VG_OBSTACLE_PV] = OBSTACLE | BLOCKED,
                [VG_OBSTACLE_NAME] = OBSTACLE,
                [VG_OBSTACLE_LVM] = OBSTACLE | LVM_FAILS,
                [VG_OBSTACLE_UNKNOWN_HISTORY] = OBSTACLE | KEEP_ACTIVE,
        };

        return pvs[facts->pvs] | lvs[facts->lvs] | obstacles[facts->obstacle] |
               (facts->degraded_allowed ? DEGRADED_ALLOWED : DEGRADED_IMPOSSIBLE) |
               (facts->always_activate ? ALWAYS_ACTIVATE : ACTIVATION_OPTIONAL | KEEP_ACTIVE) |
               (facts->activate_again ? ACTIVATE_AGAIN : 0U) | (facts->on_removed ? ON_REMOVED : 0U) |
               (facts->raids_degraded ? RAIDS_DEGRADED : 0U) | (facts->has_reason ? HAS_REASON : 0U);
}

/* As the next state: the present one. */
#define VG_SAME _VG_STATE_MAX

struct rule {
        unsigned int states, events;
        unsigned int conditions; /* all must hold */
        enum vg_state to;
        enum vg_report report;
        enum vg_reason reason;
        enum vg_action action;
};

/* The table. The first matching row counts; without one, nothing changes. A deadline begins when its state is
 * entered; vg_next() restarts it in some cases. */
static const struct rule rules[] = {
        /* A missing PV has appeared. */
        {BIT(LOST) | BIT(LOST_OVERDUE), BIT(PV_APPEARED), 0, VG_WAITING},
        {BIT(OVERDUE), BIT(PV_APPEARED), DEGRADED_ALLOWED | PVS_MISSING, VG_WAITING},
        {BIT(DEGRADED), BIT(PV_APPEARED), DEGRADED_ALLOWED | PVS_MISSING | LVS_LEFT, VG_DEGRADED_RETRY,
                VG_SAY_LATE},
        {BIT(DEGRADED) | BIT(DEGRADED_RETRY) | BIT(DEGRADED_DUE) | BIT(ACTIVATING_DEGRADED), BIT(PV_APPEARED), 0,
                VG_SAME, VG_SAY_LATE},

        /* One of its PVs was read. As with lvm2's rule, an announced PV retries a VG that was deactivated or not
         * activated. Newer metadata may list another PV, so that the VG is incomplete. */
        {WAITING_ANY | DUE_ANY | BIT(DEGRADED) | BIT(DEGRADED_RETRY), PV_READ, PVS_ALL, VG_COMPLETE,
                VG_SAY_COMPLETE},
        {BIT(ACTIVE) | BIT(DEGRADED_COMPLETE) | BIT(SKIPPED) | BIT(FAILED), BIT(PV_ANNOUNCED),
                PVS_ALL | ALWAYS_ACTIVATE, VG_COMPLETE, VG_SAY_COMPLETE},
        {COMPLETE_ANY, PV_READ, PVS_MISSING, VG_WAITING},
        {COMPLETE_ANY, BIT(PV_WRITTEN), PVS_MISSING, VG_WAITING, .action = VG_DO_RECHECK},
        {ANY, BIT(PV_WRITTEN), 0, VG_SAME, .action = VG_DO_RECHECK},

        /* One of its PVs was removed. While vgchange is running, this waits for its end. */
        {BIT(WAITING) | BIT(OVERDUE), BIT(PV_REMOVED), 0, VG_WAITING},
        {BIT(LOST) | BIT(LOST_OVERDUE), BIT(PV_REMOVED), 0, VG_LOST},
        {COMPLETE_ANY | BIT(DUE), BIT(PV_REMOVED), 0, VG_WAITING, VG_SAY_LOST},
        {ACTIVATING_ANY, BIT(PV_REMOVED), 0, VG_SAME, VG_SAY_LOST},
        {ANY, BIT(PV_REMOVED), 0, VG_LOST, VG_SAY_LOST},

        /* Its deadline has passed. If a PV of a settled VG was removed, there is no degraded activation. */
        {ANY, BIT(DEADLINE_PASSED), PVS_ALL, VG_SAME},
        {BIT(WAITING), BIT(DEADLINE_PASSED), DEGRADED_ALLOWED | PVS_PARTIAL, VG_DUE, VG_SAY_OVERDUE},
        {BIT(WAITING), BIT(DEADLINE_PASSED), 0, VG_OVERDUE, VG_SAY_OVERDUE},
        {BIT(LOST), BIT(DEADLINE_PASSED), 0, VG_LOST_OVERDUE, VG_SAY_OVERDUE},
        {BIT(DEGRADED_RETRY), BIT(DEADLINE_PASSED), DEGRADED_ALLOWED, VG_DEGRADED_DUE},
        {BIT(DEGRADED_RETRY), BIT(DEADLINE_PASSED), 0, VG_DEGRADED},

        /* It is requested by name. headgate.conf may have changed since the deadline. */
        {BIT(OVERDUE), BIT(REQUESTED), DEGRADED_ALLOWED | PVS_PARTIAL, VG_DUE},
        {WAITING_ANY | COMPLETE_ANY | DUE_ANY | ACTIVATING_ANY, BIT(REQUESTED), 0, VG_SAME},
        {BIT(DEGRADED) | BIT(DEGRADED_RETRY), BIT(REQUESTED), PVS_MISSING | DEGRADED_ALLOWED, VG_DEGRADED_DUE},
        {ANY, BIT(REQUESTED), PVS_MISSING, VG_SAME},
        {BIT(ACTIVE), BIT(REQUESTED), LVS_DONE | ACTIVATION_OPTIONAL, VG_SAME},
        {ANY, BIT(REQUESTED), 0, VG_COMPLETE, VG_SAY_COMPLETE},

        {BIT(FAILED), BIT(RETRY), PVS_ALL, VG_COMPLETE, VG_SAY_COMPLETE},

        /* A vgchange can start, for a degraded activation. */
        {DUE_ANY, BIT(SLOT_FREE), PVS_ALL, VG_COMPLETE, VG_SAY_COMPLETE},
        {BIT(DUE), BIT(SLOT_FREE), DEGRADED_IMPOSSIBLE, VG_OVERDUE},
        {BIT(DEGRADED_DUE), BIT(SLOT_FREE), DEGRADED_IMPOSSIBLE, VG_DEGRADED},
        {DUE_ANY, BIT(SLOT_FREE), LVS_ALL, VG_DEGRADED, VG_SAY_DEGRADED, VG_REASON_NONE},
        {BIT(DUE), BIT(SLOT_FREE), OBSTACLE, VG_OVERDUE, VG_SAY_BLOCKED},
        {BIT(DEGRADED_DUE), BIT(SLOT_FREE), OBSTACLE, VG_DEGRADED, VG_SAY_BLOCKED},
        {BIT(DUE), BIT(SLOT_FREE), LVS_UNWANTED, VG_OVERDUE},
        {BIT(DEGRADED_DUE), BIT(SLOT_FREE), LVS_UNWANTED, VG_DEGRADED},
        {DUE_ANY, BIT(SLOT_FREE), 0, VG_ACTIVATING_DEGRADED, .action = VG_DO_ACTIVATE_DEGRADED},

        /* A vgchange can start, for a normal activation. If all LVs are active, the initrd or a killed worker
         * activated them. */
        {COMPLETE_ANY, BIT(SLOT_FREE), PVS_MISSING, VG_WAITING},
        {COMPLETE_ANY, BIT(SLOT_FREE), BLOCKED, VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_OBSTACLE},
        {COMPLETE_ANY, BIT(SLOT_FREE), LVS_DONE | KEEP_ACTIVE | RAIDS_DEGRADED, VG_DEGRADED_COMPLETE,
                VG_SAY_DEGRADED, VG_REASON_RAIDS, VG_DO_CLAIM},
        {COMPLETE_ANY, BIT(SLOT_FREE), LVS_DONE | KEEP_ACTIVE, VG_ACTIVE, VG_SAY_ACTIVE, VG_REASON_NONE,
                VG_DO_CLAIM},
        {COMPLETE_ANY, BIT(SLOT_FREE), LVM_FAILS, VG_FAILED, VG_SAY_FAILED, VG_REASON_OBSTACLE},
        {COMPLETE_ANY, BIT(SLOT_FREE), OBSTACLE, VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_OBSTACLE},
        {BIT(COMPLETE), BIT(SLOT_FREE), 0, VG_ACTIVATING, .action = VG_DO_ACTIVATE},
        {BIT(COMPLETE_ALONE), BIT(SLOT_FREE), 0, VG_ACTIVATING, .action = VG_DO_ACTIVATE_ALONE},

        /* A degraded activation has ended. */
        {BIT(ACTIVATING_DEGRADED), ENDED_ANY, PVS_ALL, VG_COMPLETE, VG_SAY_COMPLETE},
        {BIT(ACTIVATING_DEGRADED), BIT(ENDED_UNKNOWN), LVS_SOME, VG_DEGRADED_DUE},
        {BIT(ACTIVATING_DEGRADED), BIT(ENDED_UNKNOWN), LVS_INACTIVE, VG_DUE},
        {BIT(ACTIVATING_DEGRADED), ENDED_ANY, LVS_INACTIVE | ACTIVATE_AGAIN, VG_WAITING, VG_SAY_NOTHING_ACTIVATED,
                VG_REASON_INACTIVE},
        {BIT(ACTIVATING_DEGRADED), ENDED_ANY, LVS_INACTIVE, VG_OVERDUE, VG_SAY_NOTHING_ACTIVATED,
                VG_REASON_INACTIVE},
        {BIT(ACTIVATING_DEGRADED), ENDED_ANY, LVS_SOME | ACTIVATE_AGAIN, VG_DEGRADED_RETRY, VG_SAY_DEGRADED,
                VG_REASON_INACTIVE},
        {BIT(ACTIVATING_DEGRADED), ENDED_ANY, 0, VG_DEGRADED, VG_SAY_DEGRADED, VG_REASON_INACTIVE},

        /* A normal activation has ended. lvm2 takes an LV on removed devices for active, and keeps it, as it may be
         * in use. A PV may have been removed after its LVs were activated, and be back. */
        {BIT(ACTIVATING), ENDED_ANY, LVS_DONE | RAIDS_DEGRADED | PVS_ALL, VG_DEGRADED_COMPLETE, VG_SAY_DEGRADED,
                VG_REASON_RAIDS, VG_DO_CLAIM},
        {BIT(ACTIVATING), ENDED_ANY, LVS_DONE | RAIDS_DEGRADED, VG_DEGRADED, VG_SAY_DEGRADED, VG_REASON_RAIDS,
                VG_DO_CLAIM},
        {BIT(ACTIVATING), ENDED_ANY, LVS_DONE | PVS_ALL, VG_ACTIVE, VG_SAY_ACTIVE, VG_REASON_NONE, VG_DO_CLAIM},
        {BIT(ACTIVATING), ENDED_ANY, LVS_DONE, VG_LOST, VG_SAY_ACTIVE, VG_REASON_NONE, VG_DO_CLAIM},
        {BIT(ACTIVATING), BIT(ENDED_UNKNOWN), 0, VG_COMPLETE},
        {BIT(ACTIVATING), ENDED_ANY, ON_REMOVED | PVS_ALL, VG_FAILED, VG_SAY_FAILED, VG_REASON_ON_REMOVED},
        {BIT(ACTIVATING), ENDED_ANY, ON_REMOVED, VG_WAITING, VG_SAY_FAILED, VG_REASON_ON_REMOVED},
        {BIT(ACTIVATING), ENDED_ANY, PVS_MISSING, VG_WAITING, VG_SAY_FAILED, VG_REASON_PV_REMOVED},
        {BIT(ACTIVATING), BIT(ENDED_UNCLEAR), 0, VG_COMPLETE_ALONE},
        {BIT(ACTIVATING), ENDED_ANY, ACTIVATE_AGAIN, VG_COMPLETE},
        {BIT(ACTIVATING), BIT(ENDED_FAILED), 0, VG_FAILED, VG_SAY_FAILED, VG_REASON_LVM},
        {BIT(ACTIVATING), ENDED_ANY, LVS_SOME | RAIDS_DEGRADED, VG_DEGRADED_COMPLETE, VG_SAY_DEGRADED,
                VG_REASON_RAIDS, VG_DO_CLAIM},
        {BIT(ACTIVATING), ENDED_ANY, LVS_SOME, VG_ACTIVE, VG_SAY_ACTIVE, VG_REASON_UNWANTED, VG_DO_CLAIM},
        {BIT(ACTIVATING), ENDED_ANY, 0, VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_UNWANTED},

        /* vgchange makes no progress. A degraded activation reads all devices, whichever VGs it is for, and would
         * block again. */
        {BIT(ACTIVATING), BIT(STUCK_OWN), 0, VG_SAME, .reason = VG_REASON_UNRESPONSIVE},
        {BIT(ACTIVATING), BIT(STUCK_OTHER), 0, VG_COMPLETE},

        /* An earlier worker started vgchange. */
        {BIT(ACTIVATING), BIT(WORKER_LOST), 0, VG_COMPLETE},
        {BIT(ACTIVATING_DEGRADED), BIT(WORKER_LOST), 0, VG_DUE},
        {COMPLETE_ANY, BIT(ADOPTED), 0, VG_ACTIVATING},
        {DUE_ANY, BIT(ADOPTED), 0, VG_ACTIVATING_DEGRADED},

        /* Its metadata changed, and all PVs were read. lvm2 activates nothing because of a change, so only the
         * state is updated. The kernel knows whether RAIDs are whole again. A failed VG is not retried. */
        {ACTIVATING_ANY, REREAD_ANY, 0, VG_SAME, .action = VG_DO_RECHECK},
        {ANY, BIT(REREAD_LEFT), PVS_NONE, VG_REMOVED, VG_SAY_REMOVED, .action = VG_DO_FORGET},
        {BIT(WAITING) | BIT(OVERDUE), BIT(REREAD_LEFT), PVS_MISSING, VG_WAITING},
        {BIT(LOST) | BIT(LOST_OVERDUE), BIT(REREAD_LEFT), PVS_MISSING, VG_LOST},
        {ANY, BIT(REREAD_LEFT), PVS_MISSING, VG_WAITING, VG_SAY_LOST},
        {ANY, BIT(REREAD), PVS_MISSING, VG_SAME},
        {DUE_ANY, REREAD_ANY, 0, VG_COMPLETE, VG_SAY_COMPLETE},
        {COMPLETE_ANY, REREAD_ANY, 0, VG_SAME},
        {ANY, REREAD_ANY, BLOCKED_BY_METADATA | LVS_INACTIVE, VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_OBSTACLE},
        {DEGRADED_ANY, REREAD_ANY, 0, VG_SAME},
        {BIT(ACTIVE), REREAD_ANY, 0, VG_ACTIVE, VG_SAY_ACTIVE, VG_REASON_NONE},
        {ANY, REREAD_ANY, LVS_DONE, VG_ACTIVE, VG_SAY_ACTIVE, VG_REASON_NONE},
        {BIT(FAILED), REREAD_ANY, 0, VG_SAME},
        {BIT(SKIPPED), REREAD_ANY, HAS_REASON, VG_SAME},
        {ANY, REREAD_ANY, 0, VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_CHANGED},
};

bool vg_state_is_waiting(enum vg_state state)
{
        return 1U << state & WAITING_ANY;
}

bool vg_state_has_deadline(enum vg_state state)
{
        return 1U << state & (BIT(WAITING) | BIT(LOST) | BIT(DEGRADED_RETRY));
}

bool vg_state_is_due(enum vg_state state)
{
        return 1U << state & DUE_ANY;
}

bool vg_event_is_end(enum vg_event event)
{
        return event >= VG_ENDED_UNKNOWN && event <= VG_ENDED_UNCLEAR;
}

bool vg_event_is_reread(enum vg_event event)
{
        return event == VG_REREAD || event == VG_REREAD_LEFT;
}

bool vg_state_is_settled(enum vg_state state)
{
        return !(1U << state & (COMPLETE_ANY | DUE_ANY | ACTIVATING_ANY));
}

/* The effects that come with each report. */
static const unsigned int effects[_VG_REPORT_MAX] = {
        [VG_SAY_COMPLETE] = VG_EFFECT_COMPLETE,
        [VG_SAY_ACTIVE] = VG_EFFECT_SETTLED | VG_EFFECT_UP | VG_EFFECT_WHOLE,
        [VG_SAY_DEGRADED] = VG_EFFECT_SETTLED | VG_EFFECT_UP,
        [VG_SAY_SKIPPED] = VG_EFFECT_SETTLED,
        [VG_SAY_FAILED] = VG_EFFECT_SETTLED,
        [VG_SAY_LOST] = VG_EFFECT_ENTERED,
};

struct vg_step vg_next(enum vg_state state, enum vg_event event, const struct vg_facts *facts)
{
        unsigned int conditions = conditions_of(facts);
        struct vg_step step = {.state = state};

        for (const struct rule *rule = rules; rule < rules + sizeof(rules) / sizeof(rules[0]); rule++)
                if (rule->states & 1U << state && rule->events & 1U << event &&
                        (rule->conditions & conditions) == rule->conditions) {
                        step = (struct vg_step){.state = rule->to == VG_SAME ? state : rule->to,
                                .action = rule->action,
                                .report = rule->report,
                                .reason = rule->reason};
                        break;
                }

        /* A settled VG is not settled again. */
        if (vg_event_is_reread(event) && step.state == state)
                step.report = VG_SAY_NOTHING;
        step.effects = effects[step.report];
        if (vg_event_is_reread(event) && step.effects & VG_EFFECT_SETTLED)
                step.effects = VG_EFFECT_REREAD | (step.effects & VG_EFFECT_UP);
        if (step.state != state)
                step.effects |= VG_EFFECT_ENTERED;
        if (vg_state_has_deadline(step.state) &&
                (step.state != state || event == VG_PV_REMOVED || event == VG_REREAD_LEFT ||
                        (state == VG_DEGRADED_RETRY && event == VG_PV_APPEARED)))
                step.effects |= VG_EFFECT_ENTERED | VG_EFFECT_DEADLINE;
        return step;
}
