/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Explains a VG or an LV of it: the causes of its state in the order in which they count, facts, and the answer. */

#include "why/volume_group.h"

#include "boot/switches.h"
#include "why/causes.h"
#include "why/holders.h"
#include "why/waiting.h"

/* Of more LVs that are not active than that the number has to do. */
#define TOLD_MAX 8

/* There are disks of it, and the worker has not been told of any. */
static bool is_unseen(const struct sources *sources, const struct vg_view *view)
{
        return sources->in_charge && view->source == VG_VIEW_OF_DISK &&
               view->volume_group->state != VOLUME_GROUP_ACTIVE;
}

/* Where the VG is, in one word: that of headgate status, or "unseen". */
static const char *describe_place(const struct sources *sources, const struct vg_view *view)
{
        if (is_unseen(sources, view))
                return "unseen";
        if (view->volume_group->state == VOLUME_GROUP_UNKNOWN && !sources->in_charge)
                return "inactive";
        return volume_group_state_to_string(view->volume_group->state);
}

/* ------ causes ------ */

/* Of a reason, which is a sentence, what goes into another one. */
static int length_of_clause(const char *reason)
{
        size_t length = strcspn(reason, "\n");

        return (int) (length > 0 && reason[length - 1] == '.' ? length - 1 : length);
}

/* What lvm2 said when it did not record a PV is part of the worker's reason. */
static void cause_of_reason(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        const char *reason = volume_group->reason;
        size_t n_stranded = volume_group_count_stranded(volume_group);

        if (volume_group->state == VOLUME_GROUP_FAILED && n_stranded > 0) {
                explanation_cause(explanation, "stranded", "%zu of its LVs %s still on a disk that has gone",
                        n_stranded, n_stranded == 1 ? "is" : "are");
                return;
        }
        if (volume_group->state == VOLUME_GROUP_FAILED) {
                reason = reason ?: "it gave no reason";
                explanation_cause(
                        explanation, "failed", "lvm2 was asked, and said: %.*s", length_of_clause(reason), reason);
                explanation_advise(explanation,
                        "When that is mended, have it tried again: \"headgate activate %s\".", volume_group->name);
                return;
        }
        if (!reason || volume_group->state != VOLUME_GROUP_SKIPPED)
                return;
        if (!skip_prefix(reason, "lvm2 does not accept")) {
                if (explanation->causes.n == 0)
                        explanation_cause(explanation, "not-wanted", "%.*s", length_of_clause(reason), reason);
                return;
        }
        for (size_t i = 0; i < volume_group->n_pvs; i++)
                if (volume_group->pvs[i].device_name && strstr(reason, volume_group->pvs[i].device_name))
                        causes_of_refusal(sources, volume_group->pvs[i].pvid, reason, explanation);
        explanation_cause(explanation, "refused", "%.*s", length_of_clause(reason), reason);
        explanation_advise(explanation,
                "When that is mended, have the device looked at again: \"udevadm trigger --action=add DEVICE\".");
}

/* What keeps udev's rule from telling the worker of the disk keeps lvm2 from it, too. */
static void cause_of_unseen(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const char *path = view->metadata_device;
        _cleanup_device_facts_ struct device_facts facts = {};
        _cleanup_explanation_ struct explanation own = {};
        int r;

        r = device_facts_read(sources, path, view->metadata_number, &facts);
        if (r < 0) {
                explanation_fail(explanation, r);
                return;
        }
        causes_of_device(sources, &facts, &own);
        if (own.causes.n > 0)
                explanation_cause(
                        explanation, "unseen", "lvm2 leaves its PV %s alone: %s", path, own.causes.strings[0]);
        else
                explanation_cause(explanation, "unseen", "headgate was not told of its PV %s", path);
        explanation_take_over(explanation, &own);
        explain_udev(&facts, explanation);
        explanation_advise(explanation, "Ask for the device: \"headgate why %s\".", path);
}

/* All PVs are there, or enough of them were. */
static void causes_of_inactivity(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        bool incomplete = volume_group_is_incomplete(volume_group);

        if (volume_group->state == VOLUME_GROUP_UNKNOWN && !incomplete && !is_unseen(sources, view)) {
                explanation_cause(
                        explanation, "inactive", "its LVs are not active, though all of its PVs are there");
                explanation_advise(explanation, "Activate it by hand: \"vgchange -aay %s\".", volume_group->name);
        }
        if (volume_group->state != VOLUME_GROUP_DEACTIVATED)
                return;
        explanation_cause(explanation, "deactivated", "somebody has deactivated LVs of it since it was active");
        explanation_advise(explanation, "Activate it again: \"headgate activate %s\".", volume_group->name);
        if (incomplete)
                explain_missing_pvs(sources, view, explanation);
}

static void causes_of_absence(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        enum volume_group_state state = view->volume_group->state;

        if (state == VOLUME_GROUP_DEGRADED)
                explain_degraded(sources, view, explanation);
        else if (state == VOLUME_GROUP_WAITING ||
                 ((state == VOLUME_GROUP_ABSENT || state == VOLUME_GROUP_UNKNOWN) &&
                         volume_group_is_incomplete(view->volume_group)))
                explain_missing_pvs(sources, view, explanation);
}

/* The others are settled without them. */
static void cause_of_queue(const struct volume_group *volume_group, struct explanation *explanation)
{
        const char *reason = volume_group->reason;

        if (volume_group->state == VOLUME_GROUP_ACTIVATING)
                explanation_cause(explanation, "activating", "lvm2 is at work on it just now");
        else if (volume_group->state == VOLUME_GROUP_COMPLETE && reason && skip_prefix(reason, "lvm2 waits for")) {
                explanation_cause(explanation, "silent", "%.*s", length_of_clause(reason), reason);
                explanation_advise(explanation,
                        "The kernel's log may tell what is wrong with the disk; once it answers, the VG is activated.");
        } else if (volume_group->state == VOLUME_GROUP_COMPLETE && volume_group_is_incomplete(volume_group)) {
                explanation_cause(explanation, "queued", "it is queued, to be activated degraded");
                explanation_condition(explanation, "missing-pv");
        } else if (volume_group->state == VOLUME_GROUP_COMPLETE)
                explanation_cause(explanation, "queued", "it waits for its turn, with all of its PVs there");
        else
                return;
        explanation_advise(explanation, "Wait for it: \"headgate wait %s\".", volume_group->name);
}

static void find_causes(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        causes_of_absence(sources, view, explanation);
        if (is_unseen(sources, view))
                cause_of_unseen(sources, view, explanation);
        causes_of_metadata(sources, view, explanation);
        causes_of_inactivity(sources, view, explanation);
        causes_of_configuration(sources, view, explanation);
        cause_of_reason(sources, view, explanation);
        cause_of_queue(view->volume_group, explanation);
}

/* ------ facts ------ */

static void explain_headgate(const struct sources *sources, struct explanation *explanation)
{
        const char *off = NULL;

        if (sources->in_charge)
                return;
        explanation_fail(explanation, switches_describe_headgate_off(sources->root_fd, &off));
        explanation_condition(explanation, "headgate-off");
        explanation_fact(
                explanation, "headgate is not in charge, lvm2's own udev rule is.%s%s", off ? " " : "", off ?: "");
        if (explanation->verdict != VERDICT_UP)
                explanation_advise(explanation,
                        "What lvm2 said of its disks is in the journal: \"journalctl -b --grep pvscan\".");
}

static bool is_inactive(const struct volume_group_lv *lv)
{
        return !lv->active;
}

static bool is_stranded(const struct volume_group_lv *lv)
{
        return lv->stranded;
}

static void explain_lvs(const struct sources *sources, const struct vg_view *view,
        bool (*filter)(const struct volume_group_lv *), struct explanation *explanation)
{
        size_t n_inactive = 0;

        for (size_t i = 0; i < view->volume_group->n_lvs; i++) {
                const struct volume_group_lv *lv = &view->volume_group->lvs[i];
                struct explanation own = {};

                if (!filter(lv) || ++n_inactive > TOLD_MAX)
                        continue;
                causes_of_lv(sources, view, lv, &own);
                explanation_fact(explanation, "LV %s is not active: %s.", lv->name,
                        explanation_first_cause(&own, "nobody knows why"));
                explanation_take_over(explanation, &own);
                explanation_done(&own);
        }
        if (n_inactive > TOLD_MAX)
                explanation_fact(explanation, "%zu more LVs are not active.", n_inactive - TOLD_MAX);
}

static void explain_times(const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        struct volume_group_times first = volume_group_first_times(volume_group);
        _cleanup_free_ char *settled = describe_time(volume_group, volume_group->settled_usec);
        _cleanup_free_ char *date = describe_time(volume_group, first.settled_usec);
        _cleanup_free_ char *waited = NULL, *queued = NULL, *activated = NULL;

        if (view->source != VG_VIEW_OF_WORKER || volume_group->state != VOLUME_GROUP_ACTIVE ||
                volume_group->settled_usec == 0)
                return;
        explanation_fact(explanation, "It is active since %s.", settled ?: "?");
        if (first.settled_usec != volume_group->settled_usec)
                explanation_fact(explanation, "Its first activation ended at %s.", date ?: "?");
        /* lvm2 was not asked for a VG that the initrd has activated. */
        if (first.activating_usec < first.complete_usec)
                return;
        waited = format_duration(first.complete_usec - first.first_seen_usec);
        queued = format_duration(first.activating_usec - first.complete_usec);
        activated = format_duration(first.settled_usec - first.activating_usec);
        explanation_fact(explanation,
                "From the first to the last of %zu PV%s it took %s, then %s in the queue, %s at lvm2 and udev.",
                volume_group->n_pvs, plural(volume_group->n_pvs), waited ?: "?", queued ?: "?", activated ?: "?");
}

static void explain_same_name(const struct vg_view *view, struct explanation *explanation)
{
        char formatted[LVM_ID_FORMATTED_SIZE];

        if (view->n_same_name == 0)
                return;
        lvm_id_format(view->volume_group->vgid, formatted);
        explanation_condition(explanation, "duplicate-name");
        explanation_fact(explanation, "There %s %zu more VG%s of this name; this is about the one with UUID %s.",
                view->n_same_name == 1 ? "is" : "are", view->n_same_name, plural(view->n_same_name), formatted);
        explanation_advise(explanation, "Give one of them another name: \"vgrename UUID NAME\".");
}

/* Without the answer: the causes, all other facts of the VG that matter, and what to do. */
static void explain_facts(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        if (view->volume_group->state != VOLUME_GROUP_ACTIVE)
                find_causes(sources, view, explanation);
        explain_headgate(sources, explanation);
        explain_times(view, explanation);
        explain_queue(sources, view, explanation);
        explain_same_name(view, explanation);
        explain_duplicate_pvs(sources, view, explanation);
}

/* ------ the answer ------ */

static void answer(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        const char *state = describe_place(sources, view);
        size_t n_wanted = volume_group_count_autoactivated(volume_group);
        size_t n_active = volume_group_count_active(volume_group);

        if (volume_group->state == VOLUME_GROUP_DEGRADED)
                explanation_answer(explanation, VERDICT_DOWN, state,
                        "VG %s is degraded, with %zu of its %zu LVs active: %s.", volume_group->name, n_active,
                        n_wanted, explanation_first_cause(explanation, "nobody knows why"));
        else if (volume_group->state != VOLUME_GROUP_ACTIVE)
                explanation_answer(explanation, VERDICT_DOWN, state, "VG %s is not active%s: %s.",
                        volume_group->name, volume_group_has_active_lv(volume_group) ? " as a whole" : "",
                        explanation_first_cause(explanation, "nobody knows why"));
        else if (n_wanted == 0)
                explanation_answer(explanation, VERDICT_UP, state,
                        "VG %s is up, but it has no LVs that are activated by themselves.", volume_group->name);
        else if (n_active < n_wanted)
                explanation_answer(explanation, VERDICT_UP, state,
                        "VG %s is active, though only %zu of its %zu LVs are.", volume_group->name, n_active,
                        n_wanted);
        else
                explanation_answer(explanation, VERDICT_UP, state, "VG %s is active: %zu of %zu LV%s.",
                        volume_group->name, n_active, n_wanted, plural(n_wanted));
}

void volume_group_explain(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        bool has_active = volume_group_has_active_lv(volume_group);

        /* What there is to say depends on it. */
        explanation->verdict = volume_group->state == VOLUME_GROUP_ACTIVE ? VERDICT_UP : VERDICT_DOWN;
        explain_facts(sources, view, explanation);
        answer(sources, view, explanation);
        explanation_tell_other_causes(explanation);
        explain_lvs(sources, view,
                volume_group->state == VOLUME_GROUP_ACTIVE || has_active ? is_inactive : is_stranded, explanation);
        if (has_active)
                explain_holders_of_lvs(sources, volume_group->vgid, NULL, explanation);
}

/* ------ LVs ------ */

static void explain_active_lv(const struct sources *sources, const struct vg_view *view,
        const struct volume_group_lv *lv, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;

        explanation_answer(explanation, VERDICT_UP, "active", "LV %s/%s is active.", volume_group->name, lv->name);
        explanation_fact(explanation, "Its VG is %s.", describe_place(sources, view));
        explain_holders_of_lvs(sources, volume_group->vgid, lv->lvid, explanation);
}

/* Of its own causes and its VG's, its own would be there also if the VG were active. */
static void explain_inactive_lv(const struct sources *sources, const struct vg_view *view,
        const struct volume_group_lv *lv, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        bool is_up = volume_group->state == VOLUME_GROUP_ACTIVE || volume_group->state == VOLUME_GROUP_DEGRADED ||
                     volume_group->state == VOLUME_GROUP_DEACTIVATED;

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
        explanation_fact(explanation, "Its VG is %s.", describe_place(sources, view));
        if (volume_group->state == VOLUME_GROUP_ACTIVE)
                return;

        explain_facts(sources, view, explanation);
        if (explanation->answer)
                explanation_fact(explanation, "The VG is not active as a whole: %s.",
                        explanation_first_cause(explanation, "nobody knows why"));
        else
                explanation_answer(explanation, VERDICT_DOWN, "inactive",
                        "LV %s/%s is not active, as its VG is not: %s.", volume_group->name, lv->name,
                        explanation_first_cause(explanation, "nobody knows why"));
        explanation_tell_other_causes(explanation);
}

bool logical_volume_explain(const struct sources *sources, const struct vg_view *view, const char *name,
        struct explanation *explanation)
{
        const struct volume_group_lv *lv = vg_view_find_lv(view, name);

        if (lv && lv->active)
                explain_active_lv(sources, view, lv, explanation);
        else if (lv)
                explain_inactive_lv(sources, view, lv, explanation);
        return lv;
}
