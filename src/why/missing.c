/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/missing.h"

#include <sys/stat.h>

#include "why/pv.h"

/* Of more PVs than that the number has to do. */
#define TOLD_MAX 8

/* What is at the place where lvm2 had the PV. */
static int explain_last_place(const char *path, const char *pvid, struct explanation *explanation)
{
        char formatted[LVM_ID_FORMATTED_SIZE];
        _cleanup_pv_ struct pv pv = {};
        struct stat status;
        int r;

        if (stat(path, &status) < 0 || !S_ISBLK(status.st_mode)) {
                explanation_fact(explanation, "There is no %s now.", path);
                return 0;
        }
        r = pv_read(path, &pv);
        if (r < 0)
                return r;
        if (pv.error < 0) {
                explanation_fact(
                        explanation, "There is a %s now, which cannot be read: %s.", path, strerror(-pv.error));
        } else if (!pv.found) {
                explanation_fact(explanation, "There is a %s now, and it is no PV%s%s.", path,
                        pv.damage ? ": " : "", pv.damage ?: "");
        } else if (streq(pv.label.pvid, pvid)) {
                explanation_fact(explanation, "%s has it, and headgate was not told.", path);
                explanation_advise(
                        explanation, "Have udev look at it: \"udevadm trigger --action=add %s\".", path);
        } else {
                lvm_id_format(pv.label.pvid, formatted);
                explanation_fact(explanation, "There is a %s now, and it is PV %s.", path, formatted);
        }
        return 0;
}

static bool is_flagged(const struct record *record, const char *pvid)
{
        for (size_t i = 0; record->metadata && i < record->metadata->n_pvs; i++)
                if (streq(record->metadata->pvs[i].pvid, pvid))
                        return record->metadata->pvs[i].missing;
        return false;
}

static int explain_missing_pv(
        const struct record *record, const struct volume_group_pv *pv, struct explanation *explanation)
{
        const char *flagged =
                is_flagged(record, pv->pvid) ? " lvm2 has changed the VG without it (flag MISSING)." : "";
        char formatted[LVM_ID_FORMATTED_SIZE];

        lvm_id_format(pv->pvid, formatted);
        if (!pv->device_name) {
                explanation_fact(
                        explanation, "PV %s is missing; nobody knows where it was.%s", formatted, flagged);
                return 0;
        }
        explanation_fact(
                explanation, "PV %s is missing; its last place was %s.%s", formatted, pv->device_name, flagged);
        return explain_last_place(pv->device_name, pv->pvid, explanation);
}

static void explain_present_pvs(const struct volume_group *volume_group, struct explanation *explanation)
{
        _cleanup_string_vector_ struct string_vector names = {};
        size_t n = volume_group_count_seen(volume_group);
        _cleanup_free_ char *joined = NULL;

        for (size_t i = 0; i < volume_group->n_pvs && names.n < TOLD_MAX; i++)
                if (volume_group->pvs[i].device != 0 &&
                        string_vector_add(&names, volume_group->pvs[i].device_name ?: "?") < 0)
                        explanation->error = -ENOMEM;
        joined = string_vector_join(&names, ", ");
        if (names.n > 0)
                explanation_fact(explanation, "%zu of its %zu PV%s %s there: %s%s.", n, volume_group->n_pvs,
                        plural(volume_group->n_pvs), n == 1 ? "is" : "are", joined ?: "?",
                        n > names.n ? ", ..." : "");
}

static void explain_deadline(
        const struct sources *sources, const struct volume_group *volume_group, struct explanation *explanation)
{
        _cleanup_free_ char *seen = describe_time(volume_group->first_seen_usec);
        _cleanup_free_ char *deadline = format_duration(sources->settings.deadline_usec);

        explanation_fact(explanation, "It has been waiting since %s%s%s.", seen ?: "?",
                volume_group->overdue ? ", and is overdue: its deadline was " : "; its deadline is ",
                deadline ?: "?");
}

/* Where the metadata comes from, and when lvm2 has seen these PVs last at the latest. */
static void explain_source(const struct record *record, struct explanation *explanation)
{
        _cleanup_free_ char *date = NULL;

        if (!record->metadata || record->metadata->written <= 0)
                return;
        date = describe_date(record->metadata->written);
        explanation_fact(explanation, "lvm2 wrote of its PVs last at %s, by %s%s.", date ?: "?",
                record->metadata_device ? "the metadata on " : "its backup", record->metadata_device ?: "");
}

static void advise(const struct record *record, struct explanation *explanation)
{
        const char *name = record->volume_group->name;

        explanation_advise(explanation,
                "Find out why the disk does not appear; the VG is activated as soon as the last PV is there.");
        if (volume_group_count_seen(record->volume_group) == 0)
                return;
        explanation_advise(explanation,
                "headgate does not activate incomplete VGs by itself. To have those LVs that can do without the "
                "missing PVs: \"vgchange -ay --activationmode degraded %s\", see lvmraid(7).",
                name);
        explanation_advise(explanation,
                "If the PVs are lost for good, \"vgreduce --removemissing %s\" makes the VG complete without "
                "them, see vgreduce(8) for what becomes of LVs on them.",
                name);
}

int explain_missing_pvs(
        const struct sources *sources, const struct record *record, struct explanation *explanation)
{
        const struct volume_group *volume_group = record->volume_group;
        size_t n_missing = volume_group->n_pvs - volume_group_count_seen(volume_group), n_told = 0;
        int r = 0;

        if (n_missing == volume_group->n_pvs)
                explanation_cause(
                        explanation, "missing-pv", "none of its %zu PV%s was seen", n_missing, plural(n_missing));
        else
                explanation_cause(explanation, "missing-pv", "%zu of its %zu PVs %s missing", n_missing,
                        volume_group->n_pvs, n_missing == 1 ? "is" : "are");

        explain_present_pvs(volume_group, explanation);
        for (size_t i = 0; r >= 0 && i < volume_group->n_pvs && n_told < TOLD_MAX; i++)
                if (volume_group->pvs[i].device == 0) {
                        r = explain_missing_pv(record, &volume_group->pvs[i], explanation);
                        n_told++;
                }
        if (n_missing > n_told)
                explanation_fact(explanation, "%zu more PVs are missing.", n_missing - n_told);
        explain_source(record, explanation);
        if (record->source == RECORD_OF_WORKER && volume_group->first_seen_usec != 0)
                explain_deadline(sources, volume_group, explanation);
        advise(record, explanation);
        return r;
}
