/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* For cbmc(1): what holds of one step of a VG's life, proved for any state, event and facts. */

#include <assert.h>

#include "unit/vg-state-rules.h"

int main(void)
{
        /* To cbmc, anything. */
        enum vg_state state;
        enum vg_event event;
        struct vg_facts facts;
        struct vg_step step;

        __CPROVER_assume(state >= 0 && state < _VG_STATE_SETTABLE && event >= 0 && event < _VG_EVENT_MAX);
        __CPROVER_assume(facts.pvs >= 0 && facts.pvs < _VG_PVS_MAX && facts.lvs >= 0 && facts.lvs < _VG_LVS_MAX);
        __CPROVER_assume(facts.obstacle >= 0 && facts.obstacle < _VG_OBSTACLE_MAX);
        step = vg_next(state, event, &facts);
        assert(!find_fault(state, event, &facts, &step));
}
