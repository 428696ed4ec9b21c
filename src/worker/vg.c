/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Events of VGs: gathers the facts, calls vg_next() and carries out the result. */

#include "worker/vg.h"

#include "fast-rules/dm-names.h"
#include "lvm/dm-devices.h"
#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"

/* One event of a VG, with its facts and the step that vg_next() has chosen. */
struct change {
        struct worker *worker;
        struct vg_entry *group;
        struct vg *vg; /* of the group */
        const struct vg_input *input;
        struct vg_facts facts;
        struct vg_step step;
        /* The facts as sentences for the reason, or NULL. */
        char *obstacle;
        char *raids;
};

static void change_done(struct change *change)
{
        free(change->obstacle);
        free(change->raids);
}

/* ------ facts ------ */

int vg_list_devices(struct dm_devices **devices)
{
        int r = *devices ? 0 : dm_devices_get(devices);

        return r < 0 ? log_error_errno(r, "Failed to list the device-mapper devices: %m") : 0;
}

/* Returns why the VG may have been deactivated earlier and must not be activated, or NULL. This is about VGs with
 * an inactive LV whose PVs lvm2 knew before this worker did, unless the VG is requested. */
static const char *find_earlier_handling(const struct change *change)
{
        const struct worker *worker = change->worker;
        const struct vg_entry *group = change->group;
        _cleanup_free_ char *taken_over = NULL;
        uint64_t usec;

        if (group->fresh || group->has_entry ||
                (change->facts.lvs != VG_LVS_NONE && change->facts.lvs != VG_LVS_SOME))
                return NULL;
        /* A takeover of a running system has announced all devices, also those that are not new, and headgate has no
         * records of the time before it. */
        if (read_file_at(worker->run_fd, FLAGS_TAKEN_OVER_LATE, &taken_over, NULL) >= 0 &&
                parse_u64(taken_over, &usec) >= 0 &&
                MAX(group->vg->activating_usec, group->vg->first.settled_usec) < usec)
                return "possibly deactivated before headgate took over";
        if (!worker->inventory->records_lost)
                return NULL;
        FOREACH_PV(pv, group->vg) {
                const struct device *device = inventory_find_device(worker->inventory, pv->device);

                if (device && (device->has_entry || device->appeared))
                        return NULL;
        }
        return online_is_claimed(worker->lvm_run_fd, group->vg->name) > 0 ||
                               flags_is_set(worker->run_fd, FLAGS_BOOT_FINISHED) > 0
                       ? "record of an earlier worker lost, possibly deactivated since"
                       : NULL;
}

/* Takes ownership of the sentence. */
static int set_obstacle(struct change *change, enum vg_obstacle obstacle, char *sentence)
{
        change->facts.obstacle = obstacle;
        change->obstacle = sentence;
        return sentence ? 0 : log_oom();
}

/* lvm2 decided on each PV when it recorded it, but a degraded activation ignores these records. If two VGs have the
 * same name, lvm2 would activate LVs of both. */
static int find_obstacle_degraded(struct change *change)
{
        FOREACH_PV(pv, change->vg)
                if (pv->device != 0 && online_find_pv(change->worker->lvm_run_fd, pv->pvid) != pv->device)
                        return set_obstacle(change, VG_OBSTACLE_PV,
                                string_format("lvm2 does not accept its PV %s.", pv->device_name ?: "?"));
        if (names_is_shared(change->worker->inventory, change->group, USEC_INFINITY))
                return set_obstacle(change, VG_OBSTACLE_NAME, strdup("there is another VG of this name."));
        return 0;
}

static int find_obstacle(struct change *change)
{
        const struct vg *vg = change->vg;
        const char *earlier;
        int r;

        if (vg->skip_reason)
                return set_obstacle(change, VG_OBSTACLE_METADATA, strdup(vg->skip_reason));
        if (vg_event_is_reread(change->input->event))
                return 0;
        if (!change->worker->event_activation)
                return set_obstacle(change, VG_OBSTACLE_CONFIG, strdup("event_activation=0 in lvm.conf."));
        if (change->group->refusal)
                return set_obstacle(change, change->group->unjudged ? VG_OBSTACLE_LVM : VG_OBSTACLE_PV,
                        strdup(change->group->refusal));
        if (change->group->state == VG_COMPLETE_ALONE &&
                alike_applies_to_others(&change->worker->alike, change->worker->inventory->now_usec))
                return set_obstacle(change, VG_OBSTACLE_LVM,
                        string_format("other VGs failed likewise: %s", change->worker->alike.words));
        if (vg_state_is_due(change->group->state))
                return find_obstacle_degraded(change);
        earlier = find_earlier_handling(change);
        if (earlier)
                return set_obstacle(change, VG_OBSTACLE_UNKNOWN_HISTORY,
                        string_format("%s (headgate activate %s).", earlier, vg->name));
        r = names_is_taken(change->worker->inventory, change->group);
        if (r <= 0)
                return r;
        return set_obstacle(change, VG_OBSTACLE_NAME,
                string_format("another VG of this name was complete before (vgrename %s NEW-NAME).",
                        LVM_ID_TO_STRING(vg->vgid)));
}

/* Whether the metadata may have changed since it was read. `lvcreate` may have run immediately before the request. */
static bool may_have_changed(const struct worker *worker, const struct vg_entry *group)
{
        const struct device *device;

        return group->needs_recheck || !uevents_queue_is_empty(worker->uevents) ||
               ANY(FOREACH_PV(pv, group->vg),
                       (device = inventory_find_device(worker->inventory, pv->device)) &&
                               (device->stage < DEVICE_SETTLING || device->again || device->reread));
}

/* The fact `always_activate`. */
static bool must_activate(const struct worker *worker, const struct vg_entry *group, enum vg_event event)
{
        const char *name = group->vg->name;

        switch (event) {
        case VG_PV_ANNOUNCED:
                return vg_state_is_settled(group->state) && online_is_claimed(worker->lvm_run_fd, name) == 0;
        case VG_REQUESTED:
                return worker->imports_devices || may_have_changed(worker, group) ||
                       online_is_claimed(worker->lvm_run_fd, name) <= 0;
        case VG_SLOT_FREE:
                /* For a request by name, see may_have_changed(). */
                return worker->imports_devices || group->has_entry;
        default:
                return false;
        }
}

/* Marks active LVs. If metadata was read again, an LV that was active and is not now stays marked: it was
 * deactivated on purpose, and the VG's state must not change for that. */
static enum vg_lvs count_lvs(struct vg *vg, const struct vg_input *input)
{
        struct vg_counts n;
        _cleanup_free_ bool *before =
                vg_event_is_reread(input->event) ? calloc(vg->n_lvs + 1, sizeof(*before)) : NULL;

        for (size_t i = 0; before && i < vg->n_lvs; i++)
                before[i] = vg->lvs[i].active;
        if (input->devices)
                dm_devices_mark_active(input->devices, vg);
        n = vg_count(vg);
        for (size_t i = 0; before && i < vg->n_lvs; i++)
                vg->lvs[i].active |= before[i];
        if (n.autoactivated == 0)
                return VG_LVS_UNWANTED;
        return n.active == 0 ? VG_LVS_NONE : n.active < n.autoactivated ? VG_LVS_SOME : VG_LVS_ALL;
}

static int gather(struct change *change)
{
        struct worker *worker = change->worker;
        struct vg_entry *group = change->group;
        struct vg *vg = change->vg;
        enum vg_event event = change->input->event;
        enum vg_lvs lvs = count_lvs(vg, change->input);
        struct vg_counts n;
        int r;

        /* lvm2 may notice a removed disk before udev reports it. */
        if (vg_event_is_end(event) && (lvs == VG_LVS_NONE || lvs == VG_LVS_SOME))
                inventory_lose_absent_pvs(worker->inventory, group);
        n = vg_count(vg);
        change->facts = (struct vg_facts){
                .lvs = lvs,
                .pvs = n.missing == 0 ? VG_PVS_ALL
                       : n.seen == 0  ? VG_PVS_NONE
                                      : VG_PVS_SOME,
                .degraded_allowed =
                        worker->event_activation && settings_get_policy(&worker->settings, vg->name).degraded,
                .always_activate = must_activate(worker, group, event),
                .activate_again = group->activate_again,
                .on_removed = n.stranded > 0,
                .has_reason = vg->reason,
        };
        r = vg_compare_host(vg, &worker->config.system_id) < 0 ? log_oom() : 0;
        if (r >= 0 && (vg_event_is_reread(event) || event == VG_SLOT_FREE))
                r = find_obstacle(change);
        if (r < 0)
                return r;
        /* RAIDs may run degraded although the PV is present, if the initrd or an administrator activated them
         * before it appeared. */
        if ((vg->degraded_usec != 0 || vg->slow) && !vg_state_is_due(group->state) &&
                group->state != VG_ACTIVATING_DEGRADED && (event == VG_SLOT_FREE || vg_event_is_end(event))) {
                r = raid_describe_refresh(change->input->devices, vg, &change->raids);
                if (r == -ENOMEM)
                        return log_oom();
                if (r < 0)
                        log_debug("Failed to query RAIDs of VG %s: %s", vg->name, strerror(-r));
                change->facts.raids_degraded = r != 0;
        }
        return 0;
}

/* ------ consequences ------ */

/* Returns "" for no reason. */
static char *describe_reason(const struct change *change)
{
        size_t n_stranded = vg_count(change->vg).stranded;
        const char *name = change->vg->name;

        switch (change->step.reason) {
        case VG_REASON_OBSTACLE:
                return strdup(change->obstacle);
        case VG_REASON_ON_REMOVED:
                return string_format("%zu LV%s still on a removed disk (headgate deactivate %s, headgate "
                                     "activate %s; if in use, vgchange --refresh %s).",
                        n_stranded, n_stranded == 1 ? " is" : "s are", name, name, name);
        case VG_REASON_PV_REMOVED:
                return strdup("a PV was removed during activation.");
        case VG_REASON_UNWANTED:
                return strdup(vg_count(change->vg).active > 0 ? "lvm2's configuration excludes the other LVs."
                                                              : "lvm2's configuration excludes all of its LVs.");
        case VG_REASON_RAIDS:
                return string_format(
                        "RAIDs do not use a PV that appeared late (%s).", change->raids ?: "see lvmraid(7)");
        case VG_REASON_CHANGED:
                return strdup("lvm2 does not autoactivate VGs that are created or changed on a running machine.");
        case VG_REASON_NONE:
                return strdup("");
        default:
                return strdup(change->input->words ?: "");
        }
}

static int set_reason(const struct change *change)
{
        _cleanup_free_ char *text = NULL;

        if (change->step.reason == VG_REASON_KEEP)
                return 0;
        text = describe_reason(change);
        if (!text)
                return log_oom();
        free(change->vg->reason);
        change->vg->reason = !isempty(text) ? TAKE_PTR(text) : NULL;
        return 0;
}

/* The VG is settled: nothing more will happen without a new event. */
static void note_settled(struct worker *worker, struct vg *vg, unsigned int effects)
{
        vg->settled_usec = worker->inventory->now_usec;
        vg->lost_pv &= vg_count(vg).stranded > 0;
        if (effects & VG_EFFECT_UP)
                vg_note_first(vg);
        dm_names_remove(worker->run_fd, vg);
        (void) flags_clear(worker->run_fd, FLAGS_FAILURES);
}

/* How long after a failure the VG is retried. The cause may be temporary: a module that is loaded late, a device
 * that another program uses. */
static const uint64_t retries[] = {10 * USEC_PER_SEC, 60 * USEC_PER_SEC, 300 * USEC_PER_SEC};

/* How long after a failure an event of a PV causes an immediate retry. */
#define JUST_FAILED_USEC (30 * USEC_PER_SEC)

static void forget_retries(struct vg_entry *group)
{
        group->n_retries = 0;
        group->retried = false;
}

static void plan_retry(struct vg_entry *group, const struct vg_step *step, uint64_t now)
{
        bool failed = step->state == VG_FAILED && step->reason != VG_REASON_ON_REMOVED;

        if (!failed)
                forget_retries(group);
        group->retry_usec = failed && group->n_retries < ELEMENTSOF(retries) ? now + retries[group->n_retries] : 0;
}

bool vg_has_just_failed(const struct worker *worker, const struct vg_entry *group)
{
        return group->state == VG_FAILED && group->retry_usec > 0 && !group->retried &&
               worker->inventory->now_usec < group->vg->settled_usec + JUST_FAILED_USEC;
}

int vg_retry(struct worker *worker, struct vg_entry *group)
{
        group->retry_usec = 0;
        log_notice("VG %s failed, retrying: %s", group->vg->name, group->vg->reason ?: "lvm2 gave no reason.");
        return vg_take(worker, group, &(struct vg_input){.event = VG_RETRY});
}

/* `degraded_usec` stays set from the decision for a degraded activation until the VG is whole again, or its PVs have
 * appeared before vgchange was started. */
static void note_degraded(const struct change *change)
{
        const struct vg_step *step = &change->step;
        struct vg *vg = change->vg;
        bool needless = change->group->state == VG_DUE && step->state == VG_COMPLETE &&
                        vg->activating_usec < vg->degraded_usec;

        /* PVs are missing: the time when all were present is of an earlier activation. */
        if (vg_state_is_due(step->state))
                vg->complete_usec = 0;
        if (vg->degraded_usec == 0 && (vg_state_is_due(step->state) || step->state == VG_DEGRADED_COMPLETE))
                vg->degraded_usec = change->worker->inventory->now_usec;
        if (!needless && !(step->effects & VG_EFFECT_WHOLE))
                return;
        vg->degraded_usec = 0;
        FOREACH_PV(pv, vg)
                pv->late_usec = 0;
}

static void report(const struct change *change)
{
        enum vg_report report = change->step.report;

        if (report == VG_SAY_LATE)
                report_late(change->vg, change->input->pv);
        else if (report == VG_SAY_BLOCKED)
                log_notice("VG %s: no degraded activation: %s", change->vg->name, change->obstacle);
        /* Lost PVs are reported at the end of the step. A new VG has no LVs yet. */
        else if (report != VG_SAY_NOTHING && report != VG_SAY_LOST &&
                 (change->vg->n_lvs > 0 || !vg_event_is_reread(change->input->event)))
                report_vg(change->group, report);
}

static int carry_out(const struct change *change)
{
        const struct vg_input *input = change->input;
        const struct vg_step *step = &change->step;
        struct vg_entry *group = change->group;
        struct vg *vg = change->vg;
        struct inventory *inventory = change->worker->inventory;
        int r = set_reason(change);

        if (r < 0)
                return r;
        if (step->action == VG_DO_CLAIM) {
                r = online_claim(change->worker->lvm_run_fd, vg->name);
                if (r < 0)
                        return log_error_errno(r, "Failed to write vgs_online entry of VG %s: %m", vg->name);
        }
        if (step->action == VG_DO_RECHECK)
                inventory_recheck(inventory, group);
        if (step->report == VG_SAY_LATE)
                input->pv->late_usec = inventory->now_usec;
        if (step->effects & VG_EFFECT_COMPLETE) {
                vg->complete_usec = inventory->now_usec;
                /* Not the first activation: measure from now on. */
                if (vg->settled_usec > vg->first_seen_usec)
                        vg->first_seen_usec = vg->complete_usec;
        }
        if (step->effects & VG_EFFECT_REREAD)
                vg->complete_usec = vg->settled_usec = inventory->now_usec;
        note_degraded(change);

        /* The record has the state, the reason, times of late PVs, and which LVs are active. */
        if (step->effects & VG_EFFECT_ENTERED)
                inventory_enter(inventory, group, step);
        else if (step->reason != VG_REASON_KEEP || step->report == VG_SAY_LATE ||
                 (input->devices && step->action != VG_DO_RECHECK))
                inventory_note_change(inventory, group);
        if (step->effects & (VG_EFFECT_SETTLED | VG_EFFECT_REREAD))
                plan_retry(group, step, inventory->now_usec);
        else if (input->event == VG_REQUESTED)
                forget_retries(group);
        if (step->effects & VG_EFFECT_SETTLED)
                note_settled(change->worker, vg, step->effects);
        if (step->effects & VG_EFFECT_UP)
                group->activated = inventory->activated = true;
        if (step->effects & VG_EFFECT_ENTERED && !vg_state_is_settled(step->state))
                worker_ask_step(change->worker);
        report(change);
        return 0;
}

int vg_take(struct worker *worker, struct vg_entry *group, const struct vg_input *input)
{
        _cleanup_(change_done) struct change change = {
                .worker = worker, .group = group, .vg = group->vg, .input = input};
        int r;

        inventory_ping(worker->inventory);
        /* The cause may have been fixed: ask lvm2 again. */
        if (input->event == VG_REQUESTED || input->event == VG_RETRY) {
                vg_entry_forget_refusal(group, group->refused);
                group->activate_again |= group->state == VG_ACTIVATING;
        }
        r = gather(&change);
        if (r < 0)
                return r;
        change.step = vg_next(group->state, input->event, &change.facts);
        log_debug("VG %s: event %i takes state \"%s\" to \"%s\" (PVs %i, LVs %i, obstacle %i).", change.vg->name,
                input->event, vg_state_to_string(group->state), vg_state_to_string(change.step.state),
                change.facts.pvs, change.facts.lvs, change.facts.obstacle);
        if (change.step.action == VG_DO_NOTHING || change.step.action == VG_DO_CLAIM ||
                change.step.action == VG_DO_RECHECK)
                return carry_out(&change);
        return change.step.action;
}

int vg_probe_job(struct worker *worker, struct job *job)
{
        _cleanup_reading_ struct reading reading = {};
        int r = 0;

        job->probed = true;
        FOREACH_DEVICE_OF_JOB(device, worker->inventory, job)
                if (r >= 0 && !device->removed)
                        r = reading_add(&reading, device->number, device->name);
        FOREACH_GROUP_OF_JOB(group, worker->inventory, job)
                FOREACH_PV(pv, group->vg)
                        if (r >= 0 && pv->device != 0 && pv->device_name)
                                r = reading_add(&reading, pv->device, pv->device_name);
        r = r ?: readers_start(worker->readers, READER_PROBE, &reading);
        return r < 0 ? log_error_errno(r, "Failed to probe %s waits for: %m",
                               job->kind == JOB_RECORD ? "devices that pvscan" : "PVs that vgchange")
                     : 0;
}

int vg_report_lost(struct worker *worker)
{
        struct inventory *inventory = worker->inventory;
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        int r;

        if (!inventory->lost_pvs)
                return 0;
        inventory->lost_pvs = false;
        /* Without the list, report only the PV, and take no VG for removed. */
        if (dm_devices_get(&devices) < 0)
                devices = NULL;
        FOREACH_LISTED(struct vg_entry, group, &inventory->groups[VG_STATUS_WAITING]) {
                bool lost = group->lost_pv, may_be_gone = group->may_be_gone;
                struct vg_counts n;

                group->lost_pv = group->may_be_gone = false;
                /* The disk may be back, or another one with the same PV. */
                if ((!lost && !may_be_gone) || !vg_is_incomplete(group->vg))
                        continue;
                if (devices)
                        dm_devices_mark_active(devices, group->vg);
                n = vg_count(group->vg);
                /* vgremove may have run, and the last disk been removed before its metadata was read. */
                r = may_be_gone && devices && n.seen == 0 && !n.any_active
                            ? backup_tells_removal(
                                      worker->config.backup_dir, worker->config.archive_dir, group->vg)
                            : 0;
                if (r < 0)
                        return log_oom();
                if (r > 0) {
                        group->left = true;
                        inventory_recheck(inventory, group);
                        worker_ask_step(worker);
                } else if (lost)
                        report_vg(group, VG_SAY_LOST);
        }
        return 0;
}
