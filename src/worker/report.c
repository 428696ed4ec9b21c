/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The worker's journal lines, timelines and STATUS=. */

#include "worker/report.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

#include "shared/log.h"
#include "shared/messages.h"
#include "shared/names.h"
#include "shared/util.h"
#include "timeline/journal.h"

/* Takes ownership of the message. */
static void report_line(int level, const char *message_id, const struct strv *fields, char *message)
{
        _cleanup_free_ char *owned = message;

        if (message)
                log_event(level, message_id, message, fields);
}

static void add_id(struct strv *fields, const char *name, const char *id)
{
        fields_add(fields, "%s=%s", name, LVM_ID_TO_STRING(id));
}

/* On the monotonic clock; omitted if it has not happened. */
static void add_time(struct strv *fields, const struct vg *vg, const char *name, uint64_t usec)
{
        if (usec > 0 && usec >= vg->first_seen_usec)
                fields_add(fields, "%s=%" PRIu64, name, usec);
}

/* `state` is NULL for a VG none of whose PVs has appeared. Takes ownership of the message. */
static void report_group(int level, const char *message_id, const struct vg *vg, const char *state,
        uint64_t duration_usec, char *message)
{
        _cleanup_strv_ struct strv fields = {};

        fields_add(&fields, "HEADGATE_VG=%s", vg->name);
        add_id(&fields, "HEADGATE_VG_UUID", vg->vgid);
        fields_add(&fields, "HEADGATE_N_PVS=%zu", vg->n_pvs);
        fields_add(&fields, "HEADGATE_N_PVS_SEEN=%zu", vg_count(vg).seen);
        fields_add(&fields, "HEADGATE_N_LVS_ACTIVE=%zu", vg_count(vg).active);
        fields_add(&fields, "HEADGATE_DURATION_USEC=%" PRIu64, duration_usec);
        if (state)
                fields_add(&fields, "HEADGATE_STATE=%s", state);
        add_time(&fields, vg, "HEADGATE_FIRST_SEEN_USEC", vg->first_seen_usec);
        add_time(&fields, vg, "HEADGATE_COMPLETE_USEC", vg->complete_usec);
        add_time(&fields, vg, "HEADGATE_ASKED_USEC", vg->activating_usec);
        add_time(&fields, vg, "HEADGATE_SETTLED_USEC", vg->settled_usec);
        report_line(level, message_id, &fields, message);
}

/* Logs a line about one device. Only the name of the VG may be known; the PV's identifier may be "". Takes
 * ownership of the message. */
static void report_device(int level, const char *message_id, const struct vg *vg, const char *pvid,
        const char *device_name, char *message)
{
        _cleanup_strv_ struct strv fields = {};

        if (vg->name)
                fields_add(&fields, "HEADGATE_VG=%s", vg->name);
        if (!isempty(vg->vgid))
                add_id(&fields, "HEADGATE_VG_UUID", vg->vgid);
        if (!isempty(pvid))
                add_id(&fields, "HEADGATE_PV_UUID", pvid);
        fields_add(&fields, "HEADGATE_DEVNAME=%s", device_name);
        report_line(level, message_id, &fields, message);
}

void report_seen(const struct vg_entry *group, const char *device_name)
{
        report_group(LOG_DEBUG, MESSAGE_VG_SEEN, group->vg, vg_state_to_string(group->state), 0,
                string_format("First of %zu PVs of VG %s appeared: %s.", group->vg->n_pvs, group->vg->name,
                        device_name));
}

#define GROUPS_IN_A_LINE (FIELDS_MAX / 2)

static void report_activating_some(struct vg_entry *const *groups, size_t n)
{
        /* All VGs of one vgchange are either complete or incomplete. */
        const char *without = vg_is_incomplete(groups[0]->vg) ? " without the missing PVs" : "";
        _cleanup_enumeration_ struct enumeration names = {};
        _cleanup_strv_ struct strv fields = {};

        FOREACH_ARRAY(group, groups, n) {
                fields_add(&fields, "HEADGATE_VG=%s", (*group)->vg->name);
                enumeration_add(&names, (*group)->vg->name);
        }
        fields_add(&fields, "HEADGATE_N_VGS=%zu", n);
        report_line(LOG_INFO, MESSAGE_VG_ACTIVATING, &fields,
                n == 1 ? string_format("Activating VG %s%s.", groups[0]->vg->name, without)
                       : string_format("Activating %zu VGs%s: %s.", n, without, names.text ?: "?"));
}

void report_activating(struct vg_entry *const *groups, size_t n)
{
        for (size_t i = 0; i < n; i += GROUPS_IN_A_LINE)
                report_activating_some(groups + i, MIN(n - i, (size_t) GROUPS_IN_A_LINE));
}

static char *describe(const struct vg *vg, enum vg_report report, uint64_t usec)
{
        const char *name = vg->name, *reason = vg->reason;
        struct vg_counts n = vg_count(vg);
        const char *time = DURATION_TO_STRING(usec);
        _cleanup_free_ char *missing = vg_describe_missing(vg);

        if (!missing)
                return NULL;
        switch (report) {
        case VG_SAY_COMPLETE:
                return string_format(
                        "VG %s is complete: %zu of %zu PVs seen within %s.", name, n.seen, vg->n_pvs, time);
        case VG_SAY_ACTIVE:
                return string_format("VG %s is active: %zu of %zu LVs, %s after it was complete%s%s", name,
                        n.active, n.autoactivated, time, reason ? "; " : ".", reason ?: "");
        case VG_SAY_SKIPPED:
                return string_format("VG %s is not activated: %s", name, reason ?: "excluded by lvm2.");
        case VG_SAY_FAILED:
                return string_format("VG %s failed, %zu of %zu LVs are active: %s", name, n.active,
                        n.autoactivated, reason ?: "lvm2 gave no reason.");
        case VG_SAY_REMOVED:
                return string_format("VG %s no longer exists: no PV belongs to it.", name);
        case VG_SAY_DEGRADED:
                if (n.missing == 0)
                        return string_format("VG %s is still degraded although all PVs are present: %s", name,
                                reason ?: "see lvmraid(7).");
                return string_format(
                        "VG %s is active degraded, as headgate.conf allows: %zu of %zu LVs, without %s%s%s", name,
                        n.active, n.autoactivated, missing, reason ? "; " : ".", reason ?: "");
        case VG_SAY_LOST:
                if (n.stranded > 0)
                        return string_format(
                                "VG %s has lost a PV, %zu of %zu are present; missing: %s; %zu LV%s still on removed disks.",
                                name, n.seen, vg->n_pvs, missing, n.stranded, n.stranded == 1 ? " is" : "s are");
                return string_format("VG %s has lost a PV, %zu of %zu are present; missing: %s.", name, n.seen,
                        vg->n_pvs, missing);
        case VG_SAY_OVERDUE:
                return string_format("VG %s is incomplete after %s, %zu of %zu PVs seen; missing: %s.", name, time,
                        n.seen, vg->n_pvs, missing);
        case VG_SAY_NOTHING_ACTIVATED:
                return string_format(
                        "No LV of VG %s can be activated without %s; %s", name, missing, reason ?: "");
        default:
                return NULL;
        }
}

void report_vg(const struct vg_entry *group, enum vg_report report)
{
        const struct vg *vg = group->vg;
        const struct {
                int level;
                const char *message_id;
                uint64_t from, to; /* of the duration in the line */
        } kinds[_VG_REPORT_MAX] = {
                [VG_SAY_COMPLETE] = {LOG_INFO, MESSAGE_VG_COMPLETE, vg->first_seen_usec, vg->complete_usec},
                [VG_SAY_ACTIVE] = {LOG_INFO, MESSAGE_VG_ACTIVATED, vg->complete_usec, vg->settled_usec},
                [VG_SAY_DEGRADED] = {LOG_WARNING, MESSAGE_VG_DEGRADED, vg->degraded_usec, vg->settled_usec},
                [VG_SAY_SKIPPED] = {LOG_NOTICE, MESSAGE_VG_SKIPPED, vg->complete_usec, vg->settled_usec},
                [VG_SAY_FAILED] = {LOG_ERR, MESSAGE_VG_FAILED, vg->complete_usec, vg->settled_usec},
                [VG_SAY_LOST] = {vg_count(vg).stranded > 0 ? LOG_WARNING : LOG_NOTICE, MESSAGE_VG_INCOMPLETE},
                [VG_SAY_OVERDUE] = {LOG_WARNING, MESSAGE_VG_OVERDUE, vg->first_seen_usec, now_usec()},
                [VG_SAY_NOTHING_ACTIVATED] = {LOG_WARNING, MESSAGE_VG_DEGRADED},
                [VG_SAY_REMOVED] = {LOG_INFO, MESSAGE_VG_REMOVED},
        };
        uint64_t usec = usec_between(kinds[report].from, kinds[report].to);

        report_group(kinds[report].level, kinds[report].message_id, vg, vg_state_to_string(group->state), usec,
                describe(vg, report, usec));
}

/* A single disk may cause any number of errors of lvm2. */
#define OUTPUT_LINES_MAX 64

void report_output(const struct vg *vg, const char *output)
{
        _cleanup_free_ char *copy = strdup(output);
        size_t n = 0;

        for (char *line, *rest = copy; n < OUTPUT_LINES_MAX && (line = strsep(&rest, "\n"));) {
                _cleanup_strv_ struct strv fields = {};

                if (!*line)
                        continue;
                n++;
                fields_add(&fields, "HEADGATE_VG=%s", vg->name);
                add_id(&fields, "HEADGATE_VG_UUID", vg->vgid);
                report_line(LOG_NOTICE, NULL, &fields, string_format("lvm2 on VG %s: %s", vg->name, line));
        }
}

void report_absent(const struct expectation *expectation, const struct vg *backup)
{
        /* Without a backup, only the name is known. */
        uint64_t usec = usec_between(expectation->since_usec, now_usec());
        _cleanup_free_ char *missing = backup ? vg_describe_missing(backup) : NULL;
        const char *time = DURATION_TO_STRING(usec);
        _cleanup_strv_ struct strv fields = {};

        if (backup) {
                report_group(LOG_WARNING, MESSAGE_VG_ABSENT, backup, NULL, usec,
                        string_format("VG %s is absent after %s; its backup lists %zu PV%s, missing: %s.",
                                expectation->name, time, backup->n_pvs, plural(backup->n_pvs), missing ?: "?"));
                return;
        }
        fields_add(&fields, "HEADGATE_VG=%s", expectation->name);
        fields_add(&fields, "HEADGATE_DURATION_USEC=%" PRIu64, usec);
        report_line(LOG_WARNING, MESSAGE_VG_ABSENT, &fields,
                string_format("VG %s is absent after %s; its PVs are unknown, as lvm2 has no backup.",
                        expectation->name, time));
}

void report_all_absent(const struct strv *names)
{
        _cleanup_enumeration_ struct enumeration enumeration = {};

        STRV_FOREACH(name, names)
                enumeration_add(&enumeration, *name);
        if (names->n > 0)
                log_info("%zu VG%s absent so far: %s (headgate why VG).", names->n,
                        names->n == 1 ? " is" : "s are", enumeration.text ?: "?");
}

void report_damaged(
        const char *device_name, const char *pvid, const char *vg_name, const char *reason, bool usable)
{
        const struct vg vg = {.name = !isempty(vg_name) ? (char *) vg_name : NULL};

        report_device(usable ? LOG_WARNING : LOG_ERR, MESSAGE_METADATA_DAMAGED, &vg, pvid, device_name,
                string_format("%s: invalid LVM %s%s%s: %s.%s", device_name, !isempty(pvid) ? "metadata" : "label",
                        vg.name ? " of VG " : "", vg_name, reason, usable ? " Using another copy." : ""));
}

void report_duplicate(const struct vg *vg, const char *pvid, const char *device_name, const char *duplicate_name)
{
        report_device(LOG_WARNING, MESSAGE_PV_DUPLICATE, vg, pvid, duplicate_name,
                string_format("PV %s of VG %s is duplicate, on %s and %s; ignoring the second one.",
                        LVM_ID_TO_STRING(pvid), vg->name, device_name, duplicate_name));
}

void report_late(const struct vg *vg, const struct vg_pv *pv)
{
        report_device(LOG_NOTICE, MESSAGE_PV_LATE, vg, pv->pvid, pv->device_name,
                string_format("PV %s of VG %s appeared as %s, %s after the degraded activation; RAIDs that "
                              "run without it stay as they are.",
                        LVM_ID_TO_STRING(pv->pvid), vg->name, pv->device_name,
                        DURATION_TO_STRING(usec_between(vg->degraded_usec, pv->late_usec))));
}

void report_outdated(const struct vg *vg, const char *pvid, const char *device_name)
{
        report_device(LOG_NOTICE, MESSAGE_METADATA_OUTDATED, vg, pvid, device_name,
                string_format("%s has outdated metadata of VG %s, which no longer lists it as a PV; ignoring it.",
                        device_name, vg->name));
}

void report_backup_unusable(const char *vg_name, int error)
{
        _cleanup_strv_ struct strv fields = {};

        fields_add(&fields, "HEADGATE_VG=%s", vg_name);
        fields_add(&fields, "ERRNO=%d", -error);
        report_line(LOG_WARNING, MESSAGE_BACKUP_UNUSABLE, &fields,
                string_format("VG %s: cannot read lvm2's metadata backup: %s", vg_name, strerror(-error)));
}

void report_timeline(const struct inventory *inventory, uint64_t *logged_usec)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_BOOT};

        FOREACH_GROUP(group, inventory)
                if ((group->vg->first.settled_usec ?: vg_since_usec(group->vg)) >= *logged_usec &&
                        timeline_add_vg(&timeline, group->vg) < 0)
                        return;
        timeline_finish_boot(&timeline);
        timeline_log(&timeline);
        /* The times of VGs are from that clock, which may stand still until the next step. */
        *logged_usec = inventory->now_usec;
}

void report_status(const struct inventory *inventory, const struct strv *absent)
{
        unsigned int n[_VG_STATUS_MAX], n_absent = absent_count(inventory, absent), n_all = n_absent;

        for (size_t i = 0; i < _VG_STATUS_MAX; i++) {
                n[i] = dm_list_size(&inventory->groups[i]);
                n_all += n[i];
        }
        (void) sd_notifyf(0,
                "STATUS=%u of %u VGs active, %u degraded, %u activating, %u waiting for PVs, %u skipped, %u failed, %u absent.",
                n[VG_STATUS_ACTIVE], n_all, n[VG_STATUS_DEGRADED], n[VG_STATUS_COMPLETE] + n[VG_STATUS_ACTIVATING],
                n[VG_STATUS_WAITING], n[VG_STATUS_SKIPPED], n[VG_STATUS_FAILED], n_absent);
}
