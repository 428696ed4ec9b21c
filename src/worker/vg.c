/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What happens to a VG: its facts, what vg_next() makes of them, and how that is carried out. */

#include "worker/vg.h"

#include "fast-rules/dm-names.h"
#include "inventory/names.h"
#include "lvm/active.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/report.h"

/* ------ facts ------ */

static bool is_end(enum vg_event event)
{
        return event >= VG_ENDED_UNKNOWN && event <= VG_ENDED_OVERLOOKED;
}

static bool is_reread(enum vg_event event)
{
        return event == VG_REREAD || event == VG_REREAD_LEFT;
}

/* What the facts are about, as sentences. */
struct words {
        char *obstacle;
        char *raids;
};

static void words_done(struct words *words)
{
        free(words->obstacle);
        free(words->raids);
}

/* lvm2 has decided on each PV when it recorded it; a degraded activation does not look at its records. Returns the first PV
 * that it did not accept, or NULL. */
static const struct volume_group_pv *find_unrecorded(const struct worker *worker, const struct volume_group *vg)
{
        for (size_t i = 0; i < vg->n_pvs; i++) {
                const struct volume_group_pv *pv = &vg->pvs[i];

                if (pv->device != 0 && online_find_pv(worker->lvm_run_fd, pv->pvid) != pv->device)
                        return pv;
        }
        return NULL;
}

/* Whether a worker that has left no records was done with the VG: lvm2 knows all PVs, none has come just now or has an
 * unfinished request, and lvm2 counts the VG as active or the boot is over. It may have been deactivated since, and must not
 * be activated then. */
static bool was_done_with(const struct worker *worker, const struct managed_group *group)
{
        const struct volume_group *vg = group->vg;

        if (!worker->inventory->records_lost || group->fresh || group->has_entry)
                return false;
        for (size_t i = 0; i < vg->n_pvs; i++) {
                const struct device *device = inventory_find_device(worker->inventory, vg->pvs[i].device);

                if (device && (device->has_entry || device->appeared))
                        return false;
        }
        return online_is_claimed(worker->lvm_run_fd, vg->name) > 0 ||
               flags_is_set(worker->run_fd, FLAGS_BOOT_FINISHED) > 0;
}

/* Takes over the sentence. */
static int obstruct(enum vg_obstacle obstacle, char *words, char **ret)
{
        *ret = words;
        return words ? (int) obstacle : log_oom();
}

/* Returns a vg_obstacle, with its sentence in `*ret`, or a negative errno. */
static int find_obstacle(
        const struct worker *worker, const struct managed_group *group, enum vg_event event, char **ret)
{
        const struct volume_group *vg = group->vg;
        const struct volume_group_pv *unrecorded;
        char vgid[LVM_ID_FORMATTED_SIZE];
        int r;

        if (vg->skip_reason)
                return obstruct(VG_OBSTACLE_METADATA, strdup(vg->skip_reason), ret);
        if (is_reread(event))
                return VG_OBSTACLE_NONE;
        if (!worker->event_activation)
                return obstruct(VG_OBSTACLE_CONFIGURATION, strdup("event_activation=0 in lvm.conf."), ret);
        if (group->refusal)
                return obstruct(VG_OBSTACLE_PV, strdup(group->refusal), ret);
        if (vg_state_is_due(group->state)) {
                unrecorded = find_unrecorded(worker, vg);
                if (unrecorded)
                        return obstruct(VG_OBSTACLE_PV,
                                string_format("lvm2 does not accept its PV %s.", unrecorded->device_name ?: "?"),
                                ret);
                /* Asked by name, lvm2 would activate LVs of both. */
                return names_is_shared(worker->inventory, group, USEC_INFINITY)
                               ? obstruct(VG_OBSTACLE_NAME, strdup("there is another VG of this name."), ret)
                               : VG_OBSTACLE_NONE;
        }
        if (was_done_with(worker, group))
                return obstruct(VG_OBSTACLE_EARLIER,
                        string_format("an earlier worker left no record of it, and it may have been deactivated "
                                      "since (headgate activate %s).",
                                vg->name),
                        ret);
        r = names_is_taken(worker->inventory, group);
        if (r <= 0)
                return r < 0 ? r : VG_OBSTACLE_NONE;
        lvm_id_format(vg->vgid, vgid);
        return obstruct(VG_OBSTACLE_NAME,
                string_format("another VG of this name was complete before (vgrename %s NEW-NAME).", vgid), ret);
}

/* Whether its metadata may have been changed since it was read: `lvcreate` may have been followed by the request at once. */
static bool may_have_changed(const struct worker *worker, const struct managed_group *group)
{
        const struct volume_group *vg = group->vg;

        if (group->needs_recheck || !uevents_queue_is_empty(worker->uevents))
                return true;
        for (size_t i = 0; i < vg->n_pvs; i++) {
                const struct device *device = inventory_find_device(worker->inventory, vg->pvs[i].device);

                if (device && (device->stage < DEVICE_SETTLING || device->again || device->reread))
                        return true;
        }
        return false;
}

static bool asks_anyway(const struct worker *worker, const struct managed_group *group, enum vg_event event)
{
        const char *name = group->vg->name;

        switch (event) {
        case VG_PV_ANNOUNCED:
                return vg_state_is_settled(group->state) && online_is_claimed(worker->lvm_run_fd, name) == 0;
        case VG_REQUESTED:
                return worker->imports_devices || may_have_changed(worker, group) ||
                       online_is_claimed(worker->lvm_run_fd, name) <= 0;
        case VG_TURN:
                /* Somebody who asks for it may have changed it before: may_have_changed() knows better. */
                return worker->imports_devices || group->has_entry;
        default:
                return false;
        }
}

/* An LV that was there once and is not now was deactivated, which its state shows by what was seen of it. Returns
 * how many there are now. */
static size_t mark_new_lvs(const struct active_devices *devices, struct volume_group *vg)
{
        _cleanup_free_ bool *before = calloc(vg->n_lvs + 1, sizeof(*before));
        size_t n_active;

        for (size_t i = 0; before && i < vg->n_lvs; i++)
                before[i] = vg->lvs[i].active;
        active_devices_mark(devices, vg);
        n_active = volume_group_count_active(vg);
        for (size_t i = 0; before && i < vg->n_lvs; i++)
                vg->lvs[i].active |= before[i];
        return n_active;
}

static enum vg_lvs count_lvs(struct volume_group *vg, const struct vg_news *news)
{
        size_t n_wanted = volume_group_count_autoactivated(vg), n_active;

        if (news->devices && is_reread(news->event))
                n_active = mark_new_lvs(news->devices, vg);
        else {
                if (news->devices)
                        active_devices_mark(news->devices, vg);
                n_active = volume_group_count_active(vg);
        }
        if (n_wanted == 0)
                return VG_LVS_UNWANTED;
        return n_active == 0 ? VG_LVS_NONE : n_active < n_wanted ? VG_LVS_SOME : VG_LVS_ALL;
}

static enum vg_pvs count_pvs(const struct volume_group *vg)
{
        size_t n_seen = volume_group_count_seen(vg);

        return n_seen == vg->n_pvs ? VG_PVS_ALL : n_seen == 0 ? VG_PVS_NONE : VG_PVS_SOME;
}

static int gather(struct worker *worker, struct managed_group *group, const struct vg_news *news,
        struct vg_facts *ret, struct words *words)
{
        struct volume_group *vg = group->vg;
        enum vg_lvs lvs = count_lvs(vg, news);
        int r;

        /* udev may announce only later that a disk was removed on which lvm2 has found nothing any more. */
        if (is_end(news->event) && (lvs == VG_LVS_NONE || lvs == VG_LVS_SOME))
                inventory_lose_absent_pvs(worker->inventory, group);
        *ret = (struct vg_facts){
                .lvs = lvs,
                .pvs = count_pvs(vg),
                .permitted = worker->event_activation && settings_allow_degraded(&worker->settings, vg->name),
                .ask_anyway = asks_anyway(worker, group, news->event),
                .pv_changed = group->pv_changed,
                .on_removed = volume_group_count_stranded(vg) > 0,
                .has_reason = vg->reason,
        };
        if (is_reread(news->event) || news->event == VG_TURN) {
                r = find_obstacle(worker, group, news->event, &words->obstacle);
                if (r < 0)
                        return r;
                ret->obstacle = r;
        }
        /* Only a VG that was activated degraded has RAIDs that may do without a PV that is there. */
        if (vg->degraded_usec != 0 && !vg_state_is_due(group->state) && group->state != VG_ACTIVATING_DEGRADED &&
                (news->event == VG_TURN || is_end(news->event))) {
                r = raid_describe_refresh(vg, &words->raids);
                if (r == -ENOMEM)
                        return log_oom();
                if (r < 0)
                        log_debug("Failed to ask for the RAIDs of VG %s: %s", vg->name, strerror(-r));
                ret->raids_degraded = r != 0;
        }
        return 0;
}

/* ------ consequences ------ */

/* Returns "" if there is none. */
static char *describe_reason(const struct volume_group *vg, enum vg_reason reason, const struct vg_news *news,
        const struct words *words)
{
        size_t n_stranded = volume_group_count_stranded(vg);
        const char *name = vg->name;

        switch (reason) {
        case VG_REASON_OBSTACLE:
                return strdup(words->obstacle);
        case VG_REASON_ON_REMOVED:
                return string_format("%zu LV%s still on a disk that has gone (headgate deactivate %s, headgate "
                                     "activate %s; if in use, vgchange --refresh %s).",
                        n_stranded, n_stranded == 1 ? " is" : "s are", name, name, name);
        case VG_REASON_PV_REMOVED:
                return strdup("a PV has gone while lvm2 was at work.");
        case VG_REASON_UNWANTED:
                return strdup(volume_group_count_active(vg) > 0
                                      ? "the others are not wanted by lvm2's configuration."
                                      : "no LV of it is wanted by lvm2's configuration.");
        case VG_REASON_RAIDS:
                return string_format(
                        "RAIDs go without a PV that came late (%s).", words->raids ?: "see lvmraid(7)");
        case VG_REASON_CHANGED:
                return strdup("lvm2 does not activate by itself what is made or changed while the machine runs.");
        case VG_REASON_NONE:
                return strdup("");
        default:
                return strdup(news->words ?: "");
        }
}

static int set_reason(
        struct volume_group *vg, enum vg_reason reason, const struct vg_news *news, const struct words *words)
{
        _cleanup_free_ char *text = NULL;

        if (reason == VG_REASON_KEEP)
                return 0;
        text = describe_reason(vg, reason, news, words);
        if (!text)
                return log_oom();
        free(vg->reason);
        vg->reason = text[0] != '\0' ? TAKE_PTR(text) : NULL;
        return 0;
}

/* The state is final for now. */
static void note_settled(struct worker *worker, struct managed_group *group, enum vg_report report)
{
        struct volume_group *vg = group->vg;

        vg->settled_usec = now_usec();
        vg->lost_pv &= volume_group_count_stranded(vg) > 0;
        if (report == VG_SAY_ACTIVE || report == VG_SAY_DEGRADED)
                vg->first = volume_group_first_times(vg);
        dm_names_remove(worker->run_fd, vg);
        if (!worker->proved && flags_clear(worker->run_fd, FLAGS_FAILURES) >= 0)
                worker->proved = true;
}

/* All PVs are there, or somebody asks for the VG by name. */
static void note_complete(struct worker *worker, struct managed_group *group)
{
        struct volume_group *vg = group->vg;
        struct expectation *expectation = expectations_find(&worker->expectations, vg->name);

        /* Whatever its backup says of PVs that are to appear. */
        if (expectation)
                expectation->state = EXPECTATION_TAKEN;
        vg->complete_usec = now_usec();
        /* Another time: it did not take from then till now. */
        if (vg->settled_usec > vg->first_seen_usec)
                vg->first_seen_usec = vg->complete_usec;
}

/* What a degraded activation leaves behind is known by `degraded_usec`, until the VG is whole again. */
static void note_degraded(
        struct volume_group *vg, enum vg_state former, enum vg_event event, const struct vg_step *step)
{
        bool unasked = former == VG_DUE && step->state == VG_COMPLETE && vg->activating_usec < vg->degraded_usec;
        bool whole = unasked || (step->report == VG_SAY_ACTIVE && !is_reread(event));

        if (step->state == VG_DUE || step->state == VG_DEGRADED_DUE) {
                if (vg->degraded_usec == 0)
                        vg->degraded_usec = now_usec();
                vg->complete_usec = 0;
        }
        if (whole)
                vg->degraded_usec = 0;
        for (size_t i = 0; whole && i < vg->n_pvs; i++)
                vg->pvs[i].late_usec = 0;
}

static bool is_settling(enum vg_report report)
{
        return report == VG_SAY_ACTIVE || report == VG_SAY_DEGRADED || report == VG_SAY_SKIPPED ||
               report == VG_SAY_FAILED;
}

static void say(const struct managed_group *group, enum vg_report report, const struct vg_news *news,
        const struct words *words)
{
        const struct volume_group *vg = group->vg;

        switch (report) {
        /* Said at the end of the step. */
        case VG_SAY_NOTHING:
        case VG_SAY_LOST:
                break;
        case VG_SAY_LATE:
                report_late(vg, news->pv);
                break;
        case VG_SAY_HINDERED:
                log_notice(
                        "VG %s is not activated without the PVs that are missing: %s", vg->name, words->obstacle);
                break;
        default:
                /* One that was just made has no LVs. */
                if (vg->n_lvs > 0 || !is_reread(news->event))
                        report_vg(group, report);
        }
}

static int carry_out(struct worker *worker, struct managed_group *group, const struct vg_step *step,
        const struct vg_news *news, const struct words *words)
{
        struct volume_group *vg = group->vg;
        enum vg_state former = group->state;
        int r;

        r = set_reason(vg, step->reason, news, words);
        if (r < 0)
                return r;
        /* Somebody may have mended it before lvm2 is asked next time. */
        if (step->reason == VG_REASON_OBSTACLE && news->event == VG_TURN)
                managed_group_forget_refusal(group, group->refused);
        if (step->action == VG_DO_CLAIM) {
                r = online_claim(worker->lvm_run_fd, vg->name);
                if (r < 0)
                        return log_error_errno(r, "Failed to claim VG %s: %m", vg->name);
        }
        if (step->action == VG_DO_RECHECK)
                inventory_recheck(worker->inventory, group);
        if (step->report == VG_SAY_LATE)
                news->pv->late_usec = now_usec();
        if (step->report == VG_SAY_COMPLETE)
                note_complete(worker, group);
        if (is_settling(step->report) && is_reread(news->event))
                vg->complete_usec = vg->settled_usec = now_usec();
        note_degraded(vg, former, news->event, step);

        if (step->state != former || step->deadline || step->report == VG_SAY_LOST)
                inventory_enter(worker->inventory, group, step);
        else if (step->reason != VG_REASON_KEEP || step->report == VG_SAY_LATE ||
                 (news->devices && step->action != VG_DO_RECHECK))
                inventory_note_change(worker->inventory, group);
        if (is_settling(step->report) && !is_reread(news->event))
                note_settled(worker, group, step->report);
        if (step->state != former && !vg_state_is_settled(step->state))
                worker_ask_step(worker);
        say(group, step->report, news, words);
        return 0;
}

int vg_take(struct worker *worker, struct managed_group *group, const struct vg_news *news)
{
        _cleanup_(words_done) struct words words = {};
        struct vg_facts facts;
        struct vg_step step;
        int r;

        r = gather(worker, group, news, &facts, &words);
        if (r < 0)
                return r;
        step = vg_next(group->state, news->event, &facts);
        if (step.action != VG_DO_NOTHING && step.action != VG_DO_CLAIM && step.action != VG_DO_RECHECK)
                return step.action;
        return carry_out(worker, group, &step, news, &words);
}

void vg_report_lost(struct worker *worker)
{
        struct inventory *inventory = worker->inventory;
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        struct managed_group *group;

        if (!inventory->lost_pvs)
                return;
        inventory->lost_pvs = false;
        /* Without the list it is said without what it tells. */
        if (active_devices_get(&devices) < 0)
                devices = NULL;
        dm_list_iterate_items(group, &inventory->groups[VOLUME_GROUP_WAITING]) {
                bool lost = group->lost_pv;

                group->lost_pv = false;
                /* The same disk may be back meanwhile, or another one with its copy. */
                if (!lost || !volume_group_is_incomplete(group->vg))
                        continue;
                if (devices)
                        active_devices_mark(devices, group->vg);
                report_vg(group, VG_SAY_LOST);
        }
}

char *vg_format_unresponsive(const char *device)
{
        return string_format("lvm2 waits for unresponsive device %s.", device);
}
