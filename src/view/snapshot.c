/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All VGs at one moment, from records and other sources, compared with the active LVs. */

#include "view/snapshot.h"

#include "lvm/online.h"
#include "shared/kernel.h"
#include "tree/read.h"

/* ------ judgement ------ */

/* lvm2 removes its vgs_online entry when it deactivates LVs of a VG. A program that removes devices without lvm2, such as
 * teardown, does not; but then fewer LVs are active than on record. An LV that was never active is not wanted. */
static bool was_deactivated(const struct judgement_facts *facts)
{
        return facts->now.active < facts->now.autoactivated &&
               (facts->now.active < facts->before.active || !facts->claimed);
}

enum vg_status judge_recorded(enum vg_status recorded, const struct judgement_facts *facts)
{
        bool all_active = facts->now.active >= facts->now.autoactivated;

        switch (facts->exported && recorded > VG_STATUS_ACTIVATING ? VG_STATUS_SKIPPED : recorded) {
        case VG_STATUS_ACTIVE:
                return was_deactivated(facts) ? VG_STATUS_DEACTIVATED : VG_STATUS_ACTIVE;
        case VG_STATUS_DEGRADED:
                if (facts->now.active < facts->before.active)
                        return VG_STATUS_DEACTIVATED;
                return facts->whole_again ? VG_STATUS_ACTIVE : VG_STATUS_DEGRADED;
        case VG_STATUS_FAILED:
                /* The LVs were activated by hand after the failure. */
                if (all_active && facts->now.autoactivated > 0)
                        return VG_STATUS_ACTIVE;
                /* LVs that mapped removed disks were the reason, and were removed since. */
                if (!all_active && facts->lost_pv && facts->now.stranded == 0)
                        return VG_STATUS_DEACTIVATED;
                return VG_STATUS_FAILED;
        case VG_STATUS_SKIPPED:
                return !facts->exported && all_active && facts->now.autoactivated > 0 ? VG_STATUS_ACTIVE
                                                                                      : VG_STATUS_SKIPPED;
        default:
                return recorded;
        }
}

enum vg_status judge_unrecorded(const struct vg *vg)
{
        struct vg_counts n = vg_count(vg);

        if (vg->n_pvs > 0 && n.all_active)
                return VG_STATUS_ACTIVE;
        return !n.any_active && n.seen == 0 ? VG_STATUS_ABSENT : VG_STATUS_UNKNOWN;
}

/* Facts that need a system call are read only for states that depend on them. */
void snapshot_judge(const struct sources *sources, struct vg *vg)
{
        enum vg_status recorded = vg->status;
        struct judgement_facts facts = {
                .before = vg_count(vg),
                .exported = vg->skip_reason && streq(vg->skip_reason, VG_EXPORTED),
                .lost_pv = vg->lost_pv,
        };
        const char *reason, *unmet = plan_find_unmet(&sources->entries, vg);

        (void) !vg_compare_host(vg, &sources->config.system_id);
        if (!sources->devices)
                return;
        dm_devices_mark_active(sources->devices, vg);
        facts.now = vg_count(vg);
        /* If vgs_online cannot be read, the VG counts as claimed. Without a directory there are no claims. */
        if (recorded == VG_STATUS_ACTIVE && facts.now.active < facts.now.autoactivated &&
                sources->lvm_run_fd != -ENOENT)
                facts.claimed = online_is_claimed(sources->lvm_run_fd, vg->name) != 0;
        if (recorded == VG_STATUS_DEGRADED)
                facts.whole_again = raid_is_whole_again(sources->devices, vg);

        vg->status = judge_recorded(recorded, &facts);
        if (unmet && vg->status == VG_STATUS_ACTIVE && !vg->reason)
                vg->reason = strdup(unmet);
        if (vg->status == recorded)
                return;
        reason = vg->status == VG_STATUS_DEACTIVATED ? "LVs were deactivated since."
                 : vg->status == VG_STATUS_SKIPPED   ? vg->skip_reason
                                                     : NULL;
        /* The time of an activation by hand is unknown. */
        if (vg->status == VG_STATUS_ACTIVE && recorded != VG_STATUS_DEGRADED)
                vg->settled_usec = 0;
        /* Without memory, the reason is empty. */
        free(vg->reason);
        vg->reason = reason ? strdup(reason) : NULL;
}

/* ------ VGs with a record ------ */

static int compare(const void *a, const void *b)
{
        const struct vg *const *first = a, *const *second = b;

        return strcmp((*first)->name, (*second)->name);
}

static int add_recorded(struct sources *sources)
{
        FOREACH_RECORD(record, sources->records) {
                _cleanup_vg_ struct vg *vg = NULL;
                int r = record_entry_parse_vg(record, &vg);

                if (r == -ENOMEM || (r > 0 && APPEND(sources->vgs, sources->n_vgs, vg) < 0))
                        return -ENOMEM;
                TAKE_PTR(vg);
        }
        return 0;
}

int snapshot_read(struct sources *sources)
{
        int r;

        sources_forget_vgs(sources);
        /* The worker creates the directory, maybe after this program has started. */
        if (sources->lvm_run_fd < 0)
                sources->lvm_run_fd = online_open_to_look();
        sources->devices = dm_devices_free(sources->devices);
        r = sources_read_records(sources) ?: sources_read_devices(sources) ?: add_recorded(sources);
        if (r < 0)
                return r;
        SORT(sources->vgs, sources->n_vgs, compare);
        FOREACH_ARRAY(vg, sources->vgs, sources->n_vgs)
                snapshot_judge(sources, *vg);
        return 0;
}

const struct vg *snapshot_find(const struct sources *sources, const char *name)
{
        const struct vg *found = NULL;

        FOREACH_ARRAY(vg, sources->vgs, sources->n_vgs)
                if (streq((*vg)->name, name) &&
                        (!found || (!vg_count(found).any_active && vg_count(*vg).any_active)))
                        found = *vg;
        return found;
}

/* ------ VGs without a record ------ */

/* Sets the devices of PVs that lvm2 has recorded and the kernel has. */
static int find_pvs(const struct sources *sources, struct vg *vg)
{
        FOREACH_PV(pv, vg) {
                _cleanup_free_ char *name = NULL, *owner = NULL;
                dev_t number;
                int r = online_read_pv(sources->lvm_run_fd, pv->pvid, &number, &owner);

                if (r == -ENOMEM)
                        return r;
                if (r != ONLINE_FOUND || (sources->in_charge && owner && !streq(owner, vg->name)))
                        continue;
                r = sysfs_read_name(sources->root_fd, number, &name);
                if (r > 0)
                        r = string_replace(&pv->device_name, string_format("/dev/%s", name));
                if (r < 0)
                        return r;
                if (name)
                        pv->device = number;
        }
        return 0;
}

int unrecorded_judge(const struct sources *sources, struct vg *vg)
{
        int r = sources->lvm_run_fd < 0 ? 0 : find_pvs(sources, vg);

        if (r < 0)
                return r;
        if (sources->devices)
                dm_devices_mark_active(sources->devices, vg);
        vg->status = judge_unrecorded(vg);
        return 0;
}

int unrecorded_read(const struct sources *sources, const char *name, struct vg **ret)
{
        return sources_read_backup(sources, name, ret) ?: unrecorded_judge(sources, *ret);
}

int unrecorded_new(const struct sources *sources, const char *name, struct vg **ret)
{
        _cleanup_vg_ struct vg *vg = calloc(1, sizeof(*vg));

        if (!vg)
                return -ENOMEM;
        vg->name = strdup(name);
        if (!vg->name)
                return -ENOMEM;
        FOREACH_DM_DEVICE(device, sources->devices) {
                const char *ids = device->uuid + strlen(LVM_UUID_PREFIX);
                struct vg_lv lv = {.autoactivated = true, .active = true};

                if (!device->vg || !streq(device->vg, name) || !dm_device_is_visible_lv(device))
                        continue;
                memcpy(vg->vgid, ids, LVM_ID_LENGTH);
                memcpy(lv.lvid, ids + LVM_ID_LENGTH, LVM_ID_LENGTH);
                if (!GREEDY_REALLOC(vg->lvs, vg->n_lvs + 1) || !(lv.name = strdup(device->lv)))
                        return -ENOMEM;
                vg->lvs[vg->n_lvs++] = lv;
        }
        vg->status = judge_unrecorded(vg);
        *ret = TAKE_PTR(vg);
        return 0;
}

static const char *explain(const struct vg *vg)
{
        struct vg_counts n = vg_count(vg);

        if (vg->n_pvs == 0)
                return n.active > 0 ? "Its LVs are not known: lvm2 has no readable backup of it."
                                    : "Only its name is known.";
        if (n.active > 0)
                return "Not all of its LVs are active.";
        return n.seen > 0 ? "None of its LVs is active."
                          : "None of its LVs is active, and lvm2 has recorded none of its PVs.";
}

/* Whether other VGs have all its PVs: the backup of a VG that was merged into another one stays. */
static bool is_merged(const struct sources *sources, const struct vg *vg)
{
        FOREACH_PV(pv, vg) {
                _cleanup_free_ char *owner = NULL;
                dev_t number;

                if (sources->lvm_run_fd < 0 ||
                        online_read_pv(sources->lvm_run_fd, pv->pvid, &number, &owner) != ONLINE_FOUND || !owner ||
                        streq(owner, vg->name))
                        return false;
        }
        return vg->n_pvs > 0;
}

/* A VG that the worker does not know may have been activated by the initrd or by hand. */
static int describe(struct vg *vg, const struct planned_vg *planned)
{
        if (!planned && vg->status == VG_STATUS_ACTIVE)
                return 0;
        if (!planned) {
                /* Only a planned VG is reported as absent. */
                vg->status = VG_STATUS_UNKNOWN;
                vg->reason = strdup(explain(vg));
        } else if (vg->status == VG_STATUS_ABSENT)
                /* The reason in the plan is a sentence, or the end of one. */
                vg->reason = string_format(
                        "None of its PVs was seen%s %s", planned->group == PLAN_NONE ? ";" : ".", planned->reason);
        else
                vg->reason = strdup("headgate has seen none of its PVs.");
        return vg->reason ? 0 : -ENOMEM;
}

int unrecorded_add(struct sources *sources, const char *name, const struct planned_vg *planned)
{
        _cleanup_vg_ struct vg *vg = NULL;
        int r;

        if (snapshot_find(sources, name))
                return 0;
        r = unrecorded_read(sources, name, &vg);
        if (r == -ENOENT)
                r = unrecorded_new(sources, name, &vg);
        if (r < 0 || (planned && !planned->source && is_merged(sources, vg)))
                return r;
        r = describe(vg, planned) ?: APPEND(sources->vgs, sources->n_vgs, vg);
        if (r >= 0)
                TAKE_PTR(vg);
        return r;
}

int unrecorded_add_all(struct sources *sources)
{
        struct dm_hash_node *node;
        int r = sources_read_names(sources);

        if (r < 0)
                return r;
        dm_hash_iterate(node, sources->names)
                r = r ?: unrecorded_add(sources, dm_hash_get_key(sources->names, node), NULL);
        SORT(sources->vgs, sources->n_vgs, compare);
        return r;
}

/* ------ VGs that are expected ------ */

int expected_find(struct sources *sources, bool all, struct plan *ret)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_strv_ struct strv names = {};
        int r = sources_read_config(sources);

        FOREACH_ARRAY(vg, sources->vgs, all ? 0 : sources->n_vgs)
                r = r ?: strv_add(&names, (*vg)->name);
        if (r < 0)
                return r;
        return plan_make(sources->root_fd, &sources->settings, &sources->config, &names, ret, &problems);
}

int claims_find(const struct sources *sources, struct plan *ret)
{
        /* headgate-generator has reported these problems. */
        _cleanup_problems_ struct problems problems = {};

        FOREACH_ARRAY(vg, sources->vgs, sources->n_vgs) {
                struct planned_vg *planned;
                int r = plan_add(ret, (*vg)->name, &planned);

                if (r == -ENOMEM)
                        return r;
                if (r >= 0)
                        memcpy(planned->vgid, (*vg)->vgid, LVM_ID_SIZE);
        }
        return entries_claim(sources->root_fd, NULL, ret, &problems);
}

int expected_add(struct sources *sources, bool all, struct plan *ret)
{
        int r = expected_find(sources, false, ret);

        FOREACH_ARRAY(planned, ret->vgs, ret->n)
                if (planned->group != PLAN_NONE || planned->needed || all)
                        r = r ?: unrecorded_add(sources, planned->name, planned);
        SORT(sources->vgs, sources->n_vgs, compare);
        return r;
}

bool snapshot_is_current(const struct sources *sources, const struct vg *vg)
{
        return sources->in_charge || judge_unrecorded(vg) != VG_STATUS_ABSENT ||
               sources_have_online(sources, vg->name);
}
