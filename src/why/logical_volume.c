/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/logical_volume.h"

#include "why/causes.h"
#include "why/holders.h"
#include "why/volume_group.h"

static int explain_active(const struct sources *sources, const struct vg_view *view,
        const struct volume_group_lv *lv, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;

        explanation_answer(explanation, VERDICT_UP, "active", "LV %s/%s is active.", volume_group->name, lv->name);
        explanation_fact(explanation, "Its VG is %s.", volume_group_describe_place(sources, view));
        return explain_holders_of_lvs(sources, volume_group->vgid, lv->lvid, explanation);
}

/* Of its own causes and its VG's, its own would be there also if the VG were active. */
static int explain_inactive(const struct sources *sources, const struct vg_view *view,
        const struct volume_group_lv *lv, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        bool is_up = volume_group->state == VOLUME_GROUP_ACTIVE || volume_group->state == VOLUME_GROUP_DEGRADED ||
                     volume_group->state == VOLUME_GROUP_DEACTIVATED;
        int r;

        /* What there is to say depends on it. */
        explanation->verdict = VERDICT_DOWN;
        if (is_up || !lv->autoactivated || lv->stranded)
                causes_of_lv(sources, view, lv, explanation);
        if (explanation->causes.n > 0) {
                explanation_answer(explanation, VERDICT_DOWN, "inactive", "LV %s/%s is not active: %s.",
                        volume_group->name, lv->name, explanation_first_cause(explanation, ""));
                explanation_tell_other_causes(explanation);
                string_vector_done(&explanation->causes);
        }
        explanation_fact(explanation, "Its VG is %s.", volume_group_describe_place(sources, view));
        if (volume_group->state == VOLUME_GROUP_ACTIVE)
                return 0;

        r = volume_group_explain_facts(sources, view, explanation);
        if (r < 0)
                return r;
        if (explanation->answer)
                explanation_fact(explanation, "The VG is not active as a whole: %s.",
                        explanation_first_cause(explanation, "nobody knows why"));
        else
                explanation_answer(explanation, VERDICT_DOWN, "inactive",
                        "LV %s/%s is not active, as its VG is not: %s.", volume_group->name, lv->name,
                        explanation_first_cause(explanation, "nobody knows why"));
        explanation_tell_other_causes(explanation);
        return 0;
}

int logical_volume_explain(const struct sources *sources, const struct vg_view *view, const char *name,
        struct explanation *explanation)
{
        const struct volume_group_lv *lv = vg_view_find_lv(view, name);
        int r;

        if (!lv)
                return LOGICAL_VOLUME_NONE;
        r = lv->active ? explain_active(sources, view, lv, explanation)
                       : explain_inactive(sources, view, lv, explanation);
        return r < 0 ? r : LOGICAL_VOLUME_FOUND;
}

void logical_volume_suggest(const struct vg_view *view, struct suggestion *suggestion)
{
        for (size_t i = 0; i < view->volume_group->n_lvs; i++)
                suggestion_consider(suggestion, view->volume_group->lvs[i].name);
}
