/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a VG that is not active, or not as a whole, waits for: PVs that are missing, the RAIDs of one that is degraded, its
 * turn. */

#include "why/waiting.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "lvm/active.h"
#include "reader/pv.h"
#include "shared/flags.h"
#include "shared/kernel.h"

/* ------ missing PVs ------ */

/* Of more PVs than that the number has to do. */
#define TOLD_MAX 8

/* Whether the device is an MD array of which members are still to come. The state is described in the kernel's
 * Documentation/admin-guide/md.rst. */
static bool is_array_not_started(const struct sources *sources, dev_t device)
{
        _cleanup_free_ char *state = NULL;

        return sysfs_read_attribute(sources->root_fd, device, "md/array_state", &state) > 0 &&
               streq(state, "inactive");
}

/* What is at the place where lvm2 had the PV. */
static void explain_last_place(const struct sources *sources, const char *path, const char *pvid, const char *vgid,
        struct explanation *explanation)
{
        char formatted[LVM_ID_FORMATTED_SIZE];
        _cleanup_pv_ struct pv pv = {};
        struct stat status;

        if (stat(path, &status) < 0 || !S_ISBLK(status.st_mode)) {
                explanation_fact(explanation, "There is no %s now.", path);
                return;
        }
        if (is_array_not_started(sources, status.st_rdev)) {
                explanation_fact(explanation, "There is a %s now, an array that has not been started.", path);
                explanation_advise(
                        explanation, "See which of its disks are missing: \"mdadm --detail %s\".", path);
                return;
        }
        explanation_fail(explanation, pv_read(path, &pv));
        if (pv.error < 0) {
                explanation_fact(explanation, "There is a %s now, which cannot be read: %s.", path,
                        reader_describe_error(pv.error));
        } else if (!pv.found) {
                explanation_fact(explanation, "There is a %s now, and it is no PV%s%s.", path,
                        pv.damage ? ": " : "", pv.damage ?: "");
        } else if (streq(pv.pvid, pvid) && pv.metadata && !streq(pv.metadata->vgid, vgid)) {
                explanation_fact(explanation, "%s has it, and it belongs to VG %s now.", path, pv.metadata->name);
        } else if (streq(pv.pvid, pvid) && !pv.metadata && pv.unused && !pv.damage) {
                explanation_fact(explanation, "%s has it, and it belongs to no VG now.", path);
                explanation_advise(explanation, "If the VG was removed (vgremove), remove its backup, too.");
        } else if (streq(pv.pvid, pvid)) {
                explanation_fact(explanation, "%s has it, and headgate was not told.", path);
                explanation_advise(
                        explanation, "Have udev look at it: \"udevadm trigger --action=add %s\".", path);
        } else {
                lvm_id_format(pv.pvid, formatted);
                explanation_fact(explanation, "There is a %s now, and it is PV %s.", path, formatted);
        }
}

static bool is_flagged(const struct vg_view *view, const char *pvid)
{
        for (size_t i = 0; view->metadata && i < view->metadata->n_pvs; i++)
                if (streq(view->metadata->pvs[i].pvid, pvid))
                        return view->metadata->pvs[i].missing;
        return false;
}

static void explain_missing_pv(const struct sources *sources, const struct vg_view *view,
        const struct volume_group_pv *pv, struct explanation *explanation)
{
        const char *flagged =
                is_flagged(view, pv->pvid) ? " lvm2 has changed the VG without it (flag MISSING)." : "";
        char formatted[LVM_ID_FORMATTED_SIZE];

        lvm_id_format(pv->pvid, formatted);
        if (!pv->device_name) {
                explanation_fact(
                        explanation, "PV %s is missing; nobody knows where it was.%s", formatted, flagged);
                return;
        }
        explanation_fact(
                explanation, "PV %s is missing; its last place was %s.%s", formatted, pv->device_name, flagged);
        explain_last_place(sources, pv->device_name, pv->pvid, view->volume_group->vgid, explanation);
}

static void explain_present_pvs(const struct volume_group *volume_group, struct explanation *explanation)
{
        _cleanup_string_vector_ struct string_vector names = {};
        size_t n = volume_group_count_seen(volume_group);
        _cleanup_free_ char *joined = NULL;

        for (size_t i = 0; i < volume_group->n_pvs && names.n < TOLD_MAX; i++)
                if (volume_group->pvs[i].device != 0 &&
                        string_vector_add(&names, volume_group->pvs[i].device_name ?: "?") < 0)
                        explanation_fail(explanation, -ENOMEM);
        joined = string_vector_join(&names, ", ");
        if (names.n > 0)
                explanation_fact(explanation, "%zu of its %zu PV%s %s there: %s%s.", n, volume_group->n_pvs,
                        plural(volume_group->n_pvs), n == 1 ? "is" : "are", joined ?: "?",
                        n > names.n ? ", ..." : "");
}

static void explain_deadline(
        const struct sources *sources, const struct volume_group *volume_group, struct explanation *explanation)
{
        _cleanup_free_ char *seen = describe_time(volume_group, volume_group->first_seen_usec);
        _cleanup_free_ char *deadline =
                format_duration(settings_get_deadline(&sources->settings, volume_group->name));

        explanation_fact(explanation, "It has been waiting since %s%s%s.", seen ?: "?",
                volume_group->overdue ? ", and is overdue: its deadline was " : "; its deadline is ",
                deadline ?: "?");
        if (volume_group->lost_after_active)
                explanation_fact(explanation,
                        "It is lost: it was settled when a PV was removed, and no PV has appeared since.");
}

/* Where the metadata comes from, and when lvm2 has seen these PVs last at the latest. */
static void explain_source(const struct vg_view *view, struct explanation *explanation)
{
        _cleanup_free_ char *date = NULL;

        if (!view->metadata || view->metadata->written <= 0)
                return;
        date = describe_date(view->metadata->written);
        explanation_fact(explanation, "lvm2 wrote of its PVs last at %s, by %s%s.", date ?: "?",
                view->metadata_device ? "the metadata on " : "its backup", view->metadata_device ?: "");
}

/* Who has allowed it in headgate.conf need only know when. */
static void advise_on_degraded(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        bool allowed = settings_allow_degraded(&sources->settings, volume_group->name);

        if (view->source == VG_VIEW_OF_WORKER && allowed && !volume_group->overdue &&
                !volume_group->lost_after_active)
                explanation_fact(explanation,
                        "At its deadline lvm2 is asked for what can do without them, as headgate.conf says.");
        else
                explanation_advise(explanation,
                        "headgate %s. To have those LVs that can do without the missing PVs: \"vgchange -ay "
                        "--activationmode degraded %s\", see lvmraid(7)%s.",
                        allowed ? "has not activated it without them"
                                : "does not activate incomplete VGs by itself, unless headgate.conf says so",
                        volume_group->name,
                        allowed ? "" : "; for the next time, \"degraded\" in headgate.conf(5)");
}

static void advise(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const char *name = view->volume_group->name;

        if (view->volume_group->state == VOLUME_GROUP_DEGRADED)
                explanation_advise(explanation,
                        "Find out why the disk does not appear; what cannot do without is activated when it is there.");
        else
                explanation_advise(explanation,
                        "Find out why the disk does not appear; the VG is activated as soon as the last PV is there.");
        if (volume_group_count_seen(view->volume_group) == 0)
                return;
        if (view->volume_group->state != VOLUME_GROUP_DEGRADED &&
                view->volume_group->state != VOLUME_GROUP_DEACTIVATED)
                advise_on_degraded(sources, view, explanation);
        explanation_advise(explanation,
                "If the PVs are lost for good, \"vgreduce --removemissing %s\" makes the VG complete without "
                "them, see vgreduce(8) for what becomes of LVs on them.",
                name);
}

void explain_missing_pvs(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        size_t n_missing = volume_group->n_pvs - volume_group_count_seen(volume_group), n_told = 0;

        if (n_missing == volume_group->n_pvs)
                explanation_cause(
                        explanation, "missing-pv", "none of its %zu PV%s was seen", n_missing, plural(n_missing));
        else
                explanation_cause(explanation, "missing-pv", "%zu of its %zu PVs %s missing", n_missing,
                        volume_group->n_pvs, n_missing == 1 ? "is" : "are");

        explain_present_pvs(volume_group, explanation);
        for (size_t i = 0; i < volume_group->n_pvs && n_told < TOLD_MAX; i++)
                if (volume_group->pvs[i].device == 0) {
                        explain_missing_pv(sources, view, &volume_group->pvs[i], explanation);
                        n_told++;
                }
        if (n_missing > n_told)
                explanation_fact(explanation, "%zu more PVs are missing.", n_missing - n_told);
        explain_source(view, explanation);
        if (view->source == VG_VIEW_OF_WORKER && volume_group->first_seen_usec != 0 &&
                volume_group->state == VOLUME_GROUP_WAITING)
                explain_deadline(sources, volume_group, explanation);
        advise(sources, view, explanation);
}

/* ------ degraded VGs ------ */

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

void explain_degraded(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        _cleanup_free_ char *since = describe_time(volume_group, volume_group->degraded_usec);
        _cleanup_free_ char *refresh = NULL;
        int r;

        explanation_condition(explanation, "degraded");
        if (volume_group_is_incomplete(volume_group))
                explain_missing_pvs(sources, view, explanation);
        else
                explanation_cause(
                        explanation, "degraded", "all of its PVs are there, and RAIDs of it go without some");
        explanation_fact(explanation,
                "It is degraded since %s, when it had to do without PVs, as headgate.conf allows.", since ?: "?");
        explain_late_pvs(volume_group, explanation);

        r = raid_describe_refresh(volume_group, &refresh);
        if (r == -ENOMEM)
                explanation_fail(explanation, r);
        advise_on_flags(volume_group, explanation);
        if (r > 0 && !volume_group_is_incomplete(volume_group))
                explanation_advise(explanation, "Have the RAIDs take part again what came back: \"%s\".", refresh);
        else if (!volume_group_is_incomplete(volume_group))
                explanation_advise(explanation,
                        "Have the RAIDs take part again what came back: \"vgchange --refresh %s\".",
                        volume_group->name);
}

/* ------ the queue ------ */

/* What there is in the two directories of requests. */
struct requests {
        size_t n;
        const char *name; /* of the VG */
        bool expected;    /* one of them says that somebody waits for it */
};

static int count_request(const char *entry, void *userdata)
{
        struct requests *requests = userdata;
        const char *expected = skip_prefix(entry, FLAGS_ENTRY_EXPECTED);

        requests->n += !expected;
        requests->expected |= expected && streq(expected, requests->name);
        return 0;
}

/* How many VGs lvm2 is at work on, or about to be. */
struct busy {
        size_t n_activating;
        size_t n_complete;
};

static int count_busy(struct volume_group *volume_group, void *userdata)
{
        struct busy *busy = userdata;

        busy->n_activating += volume_group->state == VOLUME_GROUP_ACTIVATING;
        busy->n_complete += volume_group->state == VOLUME_GROUP_COMPLETE;
        volume_group_free(volume_group);
        return 0;
}

static void explain_complete(
        const struct sources *sources, const struct volume_group *volume_group, struct explanation *explanation)
{
        _cleanup_free_ char *time = describe_time(volume_group, volume_group->complete_usec);
        struct busy busy = {};

        if (volume_groups_parse(sources->records, count_busy, &busy) < 0)
                return;
        if (!volume_group_is_incomplete(volume_group))
                explanation_fact(explanation, "All its PVs were there at %s.", time ?: "?");
        explanation_fact(explanation,
                "lvm2 is at work on %zu VG%s, and %zu VG%s, this one included, wait for their turn.",
                busy.n_activating, plural(busy.n_activating), busy.n_complete, plural(busy.n_complete));
}

static void explain_activating(const struct volume_group *volume_group, struct explanation *explanation)
{
        _cleanup_free_ char *time = describe_time(volume_group, volume_group->activating_usec);

        explanation_fact(explanation, "lvm2 was asked at %s.", time ?: "?");
        if (volume_group->slow)
                explanation_fact(explanation,
                        "It has LVs that may take long, thin pools to be checked for instance; others go on.");
}

void explain_queue(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        struct requests requests = {.name = volume_group->name};

        if (sources->run_fd < 0 || !sources->in_charge)
                return;
        if (volume_group->state == VOLUME_GROUP_COMPLETE)
                explain_complete(sources, volume_group, explanation);
        if (volume_group->state == VOLUME_GROUP_ACTIVATING)
                explain_activating(volume_group, explanation);

        (void) flags_walk_requests(sources->run_fd, count_request, &requests);
        if (requests.expected)
                explanation_fact(
                        explanation, "Boot, or somebody else, waits for it, so that it goes before others.");
        if (requests.n > 0)
                explanation_fact(explanation,
                        "%zu request%s of all kinds %s not been dealt with, and headgate's worker %s.", requests.n,
                        plural(requests.n), requests.n == 1 ? "has" : "have",
                        flags_ask_running(sources->run_fd) == FLAGS_IS_RUNNING ? "is at work" : "is not running");
        if (flags_is_set(sources->run_fd, FLAGS_BOOT_FINISHED) == 0)
                explanation_fact(
                        explanation, "The devices that were there at boot have not all been dealt with yet.");
}
