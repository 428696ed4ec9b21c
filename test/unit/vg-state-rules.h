/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "inventory/vg-state.h"

/* What is to hold of one step of a VG's life, whatever comes before it. */

static inline bool is_activating(enum vg_state state)
{
        return state == VG_ACTIVATING || state == VG_ACTIVATING_DEGRADED;
}

static inline bool is_normal_activation(enum vg_action action)
{
        return action == VG_DO_ACTIVATE || action == VG_DO_ACTIVATE_ALONE;
}

/* What is wrong with the step, or NULL. */
static inline const char *find_fault(
        enum vg_state state, enum vg_event event, const struct vg_facts *facts, const struct vg_step *step)
{
        bool obstructed = facts->obstacle != VG_OBSTACLE_NONE;
        bool was_due = state == VG_DUE || state == VG_DEGRADED_DUE;

        if (step->state >= _VG_STATE_MAX || step->action >= _VG_ACTION_MAX || step->report >= _VG_REPORT_MAX ||
                step->reason >= _VG_REASON_MAX)
                return "a result is out of range";
        if (step->action == VG_DO_ACTIVATE_DEGRADED &&
                (!facts->degraded_allowed || !was_due || event != VG_SLOT_FREE))
                return "a degraded activation without policy, or before the deadline";
        if (step->action == VG_DO_ACTIVATE_DEGRADED && facts->pvs != VG_PVS_SOME)
                return "a degraded activation of a VG that is complete, or of which nothing is there";
        if ((step->action == VG_DO_ACTIVATE_DEGRADED || is_normal_activation(step->action)) && obstructed)
                return "an activation in spite of an obstacle";
        if (is_normal_activation(step->action) && facts->pvs != VG_PVS_ALL)
                return "a normal activation of an incomplete VG";
        if (is_normal_activation(step->action) !=
                (step->state == VG_ACTIVATING && state != VG_ACTIVATING && event != VG_ADOPTED))
                return "ACTIVATING without a vgchange, or the other way round";
        if ((step->action == VG_DO_ACTIVATE_DEGRADED) !=
                (step->state == VG_ACTIVATING_DEGRADED && state != VG_ACTIVATING_DEGRADED && event != VG_ADOPTED))
                return "ACTIVATING_DEGRADED without a vgchange, or the other way round";
        if (step->state == VG_DUE && state != VG_DUE && !facts->degraded_allowed && !is_activating(state))
                return "due without policy";
        /* Only a vgchange that ends, makes no progress or is lost ends it. */
        if (is_activating(state) && !is_activating(step->state) &&
                !(event >= VG_ENDED_UNKNOWN && event <= VG_WORKER_LOST))
                return "a VG that lvm2 is at work on was settled";
        if (vg_state_is_waiting(step->state) && !vg_state_is_waiting(state) && facts->pvs == VG_PVS_ALL &&
                event != VG_PV_REMOVED)
                return "a complete VG waits";
        /* Somebody has deactivated it. */
        if (state == VG_ACTIVE && step->state == VG_COMPLETE && event != VG_REQUESTED && !facts->always_activate)
                return "asked for again though lvm2 counts it as active";
        if ((event == VG_REREAD || event == VG_REREAD_LEFT) && step->state == VG_COMPLETE &&
                vg_state_is_settled(state))
                return "activated because of a change";
        if ((step->state == VG_REMOVED) != (step->action == VG_DO_FORGET))
                return "removed and not forgotten";
        if ((step->action == VG_DO_CLAIM) && step->report != VG_SAY_ACTIVE && step->report != VG_SAY_DEGRADED)
                return "claimed and not active";
        if (step->effects & VG_EFFECT_DEADLINE && !vg_state_has_deadline(step->state))
                return "a deadline for what has none";
        if (vg_state_has_deadline(step->state) && !(step->effects & VG_EFFECT_DEADLINE) && step->state != state)
                return "no deadline for what has one";
        if (step->report == VG_SAY_COMPLETE && step->state != VG_COMPLETE)
                return "complete and not to be asked for";
        if (step->state != state && !(step->effects & VG_EFFECT_ENTERED))
                return "a state that is not entered";
        if ((step->report == VG_SAY_COMPLETE) != ((step->effects & VG_EFFECT_COMPLETE) != 0))
                return "complete, and waited for, or the other way round";
        if ((step->report >= VG_SAY_ACTIVE && step->report <= VG_SAY_FAILED) !=
                ((step->effects & (VG_EFFECT_SETTLED | VG_EFFECT_REREAD)) != 0))
                return "said to be settled, and it is not, or the other way round";
        if ((step->report == VG_SAY_ACTIVE || step->report == VG_SAY_DEGRADED) !=
                ((step->effects & VG_EFFECT_UP) != 0))
                return "said to be up, and it is not, or the other way round";
        if ((step->effects & VG_EFFECT_WHOLE) && !(step->effects & VG_EFFECT_SETTLED))
                return "whole by no activation";
        if ((step->effects & VG_EFFECT_SETTLED) && !vg_state_is_settled(step->state))
                return "settled, and something is still to be done";
        if ((step->effects & VG_EFFECT_REREAD) && event != VG_REREAD && event != VG_REREAD_LEFT)
                return "a change without one";
        if ((step->effects & VG_EFFECT_UP) && facts->lvs == VG_LVS_NONE)
                return "up without an LV";
        if ((step->effects & VG_EFFECT_WHOLE) && facts->raids_degraded)
                return "whole, and its RAIDs do without a PV";
        return NULL;
}
