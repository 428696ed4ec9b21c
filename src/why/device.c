/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Explains a block device: what is on it, and what becomes of the VG that it is a PV of. */

#include "why/device.h"

#include "lvm/online.h"
#include "why/causes.h"
#include "why/holders.h"
#include "why/volume_group.h"

/* ------ what is on it ------ */

static void answer_no_pv(const struct device_facts *facts, struct explanation *explanation)
{
        const struct pv *pv = &facts->pv;

        if (pv->error < 0) {
                explanation_condition(explanation, "unreadable");
                explanation_answer(explanation, VERDICT_UNKNOWN, "unknown", "%s cannot be read: %s.", facts->path,
                        reader_describe_error(pv->error));
        } else if (pv->damage) {
                explanation_condition(explanation, "damaged");
                explanation_answer(explanation, VERDICT_DOWN, "damaged", "%s has a damaged LVM label: %s.",
                        facts->path, pv->damage);
                explanation_advise(explanation, "See what can be saved: pvck(8), vgcfgrestore(8).");
        } else {
                explanation_condition(explanation, "no-pv");
                explanation_answer(explanation, VERDICT_DOWN, "no-pv", "%s is not a PV: %s.", facts->path,
                        explanation_first_cause(explanation, "it has no LVM label"));
                if (facts->fs_type)
                        explanation_fact(explanation, "By blkid it holds %s.", facts->fs_type);
        }
        explanation_tell_other_causes(explanation);
}

static void answer_orphan(const struct device_facts *facts, const char *uuid, struct explanation *explanation)
{
        const struct pv *pv = &facts->pv;

        if (pv->damage) {
                explanation_condition(explanation, "damaged");
                explanation_answer(explanation, VERDICT_DOWN, "damaged",
                        "%s is a PV whose metadata is damaged: %s.", facts->path, pv->damage);
                explanation_advise(explanation, "See what can be saved: pvck(8), vgcfgrestore(8).");
        } else {
                explanation_condition(explanation, "no-vg");
                explanation_answer(explanation, VERDICT_DOWN, "no-vg", "%s is a PV that belongs to no VG%s.",
                        facts->path, pv->unused ? "" : ", as far as it tells: it holds no metadata");
        }
        explanation_fact(explanation, "Its PV UUID is %s.", uuid);
        explanation_tell_other_causes(explanation);
}

/* Of PVs of such VGs lvm2 makes no record, and with event_activation=0 of none. */
static bool is_recorded(const struct sources *sources, const struct metadata *metadata)
{
        return sources->configuration.event_activation && metadata && !metadata->exported &&
               !metadata->lock_type &&
               !system_id_is_foreign(&sources->configuration.system_id, metadata->system_id);
}

/* lvm2 has made a record of each PV that it accepts. */
static void explain_recording(
        const struct sources *sources, const struct device_facts *facts, struct explanation *explanation)
{
        const char *pvid = facts->pv.pvid;
        dev_t recorded;

        if (sources->lvm_run_fd >= 0 && online_read_pv(sources->lvm_run_fd, pvid, &recorded) == ONLINE_FOUND) {
                if (recorded == facts->number)
                        return;
                explanation_fact(explanation, "lvm2 has recorded this PV as another device.");
                return;
        }
        explanation_condition(explanation, "refused");
        explanation_fact(explanation, "lvm2 has not recorded it as a PV that is there.");
        causes_of_refusal(sources, pvid,
                sources->configuration.filter.set || sources->configuration.global_filter.set ? "filter" : "",
                explanation);
}

/* Whether what is on it is to be found on a multipath device or an md array, too, and is meant to be used there. */
static bool is_component(const struct device_facts *facts)
{
        return facts->multipath_path || facts->upper_map ||
               (facts->fs_type && streq(facts->fs_type, "linux_raid_member"));
}

/* Which VG a PV without metadata is of, the VG's other PVs have told the worker. */
static int find_vg_name(const struct sources *sources, const struct device_facts *facts, char **ret)
{
        const struct record_entry *entry;

        if (facts->pv.metadata) {
                *ret = strdup(facts->pv.metadata->name);
                return *ret ? 1 : -ENOMEM;
        }
        if (!sources->records)
                return 0;
        dm_list_iterate_items(entry, &sources->records->records) {
                _cleanup_volume_group_ struct volume_group *volume_group = NULL;

                if (!lvm_id_is_valid(entry->key) || !strstr(entry->text, facts->pv.pvid) ||
                        volume_group_parse(entry->text, &volume_group) < 0 ||
                        !volume_group_find_pv(volume_group, facts->pv.pvid))
                        continue;
                *ret = strdup(volume_group->name);
                return *ret ? 1 : -ENOMEM;
        }
        return 0;
}

static void answer_of_vg(const struct device_facts *facts, const char *name, const struct explanation *vg,
        struct explanation *explanation)
{
        explanation_answer(explanation, vg->verdict, vg->state ?: "unknown", "%s is a PV of VG %s, which is %s.",
                facts->path, name, vg->state ?: "not known");
        explanation_tell_other_causes(explanation);
        if (explanation->causes.n > 0)
                explanation_fact(explanation, "lvm2 leaves the device alone: %s.", explanation->causes.strings[0]);
        if (vg->answer)
                explanation_fact(explanation, "%s", vg->answer);
        explanation_take_over(explanation, vg);
}

static void explain_pv(
        const struct sources *sources, const struct device_facts *facts, struct explanation *explanation)
{
        _cleanup_explanation_ struct explanation vg = {};
        _cleanup_vg_view_ struct vg_view view = {};
        char uuid[LVM_ID_FORMATTED_SIZE];
        _cleanup_free_ char *name = NULL;
        int r;

        lvm_id_format(facts->pv.pvid, uuid);
        r = find_vg_name(sources, facts, &name);
        explanation_fail(explanation, r);
        if (r <= 0) {
                answer_orphan(facts, uuid, explanation);
                if (!is_component(facts))
                        explain_duplicate_of_device(sources, facts, explanation);
                return;
        }

        explanation_fact(explanation, "Its PV UUID is %s.", uuid);
        if (is_recorded(sources, facts->pv.metadata) && !is_component(facts))
                explain_recording(sources, facts, explanation);
        r = vg_view_find(sources, name, &view);
        if (r == VG_VIEW_NONE)
                r = vg_view_search(sources, name, &view);
        explanation_fail(explanation, r);
        if (r > 0)
                volume_group_explain(sources, &view, &vg);
        if (!is_component(facts))
                explain_duplicate_of_device(sources, facts, explanation);
        answer_of_vg(facts, name, &vg, explanation);
}

void device_explain(
        const struct sources *sources, const struct device_facts *facts, struct explanation *explanation)
{
        causes_of_device(sources, facts, explanation);
        if (facts->pv.found)
                explain_pv(sources, facts, explanation);
        else
                answer_no_pv(facts, explanation);
        explain_udev(facts, explanation);
        if (facts->kernel_name)
                explain_holders_of_device(sources, facts->number, facts->kernel_name, explanation);
}
