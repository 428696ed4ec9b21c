/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/degraded.h"

#include "lvm/active.h"
#include "why/missing.h"

static void explain_late_pvs(const struct volume_group *volume_group, struct explanation *explanation)
{
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                const struct volume_group_pv *pv = &volume_group->pvs[i];
                _cleanup_free_ char *came = describe_time(volume_group, pv->late_usec);
                char formatted[LVM_ID_FORMATTED_SIZE];

                if (pv->late_usec == 0)
                        continue;
                lvm_id_format(pv->pvid, formatted);
                explanation_fact(explanation, "PV %s came back at %s, as %s, and takes part in no RAID by itself.",
                        formatted, came ?: "?", pv->device_name ?: "?");
        }
}

/* What has the flag counts as missing for lvm2 wherever it is (vgextend(8)). */
static void advise_on_flags(const struct volume_group *volume_group, struct explanation *explanation)
{
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                const struct volume_group_pv *pv = &volume_group->pvs[i];

                if (!pv->flagged || pv->device == 0)
                        continue;
                explanation_fact(explanation, "lvm2 has changed the VG without %s (flag MISSING).",
                        pv->device_name ?: "it");
                explanation_advise(explanation,
                        "First have lvm2 take the PV for present again: \"vgextend "
                        "--restoremissing %s %s\".",
                        volume_group->name, pv->device_name ?: "DEVICE");
        }
}

int explain_degraded(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        _cleanup_free_ char *since = describe_time(volume_group, volume_group->degraded_usec);
        _cleanup_free_ char *refresh = NULL;
        int r = 0;

        explanation_condition(explanation, "degraded");
        if (volume_group_is_incomplete(volume_group)) {
                r = explain_missing_pvs(sources, view, explanation);
                if (r < 0)
                        return r;
        } else
                explanation_cause(
                        explanation, "degraded", "all of its PVs are there, and RAIDs of it go without some");
        explanation_fact(explanation,
                "It is degraded since %s, when it had to do without PVs, as headgate.conf allows.", since ?: "?");
        explain_late_pvs(volume_group, explanation);

        r = raid_describe_refresh(volume_group, &refresh);
        if (r == -ENOMEM)
                return r;
        advise_on_flags(volume_group, explanation);
        if (r > 0 && !volume_group_is_incomplete(volume_group))
                explanation_advise(explanation, "Have the RAIDs take part again what came back: \"%s\".", refresh);
        else if (!volume_group_is_incomplete(volume_group))
                explanation_advise(explanation,
                        "Have the RAIDs take part again what came back: \"vgchange --refresh %s\".",
                        volume_group->name);
        return 0;
}
