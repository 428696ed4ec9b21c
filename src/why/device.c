/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Explains a block device that is not an LV: its contents, and the state of its VG. */

#include "lvm/online.h"
#include "why/why.h"

/* ------ contents ------ */

/* Whether lvm2 uses a multipath device or md array on it instead. */
static bool is_component(const struct device_facts *device)
{
        return device->multipath_path || device->upper_map || device_holds(device, "linux_raid_member");
}

/* Answers for a device that is not a PV, or a PV whose VG is unknown. */
static void answer_without_vg(struct why *why)
{
        const struct pv *pv = &why->device->pv;
        const char *path = why->device->path;

        if (pv->error < 0) {
                why_answer(why, VERDICT_UNKNOWN, "unknown", "%s cannot be read: %s.", path,
                        reader_describe_error(pv->error));
                explain_unreadable(why, path, pv->error);
        } else if (pv->damage) {
                why_answer(why, VERDICT_DOWN, "damaged", "%s %s: %s.", path,
                        pv->found ? "is a PV with damaged metadata" : "has a damaged LVM label", pv->damage);
                why_advise(why, "To repair it: pvck(8), vgcfgrestore(8).");
        } else if (pv->found) {
                why_answer(why, VERDICT_DOWN, "no-vg", "%s is a PV that belongs to no VG%s.", path,
                        pv->unused ? "" : ", or its VG is unknown: it holds no metadata");
        } else {
                why_answer(why, VERDICT_DOWN, "no-pv", "%s is not a PV: %s.", path,
                        why->n_causes > 0 ? why_first_cause(why) : "it has no LVM label");
                if (why->device->fs_type)
                        why_fact(why, "blkid found %s on it.", why->device->fs_type);
        }
        if (why->verdict != VERDICT_UNKNOWN)
                why_condition(why, why->state);
        if (pv->found)
                why_fact(why, "Its PV UUID is %s.", LVM_ID_TO_STRING(pv->pvid));
        why_add_other_causes(why);
        if (pv->found && !is_component(why->device))
                explain_duplicates(why, pv->pvid, why->device->number, path);
}

/* lvm2 records no PVs of exported, foreign and shared VGs, and none with event_activation=0. */
static bool is_recorded(const struct sources *sources, const struct vg *metadata)
{
        return sources->config.event_activation && metadata && !metadata->exported && !metadata->lock_type &&
               !system_id_is_foreign(&sources->config.system_id, metadata->system_id);
}

/* lvm2 records each PV that it accepts. */
static void explain_recording(struct why *why)
{
        const struct config *config = &why->sources->config;
        const char *pvid = why->device->pv.pvid;
        int lvm_run_fd = why->sources->lvm_run_fd;
        dev_t recorded;

        if (lvm_run_fd >= 0 && online_read_pv(lvm_run_fd, pvid, &recorded, NULL) == ONLINE_FOUND) {
                if (recorded != why->device->number)
                        why_fact(why, "lvm2 has recorded this PV on another device.");
                return;
        }
        why_state(why, "refused", "lvm2 has not recorded this PV as online.");
        causes_of_refusal(why, pvid, config->filter.set || config->global_filter.set ? "filter" : "");
}

/* The worker's records have the VG of a PV without metadata, from its other PVs. Returns NULL without one. */
static struct vg *find_recorded(const struct sources *sources, const char *pvid)
{
        FOREACH_RECORD(entry, sources->records) {
                _cleanup_vg_ struct vg *vg = NULL;

                if (lvm_id_is_valid(entry->key) && strstr(entry->text, pvid) && vg_parse(entry->text, &vg) >= 0 &&
                        vg_find_pv(vg, pvid))
                        return TAKE_PTR(vg);
        }
        return NULL;
}

/* Answers by the explanation of its VG. */
static void answer_by_vg(struct why *why, const char *name, const struct why *vg)
{
        why_answer(why, vg->verdict, vg->state ?: "unknown", "%s is a PV of VG %s, which is %s.",
                why->device->path, name, vg->state ?: "not known");
        why_add_other_causes(why);
        if (why->n_causes > 0)
                why_fact(why, "lvm2 ignores the device: %s.", why_first_cause(why));
        if (vg->answer)
                why_fact(why, "%s", vg->answer);
        why_merge(why, vg);
}

static void explain_pv(struct why *why, const struct vg *vg)
{
        _cleanup_why_ struct why whole = {.sources = why->sources};
        _cleanup_vg_view_ struct vg_view view = {};
        int r;

        why_fact(why, "Its PV UUID is %s.", LVM_ID_TO_STRING(why->device->pv.pvid));
        if (is_recorded(why->sources, why->device->pv.metadata) && !is_component(why->device))
                explain_recording(why);
        r = vg_view_find(why->sources, vg->name, vg->vgid, &view);
        why_fail(why, r);
        if (r > 0)
                vg_explain(&whole, &view);
        answer_by_vg(why, vg->name, &whole);
}

void device_explain(struct why *why)
{
        const struct pv *pv = &why->device->pv;
        _cleanup_vg_ struct vg *recorded =
                pv->found && !pv->metadata ? find_recorded(why->sources, pv->pvid) : NULL;
        const struct vg *vg = pv->metadata ?: recorded;

        causes_of_device(why);
        if (vg)
                explain_pv(why, vg);
        else
                answer_without_vg(why);
        explain_udev(why, why->device);
        explain_read_only(why, why->device->path, why->device->number);
        if (why->device->kernel_name)
                explain_holders_of_device(why);
}
