/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Explains a VG or an LV of it: the causes of its state, facts, and the answer. */

#include <inttypes.h>

#include "boot/switches.h"
#include "view/disk-times.h"
#include "why/why.h"

/* There are disks of it, and the worker has not been told of any. */
static bool is_unseen(const struct why *why)
{
        return why->sources->in_charge && why->view->source == VG_VIEW_OF_DISK &&
               why->vg->state != VG_STATUS_ACTIVE;
}

/* Where the VG is, in one word: that of headgate status, or "unseen". */
static const char *describe_place(const struct why *why)
{
        if (is_unseen(why))
                return "unseen";
        if (why->vg->state == VG_STATUS_UNKNOWN && !why->sources->in_charge)
                return "inactive";
        return vg_status_to_string(why->vg->state);
}

/* ------ causes ------ */

/* `what` and a reason, which is a sentence, without its full stop. */
static void cause_with_reason(struct why *why, const char *condition, const char *what, const char *reason)
{
        size_t length = strcspn(reason, "\n");

        if (length > 0 && reason[length - 1] == '.')
                length--;
        why_cause(why, condition, "%s%.*s", what, (int) length, reason);
}

/* What lvm2 said when it did not record a PV is part of the worker's reason. */
static void cause_of_reason(struct why *why)
{
        const struct vg *vg = why->vg;
        size_t n_stranded = vg_count(vg).stranded;

        if (vg->state == VG_STATUS_FAILED && n_stranded > 0) {
                why_cause(why, "stranded", "%zu of its LVs %s still on a disk that has gone", n_stranded,
                        n_stranded == 1 ? "is" : "are");
        } else if (vg->state == VG_STATUS_FAILED) {
                cause_with_reason(why, "failed", "lvm2 was asked, and said: ", vg->reason ?: "it gave no reason");
                if (vg->reason && skip_prefix(vg->reason, "pvscan "))
                        causes_of_refusal(why, "", vg->reason);
                advise_on_flags(why);
                why_advise(why, "When that is mended, have it tried again: \"headgate activate %s\".", vg->name);
        } else if (vg->state == VG_STATUS_SKIPPED && vg->reason &&
                   skip_prefix(vg->reason, "lvm2 does not accept")) {
                FOREACH_PV(pv, vg)
                        if (pv->device_name && strstr(vg->reason, pv->device_name))
                                causes_of_refusal(why, pv->pvid, vg->reason);
                cause_with_reason(why, "refused", "", vg->reason);
                why_advise(why, "When that is mended, have the device looked at again: \"udevadm trigger "
                                "--action=add DEVICE\".");
        } else if (vg->state == VG_STATUS_SKIPPED && vg->reason && why->n_causes == 0) {
                cause_with_reason(why, "not-wanted", "", vg->reason);
        }
}

/* What keeps udev's rule from telling the worker of the disk keeps lvm2 from it, too. */
static void cause_of_unseen(struct why *why)
{
        const char *path = why->view->metadata_device ?: "?";
        _cleanup_device_facts_ struct device_facts facts = {};
        _cleanup_why_ struct why own = {.sources = why->sources, .device = &facts};
        int r = device_facts_read(why->sources, path, why->view->metadata_number, &facts);

        if (r < 0) {
                why_fail(why, r);
                return;
        }
        causes_of_device(&own);
        if (own.n_causes > 0)
                why_cause(why, "unseen", "lvm2 leaves its PV %s alone: %s", path, why_first_cause(&own));
        else
                why_cause(why, "unseen", "headgate was not told of its PV %s", path);
        why_take_over(why, &own);
        explain_udev(why, &facts);
        why_advise(why, "Ask for the device: \"headgate why %s\".", path);
}

/* All PVs are there, or enough of them were. */
static void causes_of_inactivity(struct why *why)
{
        const struct vg *vg = why->vg;
        bool incomplete = vg_is_incomplete(vg);

        if (vg->state == VG_STATUS_UNKNOWN && !incomplete && !is_unseen(why)) {
                why_remedy(why, "inactive", "its LVs are not active, though all of its PVs are there",
                        "Activate it by hand: \"vgchange -aay %s\".", vg->name);
        } else if (vg->state == VG_STATUS_DEACTIVATED) {
                why_remedy(why, "deactivated", "somebody has deactivated LVs of it since it was active",
                        "Activate it again: \"headgate activate %s\".", vg->name);
                if (incomplete)
                        explain_missing_pvs(why);
        }
}

static void causes_of_absence(struct why *why)
{
        enum vg_status state = why->vg->state;

        if (state == VG_STATUS_DEGRADED)
                explain_degraded(why);
        else if (state == VG_STATUS_WAITING ||
                 ((state == VG_STATUS_ABSENT || state == VG_STATUS_UNKNOWN) && vg_is_incomplete(why->vg)))
                explain_missing_pvs(why);
}

/* The others are settled without them. */
static void cause_of_queue(struct why *why)
{
        const struct vg *vg = why->vg;

        if (vg->state == VG_STATUS_ACTIVATING)
                why_cause(why, "activating", "lvm2 is at work on it just now");
        else if (vg->state != VG_STATUS_COMPLETE)
                return;
        else if (vg->reason && skip_prefix(vg->reason, "lvm2 waits for")) {
                cause_with_reason(why, "silent", "", vg->reason);
                why_advise(why, "The kernel's log may tell what is wrong with the disk; once it answers, the VG "
                                "is activated.");
        } else if (vg_is_incomplete(vg)) {
                why_cause(why, "queued", "it is queued, to be activated degraded");
                why_condition(why, "missing-pv");
        } else
                why_cause(why, "queued", "it waits for its turn, with all of its PVs there");
        why_advise(why, "Wait for it: \"headgate wait %s\".", vg->name);
}

static void find_causes(struct why *why)
{
        causes_of_metadata(why);
        causes_of_absence(why);
        if (is_unseen(why))
                cause_of_unseen(why);
        causes_of_inactivity(why);
        causes_of_config(why);
        cause_of_reason(why);
        cause_of_queue(why);
}

/* ------ facts ------ */

static void explain_headgate(struct why *why)
{
        const char *off = NULL;

        if (why->sources->in_charge)
                return;
        why_fail(why, switches_describe_headgate_off(why->sources->root_fd, &off));
        why_state(why, "headgate-off", "headgate is not in charge, lvm2's own udev rule is.%s%s", off ? " " : "",
                off ?: "");
        if (why->verdict != VERDICT_UP)
                why_advise(why, "What lvm2 said of its disks is in the journal: \"journalctl -b --grep pvscan\".");
}

/* Those that are not active; of a VG without any that is, those that are on removed disks. */
static void explain_lvs(struct why *why)
{
        bool has_active = why->vg->state == VG_STATUS_ACTIVE || vg_count(why->vg).any_active;
        size_t n_inactive = 0;

        FOREACH_LV(lv, why->vg) {
                if (lv->active || (!has_active && !lv->stranded) || ++n_inactive > TOLD_MAX)
                        continue;
                /* The VG's have been told. */
                why_forget_causes(why);
                causes_of_lv(why, lv);
                why_fact(why, "LV %s is not active: %s.", lv->name, why_first_cause(why));
        }
        if (n_inactive > TOLD_MAX)
                why_fact(why, "%zu more LVs are not active.", n_inactive - TOLD_MAX);
}

/* Adds the bars of all VGs that lvm2 was asked for at the same time, since they had to wait for each other. */
static int add_batch(struct why *why, uint64_t asked_usec, struct timeline *timeline)
{
        struct path asked = path_format("%" PRIu64, asked_usec);
        int r = 0;

        FOREACH_RECORD(entry, why->sources->records) {
                _cleanup_vg_ struct vg *vg = NULL;

                /* To parse all takes long. */
                if (!strstr(entry->text, asked.text) || !lvm_id_is_valid(entry->key))
                        continue;
                r = vg_parse(entry->text, &vg);
                if (r >= 0 && vg_first_times(vg).activating_usec == asked_usec)
                        r = timeline_add_vg(timeline, vg);
                if (r == -ENOMEM)
                        return r;
        }
        timeline_finish_boot(timeline);
        return 0;
}

#define KNOWN_TO_STRING(usec) ((usec) > 0 ? DURATION_TO_STRING(usec) : "an unknown time")

/* The time before headgate saw the last PV. */
static void explain_origin(struct why *why, struct timeline_bar *bar)
{
        struct milestones milestones = milestones_read(why->sources->root_fd);
        const struct vg_pv *last = timeline_bar_add_origin(bar, why->vg, &milestones);

        if (last && (bar->driver_usec > 0 || bar->disk_udev_usec > 0 || bar->initrd_usec > 0))
                why_fact(why,
                        "The kernel had its last PV, %s, %s after its own start; udev took %s for it; the initrd took %s.",
                        last->device_name ?: "?", KNOWN_TO_STRING(bar->driver_usec),
                        KNOWN_TO_STRING(bar->disk_udev_usec), KNOWN_TO_STRING(bar->initrd_usec));
}

/* As headgate blame has them. */
static void explain_phases(struct why *why, uint64_t asked_usec)
{
        const char *uuid = LVM_ID_TO_STRING(why->vg->vgid);
        _cleanup_timeline_ struct timeline timeline = {};

        why_fail(why, add_batch(why, asked_usec, &timeline));
        FOREACH_ARRAY(bar, timeline.bars, timeline.n) {
                const uint64_t *phases = bar->phases_usec;

                if (!streq(bar->uuid, uuid))
                        continue;
                explain_origin(why, bar);
                why_fact(why,
                        "From the first to the last of %zu PV%s it took %s, then %s in the queue, %s at lvm2%s%s%s.",
                        why->vg->n_pvs, plural(why->vg->n_pvs), DURATION_TO_STRING(phases[TIMELINE_PVS]),
                        DURATION_TO_STRING(phases[TIMELINE_QUEUE]), DURATION_TO_STRING(phases[TIMELINE_LVM2]),
                        bar->linked_usec ? ", " : " and udev",
                        bar->linked_usec ? DURATION_TO_STRING(phases[TIMELINE_UDEV]) : "",
                        bar->linked_usec ? " at udev" : "");
        }
}

static void explain_times(struct why *why)
{
        const struct vg *vg = why->vg;
        const char *unmet = plan_find_unmet(&why->sources->entries, vg->name);
        struct vg_times first = vg_first_times(vg);
        _cleanup_free_ char *program = vg_describe_program(vg);
        const char *activator = vg->settled_usec == 0 ? "by hand" : vg_describe_activator(vg);

        if (why->view->source != VG_VIEW_OF_WORKER || vg->state != VG_STATUS_ACTIVE)
                return;
        if (unmet)
                why_fact(why, "%s", unmet);
        if (vg->settled_usec != 0)
                why_fact(why, "It is active since %s.", TIME_TO_STRING(vg, vg->settled_usec));
        if (first.settled_usec != vg->settled_usec)
                why_fact(why, "Its first activation ended at %s.", TIME_TO_STRING(vg, first.settled_usec));
        if (activator)
                why_fact(why, "It was activated %s%s%s", activator, vg->skip_reason ? "; " : ".",
                        vg->skip_reason ?: "");
        if (first.activating_usec != 0 && !vg_describe_activator(vg))
                explain_phases(why, first.activating_usec);
        if (program)
                why_fact(why, "%s", program);
}

static void explain_same_name(struct why *why)
{
        if (why->view->n_same_name == 0)
                return;
        why_state(why, "duplicate-name",
                "There %s %zu more VG%s of this name; this is about the one with UUID %s.",
                why->view->n_same_name == 1 ? "is" : "are", why->view->n_same_name, plural(why->view->n_same_name),
                LVM_ID_TO_STRING(why->vg->vgid));
        why_advise(why, "Give one of them another name: \"vgrename UUID NAME\".");
}

/* Without the answer: the causes, all other facts of the VG that matter, and what to do. */
static void explain_facts(struct why *why)
{
        if (why->vg->state != VG_STATUS_ACTIVE)
                find_causes(why);
        if (why->view->unreadable)
                explain_unreadable(why, why->view->unreadable->device_name, why->view->read_error);
        explain_headgate(why);
        explain_times(why);
        explain_queue(why);
        explain_same_name(why);
        FOREACH_PV(pv, why->vg)
                if (pv->device != 0) {
                        explain_duplicates(why, pv->pvid, pv->device, pv->device_name ?: "?");
                        explain_read_only(why, pv->device_name ?: "?", pv->device);
                }
}

/* ------ the answer ------ */

static void answer(struct why *why)
{
        const struct vg *vg = why->vg;
        const char *state = describe_place(why);
        struct vg_counts n = vg_count(vg);

        if (vg->state == VG_STATUS_DEGRADED)
                why_answer(why, VERDICT_DOWN, state, "VG %s is degraded, with %zu of its %zu LVs active: %s.",
                        vg->name, n.active, n.autoactivated, why_first_cause(why));
        else if (vg->state == VG_STATUS_WAITING && n.all_active)
                why_answer(
                        why, VERDICT_DOWN, state, "VG %s is active, though %s.", vg->name, why_first_cause(why));
        else if (vg->state != VG_STATUS_ACTIVE)
                why_answer(why, VERDICT_DOWN, state, "VG %s is not active%s: %s.", vg->name,
                        n.any_active ? " as a whole" : "", why_first_cause(why));
        else if (n.autoactivated == 0)
                why_answer(why, VERDICT_UP, state, "VG %s is up, but it has no LVs with autoactivation enabled.",
                        vg->name);
        else if (n.active < n.autoactivated)
                why_answer(why, VERDICT_UP, state, "VG %s is active, though only %zu of its %zu LVs are.",
                        vg->name, n.active, n.autoactivated);
        else
                why_answer(why, VERDICT_UP, state, "VG %s is active: %zu of %zu LV%s.", vg->name, n.active,
                        n.autoactivated, plural(n.autoactivated));
}

static void explain_suspended(struct why *why, const struct vg_lv *lv)
{
        if (!lv->suspended)
                return;
        why_state(why, "suspended", "LV %s is suspended, so that I/O to it waits.", lv->name);
        why_advise(why, "If no command of lvm2 is at work: \"lvchange --refresh %s/%s\", or \"dmsetup resume\".",
                why->vg->name, lv->name);
}

void vg_explain(struct why *why, const struct vg_view *view)
{
        why->view = view;
        why->vg = view->vg;
        /* What there is to say depends on it. */
        why->verdict = why->vg->state == VG_STATUS_ACTIVE ? VERDICT_UP : VERDICT_DOWN;
        explain_facts(why);
        answer(why);
        why_add_other_causes(why);
        explain_lvs(why);
        FOREACH_LV(lv, why->vg)
                explain_suspended(why, lv);
        if (vg_count(why->vg).any_active)
                explain_holders_of_lvs(why, NULL);
}

/* ------ LVs ------ */

/* Of its own causes and its VG's, its own would be there also if the VG were active. */
static void explain_inactive_lv(struct why *why, const struct vg_lv *lv)
{
        const struct vg *vg = why->vg;
        bool is_up = vg->state == VG_STATUS_ACTIVE || vg->state == VG_STATUS_DEGRADED ||
                     vg->state == VG_STATUS_DEACTIVATED;

        /* What there is to say depends on it. */
        why->verdict = VERDICT_DOWN;
        if (is_up || !lv->autoactivated || lv->stranded)
                causes_of_lv(why, lv);
        if (why->n_causes > 0) {
                why_answer(why, VERDICT_DOWN, "inactive", "LV %s/%s is not active: %s.", vg->name, lv->name,
                        why_first_cause(why));
                why_add_other_causes(why);
                why_forget_causes(why);
        }
        why_fact(why, "Its VG is %s.", describe_place(why));
        if (vg->state == VG_STATUS_ACTIVE)
                return;

        explain_facts(why);
        if (why->answer)
                why_fact(why, "The VG is not active as a whole: %s.", why_first_cause(why));
        else
                why_answer(why, VERDICT_DOWN, "inactive", "LV %s/%s is not active, as its VG is not: %s.",
                        vg->name, lv->name, why_first_cause(why));
        why_add_other_causes(why);
}

bool logical_volume_explain(struct why *why, const struct vg_view *view, const char *name)
{
        const struct vg_lv *lv = vg_find_lv(view->vg, name);

        why->view = view;
        why->vg = view->vg;
        if (lv && lv->active) {
                why_answer(why, VERDICT_UP, "active", "LV %s/%s is active.", why->vg->name, lv->name);
                why_fact(why, "Its VG is %s.", describe_place(why));
                explain_suspended(why, lv);
                explain_holders_of_lvs(why, lv->lvid);
        } else if (lv) {
                explain_inactive_lv(why, lv);
        }
        return lv;
}
