/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Explains a VG, or one of its LVs: causes, facts and the answer. */

#include <inttypes.h>

#include "boot/switches.h"
#include "view/disk-times.h"
#include "why/why.h"

/* Disks of the VG exist, but udev has not announced any to the worker. */
static bool is_unseen(const struct why *why)
{
        return why->sources->in_charge && why->view->unseen && why->vg->status != VG_STATUS_ACTIVE;
}

/* The state of the VG in one word, as in headgate status, or "unseen". */
static const char *describe_place(const struct why *why)
{
        if (is_unseen(why))
                return "unseen";
        if (why->vg->status == VG_STATUS_UNKNOWN && !why->sources->in_charge && why->vg->n_pvs > 0)
                return "inactive";
        return vg_status_to_string(why->vg->status);
}

/* ------ causes ------ */

/* Adds a cause: `what`, followed by a reason without its full stop. */
static void cause_with_reason(struct why *why, const char *condition, const char *what, const char *reason)
{
        size_t length = strcspn(reason, "\n");

        if (length > 0 && reason[length - 1] == '.')
                length--;
        why_cause(why, condition, "%s%.*s", what, (int) length, reason);
}

/* The worker's reason contains lvm2's message about a rejected PV. */
static void cause_of_reason(struct why *why)
{
        const struct vg *vg = why->vg;
        size_t n_stranded = vg_count(vg).stranded;

        if (vg->status == VG_STATUS_FAILED && n_stranded > 0) {
                why_cause(why, "stranded", "%zu of its LVs %s a removed disk", n_stranded,
                        n_stranded == 1 ? "maps" : "map");
        } else if (vg->status == VG_STATUS_FAILED) {
                cause_with_reason(why, "failed", "lvm2 reported: ", vg->reason ?: "no reason");
                if (vg->reason && skip_prefix(vg->reason, "pvscan "))
                        causes_of_refusal(why, "", vg->reason);
                advise_on_flags(why);
                why_advise(why, "Fix this, then retry: \"headgate activate %s\".", vg->name);
        } else if (vg->status == VG_STATUS_SKIPPED && vg->reason &&
                   skip_prefix(vg->reason, "lvm2 does not accept")) {
                FOREACH_PV(pv, vg)
                        if (pv->device_name && strstr(vg->reason, pv->device_name))
                                causes_of_refusal(why, pv->pvid, vg->reason);
                cause_with_reason(why, "refused", "", vg->reason);
                why_advise(why, "Fix this, then retry: \"udevadm trigger --action=add DEVICE\".");
        } else if (vg->status == VG_STATUS_SKIPPED && vg->reason && why->n_causes == 0) {
                cause_with_reason(why, "not-wanted", "", vg->reason);
                if (skip_prefix(vg->reason, "the VG"))
                        why_advise(why, "If that no longer holds, retry: \"headgate activate %s\".", vg->name);
                if (why->sources->config.host_tags)
                        why_advise(why, "See its tags, and tags in lvm.conf(5): \"lvs -o +vg_tags,lv_tags %s\".",
                                vg->name);
        }
}

/* A cause that prevents lvm2 from using the disk also prevents udev's rule from announcing it. */
static void cause_of_unseen(struct why *why)
{
        const char *path = why->view->unseen->device_name ?: "?";
        _cleanup_device_facts_ struct device_facts facts = {};
        _cleanup_why_ struct why own = {.sources = why->sources, .device = &facts};
        int r = device_facts_read(why->sources, path, why->view->unseen->device, &facts);

        if (r < 0) {
                why_fail(why, r);
                return;
        }
        causes_of_device(&own);
        if (own.n_causes > 0)
                why_cause(why, "unseen", "lvm2 ignores its PV %s: %s", path, why_first_cause(&own));
        else
                why_cause(why, "unseen", "udev has not announced its PV %s to headgate", path);
        why_merge(why, &own);
        explain_udev(why, &facts);
        why_advise(why, "See \"headgate why %s\".", path);
}

/* Causes of a VG whose PVs are there, or were missing at its deadline. */
static void causes_of_inactivity(struct why *why)
{
        const struct vg *vg = why->vg;
        bool incomplete = vg_is_incomplete(vg);

        if (vg->status == VG_STATUS_UNKNOWN && !incomplete && !is_unseen(why)) {
                why_remedy(why, "inactive", "its LVs are not active, but all of its PVs are there",
                        "Activate it by hand: \"vgchange -aay %s\".", vg->name);
        } else if (vg->status == VG_STATUS_DEACTIVATED) {
                why_remedy(why, "deactivated", "LVs were deactivated after it was active",
                        "Activate it again: \"headgate activate %s\".", vg->name);
                if (incomplete)
                        explain_missing_pvs(why);
        }
}

static void causes_of_absence(struct why *why)
{
        enum vg_status state = why->vg->status;

        if (state == VG_STATUS_DEGRADED)
                explain_degraded(why);
        else if (state == VG_STATUS_WAITING ||
                 ((state == VG_STATUS_ABSENT || state == VG_STATUS_UNKNOWN) && vg_is_incomplete(why->vg)))
                explain_missing_pvs(why);
}

/* VGs in other states are not queued. */
static void cause_of_queue(struct why *why)
{
        const struct vg *vg = why->vg;

        if (vg->status == VG_STATUS_ACTIVATING)
                why_cause(why, "activating", "lvm2 is activating it");
        else if (vg->status != VG_STATUS_COMPLETE)
                return;
        else if (vg->reason && skip_prefix(vg->reason, "lvm2 waits for")) {
                cause_with_reason(why, "silent", "", vg->reason);
                why_advise(why,
                        "Look for errors of the disk in the kernel log (\"dmesg\"); the VG is activated when the "
                        "disk responds.");
        } else if (vg_is_incomplete(vg)) {
                why_cause(why, "queued", "it is queued for a degraded activation");
                why_condition(why, "missing-pv");
        } else
                why_cause(why, "queued", "it is queued, and all of its PVs are there");
        why_advise(why, "Wait for it: \"headgate wait %s\".", vg->name);
}

static void find_causes(struct why *why)
{
        causes_of_metadata(why);
        causes_of_config(why);
        causes_of_absence(why);
        if (is_unseen(why))
                cause_of_unseen(why);
        causes_of_inactivity(why);
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
        why_state(why, "headgate-off", "headgate is not in charge: lvm2's udev rule activates VGs.%s%s",
                off ? " " : "", off ?: "");
        if (why->verdict != VERDICT_UP)
                why_advise(
                        why, "The journal has lvm2's messages about its disks: \"journalctl -b --grep pvscan\".");
}

/* Explains inactive LVs. If all LVs are inactive, only those that map removed disks. */
static void explain_lvs(struct why *why)
{
        bool has_active = why->vg->status == VG_STATUS_ACTIVE || vg_count(why->vg).any_active;
        size_t n_inactive = 0;

        FOREACH_LV(lv, why->vg) {
                _cleanup_why_ struct why own = {.sources = why->sources, .view = why->view, .vg = why->vg};

                if (lv->active || (!has_active && !lv->stranded) || ++n_inactive > TOLD_MAX)
                        continue;
                causes_of_lv(&own, lv);
                why_merge(why, &own);
                why_fact(why, "LV %s is not active: %s.", lv->name, why_first_cause(&own));
        }
        if (n_inactive > TOLD_MAX)
                why_fact(why, "%zu more LVs are not active.", n_inactive - TOLD_MAX);
}

/* Adds the bars of all VGs of the same vgchange, since they waited for each other. */
static int add_batch(struct why *why, uint64_t asked_usec, struct timeline *timeline)
{
        struct path asked = path_format("%" PRIu64, asked_usec);
        int r = 0;

        FOREACH_RECORD(entry, why->sources->records) {
                _cleanup_vg_ struct vg *vg = NULL;

                /* Parsing all records takes long. */
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

/* Explains the time before headgate saw the last PV. */
static void explain_origin(struct why *why, struct timeline_bar *bar)
{
        _cleanup_(systemd_done) struct systemd systemd = {};
        struct milestones milestones;
        const struct vg_pv *last;

        (void) !systemd_connect(&systemd);
        milestones = milestones_read(&systemd);
        last = timeline_bar_add_origin(bar, why->vg, &milestones);
        if (last && (bar->driver_usec > 0 || bar->disk_udev_usec > 0 || bar->initrd_usec > 0))
                why_fact(why, "The kernel had its last PV, %s, %s after its own start; udev took %s for it%s%s.",
                        last->device_name ?: "?", KNOWN_TO_STRING(bar->driver_usec),
                        KNOWN_TO_STRING(bar->disk_udev_usec), bar->initrd_usec > 0 ? "; the initrd took " : "",
                        bar->initrd_usec > 0 ? DURATION_TO_STRING(bar->initrd_usec) : "");
}

/* The phases as in headgate blame. */
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
                why_fact(why, "Activation: %s waiting for %zu PV%s, %s in the queue, %s in lvm2%s%s%s.",
                        DURATION_TO_STRING(phases[TIMELINE_PVS]), why->vg->n_pvs, plural(why->vg->n_pvs),
                        DURATION_TO_STRING(phases[TIMELINE_QUEUE]), DURATION_TO_STRING(phases[TIMELINE_LVM2]),
                        bar->linked_usec ? ", " : " and udev",
                        bar->linked_usec ? DURATION_TO_STRING(phases[TIMELINE_UDEV]) : "",
                        bar->linked_usec ? " in udev" : "");
        }
}

static void explain_times(struct why *why)
{
        const struct vg *vg = why->vg;
        const char *unmet = plan_find_unmet(&why->sources->entries, vg);
        struct vg_times first = vg_first_times(vg);
        _cleanup_free_ char *program = vg_describe_program(vg);
        const char *activator = vg->settled_usec == 0 ? "by hand" : vg_describe_activator(vg);

        if (!why->view->recorded || vg->status != VG_STATUS_ACTIVE)
                return;
        if (unmet)
                why_fact(why, "%s", unmet);
        if (vg->settled_usec != 0)
                why_fact(why, "Active since %s.", TIME_TO_STRING(vg, vg->settled_usec));
        if (first.settled_usec != vg->settled_usec)
                why_fact(why, "First active at %s.", TIME_TO_STRING(vg, first.settled_usec));
        if (activator)
                why_fact(why, "Activated %s%s%s", activator, vg->skip_reason ? "; " : ".", vg->skip_reason ?: "");
        if (first.activating_usec != 0 && !vg_describe_activator(vg))
                explain_phases(why, first.activating_usec);
        if (program)
                why_fact(why, "%s", program);
}

static void explain_same_name(struct why *why)
{
        if (why->view->n_same_name == 0)
                return;
        why_state(why, "duplicate-name", "%zu more VG%s %s this name; this one has UUID %s.",
                why->view->n_same_name, plural(why->view->n_same_name),
                why->view->n_same_name == 1 ? "has" : "have", LVM_ID_TO_STRING(why->vg->vgid));
        why_advise(why, "Rename one of them: \"vgrename UUID NAME\".");
}

/* Finds causes, facts and advice for the VG, but no answer. */
static void explain_facts(struct why *why)
{
        if (why->vg->status != VG_STATUS_ACTIVE && why->vg->n_pvs > 0)
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

        if (vg->n_pvs == 0)
                why_answer(why, VERDICT_UNKNOWN, state,
                        "VG %s has %zu active LV%s; others are not known: lvm2 has no readable backup of it.",
                        vg->name, n.active, plural(n.active));
        else if (vg->status == VG_STATUS_DEGRADED)
                why_answer(why, VERDICT_DOWN, state, "VG %s is degraded, with %zu of its %zu LVs active: %s.",
                        vg->name, n.active, n.autoactivated, why_first_cause(why));
        else if (vg->status == VG_STATUS_WAITING && n.all_active)
                why_answer(why, VERDICT_DOWN, state, "VG %s is active, but %s.", vg->name, why_first_cause(why));
        else if (vg->status != VG_STATUS_ACTIVE)
                why_answer(why, VERDICT_DOWN, state, "VG %s is %s: %s.", vg->name,
                        n.any_active ? "only partly active" : "not active", why_first_cause(why));
        else if (n.autoactivated == 0)
                why_answer(why, VERDICT_UP, state, "VG %s is active: it has no LVs with autoactivation enabled.",
                        vg->name);
        else if (n.active < n.autoactivated)
                why_answer(why, VERDICT_UP, state, "VG %s is active, with %zu of its %zu LVs.", vg->name, n.active,
                        n.autoactivated);
        else
                why_answer(why, VERDICT_UP, state, "VG %s is active: %zu of %zu LV%s.", vg->name, n.active,
                        n.autoactivated, plural(n.autoactivated));
}

static void explain_suspended(struct why *why, const struct vg_lv *lv)
{
        if (!lv->suspended)
                return;
        why_state(why, "suspended", "LV %s is suspended: I/O to it waits.", lv->name);
        why_advise(why, "If no lvm2 command is running: \"lvchange --refresh %s/%s\", or \"dmsetup resume\".",
                why->vg->name, lv->name);
}

void vg_explain(struct why *why, const struct vg_view *view)
{
        why->view = view;
        why->vg = view->vg;
        /* The facts and advice depend on the verdict. */
        why->verdict = why->vg->status == VG_STATUS_ACTIVE ? VERDICT_UP : VERDICT_DOWN;
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

/* An LV's own causes come first: they would remain if its VG were active. */
static void explain_inactive_lv(struct why *why, const struct vg_lv *lv)
{
        const struct vg *vg = why->vg;
        bool is_up = vg->status == VG_STATUS_ACTIVE || vg->status == VG_STATUS_DEGRADED ||
                     vg->status == VG_STATUS_DEACTIVATED;
        _cleanup_why_ struct why own = {.sources = why->sources, .view = why->view, .vg = vg};

        /* The facts and advice depend on the verdict. */
        why->verdict = VERDICT_DOWN;
        if (is_up || !lv->autoactivated || lv->stranded)
                causes_of_lv(&own, lv);
        if (own.n_causes > 0)
                why_answer(why, VERDICT_DOWN, "inactive", "LV %s/%s is not active: %s.", vg->name, lv->name,
                        why_first_cause(&own));
        why_add_other_causes(&own);
        why_merge(why, &own);
        why_fact(why, "Its VG is %s.", describe_place(why));
        if (vg->status == VG_STATUS_ACTIVE)
                return;

        explain_facts(why);
        /* Set above if the LV has causes of its own. */
        if (why->answer)
                why_fact(why, "Its VG is only partly active: %s.", why_first_cause(why));
        else
                why_answer(why, VERDICT_DOWN, "inactive", "LV %s/%s is not active because its VG is not: %s.",
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
