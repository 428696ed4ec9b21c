/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "inventory/vg-state.h"

/* The table. An event that is not named for a state changes nothing. "all" means that all PVs are there, "permitted" that
 * headgate.conf permits a degraded activation, and "waiting" is any of WAITING, OVERDUE, LOST and LOST_OVERDUE. All LVs are
 * active also if none is wanted, but for DUE and DEGRADED_DUE. A state in which a deadline runs begins it when it is entered,
 * and again with the events marked *.
 *
 *  in state               event              if                            -> state, action, "report"
 *  ---------------------- ------------------ ----------------------------- --------------------------------------------
 *  LOST, LOST_OVERDUE     PV_APPEARED                                      WAITING
 *  OVERDUE                PV_APPEARED        permitted, not all            WAITING
 *  DEGRADED               PV_APPEARED        permitted, not all, LVs       DEGRADED_RETRY "late"
 *                                            are inactive
 *                                            else                          DEGRADED "late"
 *  DEGRADED_RETRY         PV_APPEARED *                                    the same "late"
 *  DEGRADED_DUE,          PV_APPEARED                                      the same "late"
 *   ACTIVATING_DEGRADED
 *
 *  any                    PV_WRITTEN                                       the same, recheck
 *  COMPLETE, C_ALONE      PV_WRITTEN,        not all: newer metadata       WAITING
 *                         _FOUND, _ANNOUNCED names another PV
 *  waiting, DUE,          PV_FOUND,          all                           COMPLETE "complete"
 *   DEGRADED, D_DUE,      PV_ANNOUNCED
 *   D_RETRY
 *  ACTIVE, D_COMPLETE,    PV_ANNOUNCED       all, and lvm2's claim is gone COMPLETE "complete"
 *   SKIPPED, FAILED
 *
 *  waiting                PV_REMOVED *                                     WAITING from WAITING and OVERDUE, else LOST
 *  COMPLETE, C_ALONE, DUE PV_REMOVED                                       WAITING "lost"
 *  ACTIVATING, A_DEGRADED PV_REMOVED                                       the same "lost"
 *  other                  PV_REMOVED                                       LOST "lost"
 *
 *  WAITING                DEADLINE_PASSED    not all                       OVERDUE "overdue"
 *                                            permitted, some PVs are there DUE "overdue"
 *  LOST                   DEADLINE_PASSED    not all                       LOST_OVERDUE "overdue"
 *  DEGRADED_RETRY         DEADLINE_PASSED    not all                       DEGRADED_DUE if permitted, else DEGRADED
 *
 *  ACTIVE                 REQUESTED          all, and all LVs are active   ACTIVE, unless lvm2 is to be asked anyway
 *  ACTIVE, DEGRADED,      REQUESTED          all                           COMPLETE "complete"
 *   D_RETRY, D_COMPLETE,
 *   SKIPPED, FAILED
 *  DEGRADED, D_RETRY      REQUESTED          permitted, not all            DEGRADED_DUE
 *
 *  COMPLETE, C_ALONE      TURN               not all                       WAITING
 *                                            metadata, configuration or a  SKIPPED "skipped"
 *                                            PV is an obstacle
 *                                            all LVs are active, and lvm2  ACTIVE, claim "active"; if RAIDs are degraded
 *                                            need not be asked anyway, or  DEGRADED_COMPLETE, claim "degraded"
 *                                            an earlier worker is an
 *                                            obstacle
 *                                            the name or an earlier worker SKIPPED "skipped"
 *                                            is an obstacle
 *                                            else                          ACTIVATING, activate (alone)
 *  DUE, DEGRADED_DUE      TURN               all                           COMPLETE "complete"
 *                                            not permitted, or no PV       OVERDUE, DEGRADED
 *                                            all LVs are active            DEGRADED "degraded"
 *                                            any obstacle                  OVERDUE, DEGRADED "hindered"
 *                                            no LV is wanted               OVERDUE, DEGRADED
 *                                            else                          ACTIVATING_DEGRADED, activate degraded
 *
 *  ACTIVATING             ENDED_UNKNOWN      LVs are inactive              COMPLETE
 *                         ENDED_*            all LVs are active            as with TURN; LOST, and DEGRADED if RAIDs are
 *                                                                          degraded, if a PV is missing by now
 *                                            LVs are on removed devices    FAILED "failed"; WAITING if a PV is missing
 *                                            not all                       WAITING "failed"
 *                         ENDED_CRASHED,     else                          COMPLETE_ALONE
 *                          _OVERLOOKED
 *                         ENDED_*            PVs have changed              COMPLETE
 *                         ENDED_CONTENT      no LV is active               SKIPPED "skipped"
 *                         ENDED_CONTENT,     LVs are active                ACTIVE, claim "active", as with TURN
 *                          _WARNED
 *                         ENDED_*            else                          FAILED "failed"
 *  ACTIVATING_DEGRADED    ENDED_*            all                           COMPLETE "complete"
 *                         ENDED_UNKNOWN      LVs are inactive              DUE; DEGRADED_DUE if LVs are active
 *                         ENDED_*            LVs are active                DEGRADED "degraded"; DEGRADED_RETRY if others
 *                                                                          are not, and PVs have changed
 *                                            else                          OVERDUE "in vain"; WAITING if PVs have changed
 *
 *  ACTIVATING             STUCK_OWN                                        the same
 *                         STUCK_OTHER                                      COMPLETE
 *                         STUCK_LOCKED                                     COMPLETE_ALONE
 *  ACTIVATING             WORKER_LOST                                      COMPLETE
 *  ACTIVATING_DEGRADED    WORKER_LOST                                      DUE
 *  COMPLETE, C_ALONE      ADOPTED                                          ACTIVATING
 *  DUE, DEGRADED_DUE      ADOPTED                                          ACTIVATING_DEGRADED
 *
 *  ACTIVATING, A_DEGRADED REREAD, R_LEFT                                   the same, recheck
 *  other                  REREAD_LEFT *      no PV is there                REMOVED, forget "removed"
 *                                            some are                      as with PV_REMOVED, but LOST only from LOST
 *  DUE, DEGRADED_DUE      REREAD, R_LEFT     all                           COMPLETE "complete"
 *  waiting, ACTIVE,       REREAD, R_LEFT     all; metadata is an obstacle, SKIPPED "skipped"
 *   DEGRADED, D_RETRY,                       and no LV is active
 *   D_COMPLETE, SKIPPED,
 *   FAILED
 *  waiting, SKIPPED,      REREAD, R_LEFT     all, and all LVs are active   ACTIVE "active"
 *   FAILED
 *  ACTIVE                 REREAD, R_LEFT     all, else                     the same, without a reason
 *  waiting, SKIPPED       REREAD, R_LEFT     all, else                     SKIPPED "skipped"; SKIPPED stays if it has a
 *                                                                          reason
 */

static struct vg_step go(enum vg_state state)
{
        return (struct vg_step){.state = state};
}

static struct vg_step say(enum vg_state state, enum vg_report report)
{
        return (struct vg_step){.state = state, .report = report};
}

static struct vg_step settle(enum vg_state state, enum vg_report report, enum vg_reason reason)
{
        return (struct vg_step){.state = state, .report = report, .reason = reason};
}

const char *vg_state_to_string(enum vg_state state)
{
        static const char *const names[_VG_STATE_MAX] = {
                [VG_WAITING] = "waiting",
                [VG_OVERDUE] = "waiting, overdue",
                [VG_LOST] = "waiting, lost",
                [VG_LOST_OVERDUE] = "waiting, lost and overdue",
                [VG_COMPLETE] = "complete",
                [VG_COMPLETE_ALONE] = "complete, alone",
                [VG_DUE] = "complete, due",
                [VG_DEGRADED_DUE] = "complete, due again",
                [VG_ACTIVATING] = "activating",
                [VG_ACTIVATING_DEGRADED] = "activating degraded",
                [VG_ACTIVE] = "active",
                [VG_DEGRADED] = "degraded",
                [VG_DEGRADED_RETRY] = "degraded, retry",
                [VG_DEGRADED_COMPLETE] = "degraded, complete",
                [VG_SKIPPED] = "skipped",
                [VG_FAILED] = "failed",
                [VG_REMOVED] = "removed",
        };

        return names[state];
}

bool vg_state_is_waiting(enum vg_state state)
{
        return state <= VG_LOST_OVERDUE;
}

bool vg_state_has_deadline(enum vg_state state)
{
        return state == VG_WAITING || state == VG_LOST || state == VG_DEGRADED_RETRY;
}

static bool is_activating(enum vg_state state)
{
        return state == VG_ACTIVATING || state == VG_ACTIVATING_DEGRADED;
}

bool vg_state_is_due(enum vg_state state)
{
        return state == VG_DUE || state == VG_DEGRADED_DUE;
}

static bool is_complete(enum vg_state state)
{
        return state == VG_COMPLETE || state == VG_COMPLETE_ALONE;
}

bool vg_state_is_settled(enum vg_state state)
{
        return !is_complete(state) && !vg_state_is_due(state) && !is_activating(state);
}

/* Whether nothing is left for lvm2 to activate. */
static bool is_active(const struct vg_facts *facts)
{
        return facts->lvs == VG_LVS_ALL || facts->lvs == VG_LVS_UNWANTED;
}

static struct vg_step appear(enum vg_state state, const struct vg_facts *facts)
{
        bool goes_on = facts->permitted && facts->pvs != VG_PVS_ALL;

        switch (state) {
        case VG_LOST:
        case VG_LOST_OVERDUE:
                return go(VG_WAITING);
        case VG_OVERDUE:
                return go(goes_on ? VG_WAITING : VG_OVERDUE);
        case VG_DEGRADED:
                return say(goes_on && !is_active(facts) ? VG_DEGRADED_RETRY : VG_DEGRADED, VG_SAY_LATE);
        case VG_DEGRADED_RETRY:
        case VG_DEGRADED_DUE:
        case VG_ACTIVATING_DEGRADED:
                return say(state, VG_SAY_LATE);
        default:
                return go(state);
        }
}

/* As with lvm2's own rule, an event for a VG that was deactivated since, or did not come up, has it tried anew. */
static bool is_to_be_asked(enum vg_state state, enum vg_event event, const struct vg_facts *facts)
{
        if (facts->pvs != VG_PVS_ALL || event == VG_PV_WRITTEN)
                return false;
        if (vg_state_is_waiting(state) || vg_state_is_due(state) || state == VG_DEGRADED ||
                state == VG_DEGRADED_RETRY)
                return true;
        return event == VG_PV_ANNOUNCED && vg_state_is_settled(state) && facts->ask_anyway;
}

static struct vg_step look(enum vg_state state, enum vg_event event, const struct vg_facts *facts)
{
        struct vg_step step = go(state);

        if (is_to_be_asked(state, event, facts))
                step = say(VG_COMPLETE, VG_SAY_COMPLETE);
        else if (is_complete(state) && facts->pvs != VG_PVS_ALL)
                step = go(VG_WAITING);
        if (event == VG_PV_WRITTEN)
                step.action = VG_DO_RECHECK;
        return step;
}

static struct vg_step lose(enum vg_state state)
{
        switch (state) {
        case VG_WAITING:
        case VG_OVERDUE:
                return go(VG_WAITING);
        case VG_LOST:
        case VG_LOST_OVERDUE:
                return go(VG_LOST);
        case VG_COMPLETE:
        case VG_COMPLETE_ALONE:
        case VG_DUE:
                return say(VG_WAITING, VG_SAY_LOST);
        /* It is judged when lvm2 is done. */
        case VG_ACTIVATING:
        case VG_ACTIVATING_DEGRADED:
                return say(state, VG_SAY_LOST);
        default:
                return say(VG_LOST, VG_SAY_LOST);
        }
}

static struct vg_step pass_deadline(enum vg_state state, const struct vg_facts *facts)
{
        if (facts->pvs == VG_PVS_ALL)
                return go(state);
        switch (state) {
        case VG_WAITING:
                return say(facts->permitted && facts->pvs == VG_PVS_SOME ? VG_DUE : VG_OVERDUE, VG_SAY_OVERDUE);
        /* Somebody has removed the PV: no reason to activate what is left. */
        case VG_LOST:
                return say(VG_LOST_OVERDUE, VG_SAY_OVERDUE);
        case VG_DEGRADED_RETRY:
                return go(facts->permitted ? VG_DEGRADED_DUE : VG_DEGRADED);
        default:
                return go(state);
        }
}

static struct vg_step request(enum vg_state state, const struct vg_facts *facts)
{
        if (vg_state_is_waiting(state) || !vg_state_is_settled(state))
                return go(state);
        if (facts->pvs != VG_PVS_ALL)
                return go((state == VG_DEGRADED || state == VG_DEGRADED_RETRY) && facts->permitted
                                  ? VG_DEGRADED_DUE
                                  : state);
        if (state == VG_ACTIVE && is_active(facts) && !facts->ask_anyway)
                return go(state);
        return say(VG_COMPLETE, VG_SAY_COMPLETE);
}

/* Which LVs it has active now is all that is wanted. */
static struct vg_step settle_active(const struct vg_facts *facts, enum vg_reason reason)
{
        bool all = facts->pvs == VG_PVS_ALL;
        struct vg_step step = facts->raids_degraded ? settle(all ? VG_DEGRADED_COMPLETE : VG_DEGRADED,
                                                              VG_SAY_DEGRADED, VG_REASON_RAIDS)
                                                    : settle(all ? VG_ACTIVE : VG_LOST, VG_SAY_ACTIVE, reason);

        step.action = VG_DO_CLAIM;
        return step;
}

static struct vg_step fail(const struct vg_facts *facts, enum vg_reason reason)
{
        return settle(facts->pvs == VG_PVS_ALL ? VG_FAILED : VG_WAITING, VG_SAY_FAILED, reason);
}

static struct vg_step take_turn_degraded(enum vg_state state, const struct vg_facts *facts)
{
        enum vg_state back = state == VG_DUE ? VG_OVERDUE : VG_DEGRADED;

        if (facts->pvs == VG_PVS_ALL)
                return say(VG_COMPLETE, VG_SAY_COMPLETE);
        if (!facts->permitted || facts->pvs == VG_PVS_NONE)
                return go(back);
        if (facts->lvs == VG_LVS_ALL)
                return settle(VG_DEGRADED, VG_SAY_DEGRADED, VG_REASON_NONE);
        if (facts->obstacle != VG_OBSTACLE_NONE)
                return say(back, VG_SAY_HINDERED);
        if (facts->lvs == VG_LVS_UNWANTED)
                return go(back);
        return (struct vg_step){.state = VG_ACTIVATING_DEGRADED, .action = VG_DO_ACTIVATE_DEGRADED};
}

static struct vg_step take_turn(enum vg_state state, const struct vg_facts *facts)
{
        if (vg_state_is_due(state))
                return take_turn_degraded(state, facts);
        if (!is_complete(state))
                return go(state);
        if (facts->pvs != VG_PVS_ALL)
                return go(VG_WAITING);
        if (facts->obstacle != VG_OBSTACLE_NONE && facts->obstacle < VG_OBSTACLE_NAME)
                return settle(VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_OBSTACLE);
        /* The initrd did it, or an earlier worker that did not live to see it. */
        if (is_active(facts) && (!facts->ask_anyway || facts->obstacle == VG_OBSTACLE_EARLIER))
                return settle_active(facts, VG_REASON_NONE);
        if (facts->obstacle != VG_OBSTACLE_NONE)
                return settle(VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_OBSTACLE);
        return (struct vg_step){.state = VG_ACTIVATING,
                .action = state == VG_COMPLETE_ALONE ? VG_DO_ACTIVATE_ALONE : VG_DO_ACTIVATE};
}

static struct vg_step end_degraded(enum vg_event event, const struct vg_facts *facts)
{
        bool some = facts->lvs == VG_LVS_SOME || facts->lvs == VG_LVS_ALL;

        if (facts->pvs == VG_PVS_ALL)
                return say(VG_COMPLETE, VG_SAY_COMPLETE);
        if (event == VG_ENDED_UNKNOWN && facts->lvs != VG_LVS_ALL)
                return go(some ? VG_DEGRADED_DUE : VG_DUE);
        if (!some)
                return settle(facts->pv_changed ? VG_WAITING : VG_OVERDUE, VG_SAY_IN_VAIN, VG_REASON_INACTIVE);
        return settle(facts->pv_changed && facts->lvs == VG_LVS_SOME ? VG_DEGRADED_RETRY : VG_DEGRADED,
                VG_SAY_DEGRADED, VG_REASON_INACTIVE);
}

static struct vg_step end(enum vg_state state, enum vg_event event, const struct vg_facts *facts)
{
        if (state == VG_ACTIVATING_DEGRADED)
                return end_degraded(event, facts);
        if (state != VG_ACTIVATING)
                return go(state);
        if (is_active(facts))
                return settle_active(facts, VG_REASON_NONE);
        if (event == VG_ENDED_UNKNOWN)
                return go(VG_COMPLETE);
        /* lvm2 takes such an LV for active, and rightly does not touch it: it may be in use. */
        if (facts->on_removed)
                return fail(facts, VG_REASON_ON_REMOVED);
        if (facts->pvs != VG_PVS_ALL)
                return fail(facts, VG_REASON_PV_REMOVED);
        if (event == VG_ENDED_CRASHED || event == VG_ENDED_OVERLOOKED)
                return go(VG_COMPLETE_ALONE);
        /* A PV may have been removed with LVs that were active by then, and be back. */
        if (facts->pv_changed)
                return go(VG_COMPLETE);
        if (event == VG_ENDED_FAILED || (event == VG_ENDED_WARNED && facts->lvs == VG_LVS_NONE))
                return fail(facts, VG_REASON_LVM);
        return facts->lvs == VG_LVS_SOME ? settle_active(facts, VG_REASON_UNWANTED)
                                         : settle(VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_UNWANTED);
}

static struct vg_step be_stuck(enum vg_state state, enum vg_event event)
{
        /* A degraded activation looks at all devices, whatever VGs it is asked for, and would wait again. */
        if (state != VG_ACTIVATING)
                return go(state);
        if (event == VG_STUCK_OTHER)
                return go(VG_COMPLETE);
        if (event == VG_STUCK_LOCKED)
                return go(VG_COMPLETE_ALONE);
        return (struct vg_step){.state = state, .reason = VG_REASON_UNRESPONSIVE};
}

/* lvm2 activates nothing because of a change, so that nothing is to be done, and the state is to be right. */
static struct vg_step judge_changed(enum vg_state state, const struct vg_facts *facts)
{
        bool none = facts->lvs == VG_LVS_NONE || facts->lvs == VG_LVS_UNWANTED;

        if (vg_state_is_due(state))
                return say(VG_COMPLETE, VG_SAY_COMPLETE);
        if (is_complete(state))
                return go(state);
        if (facts->obstacle == VG_OBSTACLE_METADATA && none)
                return settle(VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_OBSTACLE);
        /* Whether the RAIDs of it are whole again, the kernel knows. */
        if (state == VG_DEGRADED || state == VG_DEGRADED_RETRY || state == VG_DEGRADED_COMPLETE)
                return go(state);
        if (state == VG_ACTIVE || is_active(facts))
                return settle(VG_ACTIVE, VG_SAY_ACTIVE, VG_REASON_NONE);
        /* lvm2 was not asked again. */
        if (state == VG_FAILED || (state == VG_SKIPPED && facts->has_reason))
                return go(state);
        return settle(VG_SKIPPED, VG_SAY_SKIPPED, VG_REASON_CHANGED);
}

static struct vg_step reread(enum vg_state state, bool left, const struct vg_facts *facts)
{
        if (is_activating(state))
                return (struct vg_step){.state = state, .action = VG_DO_RECHECK};
        if (left && facts->pvs == VG_PVS_NONE)
                return (struct vg_step){.state = VG_REMOVED, .action = VG_DO_FORGET, .report = VG_SAY_REMOVED};
        if (facts->pvs == VG_PVS_ALL)
                return judge_changed(state, facts);
        if (!left)
                return go(state);
        if (vg_state_is_waiting(state))
                return lose(state);
        return say(VG_WAITING, VG_SAY_LOST);
}

static struct vg_step decide(enum vg_state state, enum vg_event event, const struct vg_facts *facts)
{
        switch (event) {
        case VG_PV_APPEARED:
                return appear(state, facts);
        case VG_PV_WRITTEN:
        case VG_PV_FOUND:
        case VG_PV_ANNOUNCED:
                return look(state, event, facts);
        case VG_PV_REMOVED:
                return lose(state);
        case VG_REREAD:
        case VG_REREAD_LEFT:
                return reread(state, event == VG_REREAD_LEFT, facts);
        case VG_DEADLINE_PASSED:
                return pass_deadline(state, facts);
        case VG_REQUESTED:
                return request(state, facts);
        case VG_TURN:
                return take_turn(state, facts);
        case VG_STUCK_OWN:
        case VG_STUCK_OTHER:
        case VG_STUCK_LOCKED:
                return be_stuck(state, event);
        case VG_WORKER_LOST:
                return go(is_activating(state) ? (state == VG_ACTIVATING ? VG_COMPLETE : VG_DUE) : state);
        case VG_ADOPTED:
                return go(is_complete(state)       ? VG_ACTIVATING
                          : vg_state_is_due(state) ? VG_ACTIVATING_DEGRADED
                                                   : state);
        default:
                return end(state, event, facts);
        }
}

struct vg_step vg_next(enum vg_state state, enum vg_event event, const struct vg_facts *facts)
{
        struct vg_step step = decide(state, event, facts);

        step.deadline = vg_state_has_deadline(step.state) &&
                        (step.state != state || event == VG_PV_REMOVED || event == VG_REREAD_LEFT ||
                                (state == VG_DEGRADED_RETRY && event == VG_PV_APPEARED));
        /* What was settled is not settled again. */
        if ((event == VG_REREAD || event == VG_REREAD_LEFT) && step.state == state)
                step.report = VG_SAY_NOTHING;
        return step;
}
