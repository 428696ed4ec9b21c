/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/status-table.h"

#include <inttypes.h>

#include "shared/util.h"

/* Whether its metadata have been read, so that it is known what it is made of. */
static bool has_metadata(const struct volume_group *volume_group)
{
        return volume_group->n_pvs > 0;
}

/* ------ columns: each makes its cell of a VG, empty for what is not known, NULL without memory ------ */

static char *format_name(const void *line)
{
        const struct volume_group *volume_group = line;

        return strdup(volume_group->name);
}

static char *format_uuid(const void *line)
{
        const struct volume_group *volume_group = line;
        char uuid[LVM_ID_FORMATTED_SIZE] = "";

        if (*volume_group->vgid != '\0')
                lvm_id_format(volume_group->vgid, uuid);
        return strdup(uuid);
}

static char *format_state(const void *line)
{
        const struct volume_group *volume_group = line;

        return strdup(volume_group_state_to_string(volume_group->state));
}

static char *format_pvs(const void *line)
{
        const struct volume_group *volume_group = line;

        if (!has_metadata(volume_group))
                return strdup("");
        return string_format("%zu/%zu", volume_group_count_seen(volume_group), volume_group->n_pvs);
}

static char *format_pvs_seen(const void *line)
{
        const struct volume_group *volume_group = line;

        if (!has_metadata(volume_group))
                return strdup("");
        return string_format("%zu", volume_group_count_seen(volume_group));
}

static char *format_pvs_needed(const void *line)
{
        const struct volume_group *volume_group = line;

        if (!has_metadata(volume_group))
                return strdup("");
        return string_format("%zu", volume_group->n_pvs);
}

static char *format_lvs(const void *line)
{
        const struct volume_group *volume_group = line;

        if (!has_metadata(volume_group))
                return string_format("%zu/?", volume_group_count_active(volume_group));
        return string_format("%zu/%zu", volume_group_count_active(volume_group),
                volume_group_count_autoactivated(volume_group));
}

static char *format_lvs_active(const void *line)
{
        const struct volume_group *volume_group = line;

        return string_format("%zu", volume_group_count_active(volume_group));
}

static char *format_lvs_needed(const void *line)
{
        const struct volume_group *volume_group = line;

        if (!has_metadata(volume_group))
                return strdup("");
        return string_format("%zu", volume_group_count_autoactivated(volume_group));
}

static char *format_date(const struct volume_group *volume_group, uint64_t usec)
{
        return usec == 0 ? strdup("") : format_local_time(volume_group_to_realtime(volume_group, usec));
}

static char *format_since(const void *line)
{
        const struct volume_group *volume_group = line;

        return format_date(volume_group, volume_group_since_usec(volume_group));
}

static char *format_first(const void *line)
{
        const struct volume_group *volume_group = line;

        return format_date(volume_group, volume_group->first.settled_usec);
}

static char *format_first_usec(const void *line)
{
        const struct volume_group *volume_group = line;

        if (volume_group->first.settled_usec == 0)
                return strdup("");
        return string_format("%" PRIu64, volume_group->first.settled_usec);
}

static char *format_since_usec(const void *line)
{
        const struct volume_group *volume_group = line;

        if (volume_group_since_usec(volume_group) == 0)
                return strdup("");
        return string_format("%" PRIu64, volume_group_since_usec(volume_group));
}

/* From the first PV on; for a VG that was never active and is not settled, so far. */
static uint64_t took_usec(const struct volume_group *volume_group)
{
        struct volume_group_times times = volume_group_first_times(volume_group);
        uint64_t end = times.settled_usec;

        if (volume_group->first.settled_usec == 0 &&
                (!volume_group_is_settled(volume_group) || volume_group->state == VOLUME_GROUP_WAITING))
                end = now_usec();
        return end > times.first_seen_usec ? end - times.first_seen_usec : 0;
}

static char *format_took(const void *line)
{
        const struct volume_group *volume_group = line;

        if (volume_group->first_seen_usec == 0)
                return strdup("");
        return format_duration(took_usec(volume_group));
}

static char *format_took_usec(const void *line)
{
        const struct volume_group *volume_group = line;

        if (volume_group->first_seen_usec == 0)
                return strdup("");
        return string_format("%" PRIu64, took_usec(volume_group));
}

static char *format_reason(const void *line)
{
        const struct volume_group *volume_group = line;
        size_t n_missing = volume_group->n_pvs - volume_group_count_seen(volume_group);

        if (volume_group->state == VOLUME_GROUP_WAITING) {
                size_t n_stranded = volume_group_count_stranded(volume_group);
                _cleanup_free_ char *stranded = NULL;

                if (n_stranded > 0)
                        stranded = string_format("; %zu LV%s still on what has gone", n_stranded,
                                n_stranded == 1 ? " is" : "s are");
                return string_format("%zu PV%s missing%s%s.", n_missing, n_missing == 1 ? "" : "s",
                        volume_group->overdue ? ", overdue" : "", stranded ?: "");
        }
        if (volume_group->state == VOLUME_GROUP_DEGRADED && n_missing > 0)
                return string_format("%zu PV%s missing%s%s", n_missing, n_missing == 1 ? "" : "s",
                        volume_group->reason ? "; " : ".", volume_group->reason ?: "");
        return strdup(volume_group->reason ?: "");
}

static const char *color_of(const void *line)
{
        const struct volume_group *volume_group = line;

        switch (volume_group->state) {
        case VOLUME_GROUP_ACTIVE:
                return "green";
        case VOLUME_GROUP_DEGRADED:
                return "yellow";
        case VOLUME_GROUP_WAITING:
        case VOLUME_GROUP_COMPLETE:
        case VOLUME_GROUP_ACTIVATING:
                return volume_group->overdue ? "red" : "yellow";
        case VOLUME_GROUP_FAILED:
        case VOLUME_GROUP_ABSENT:
                return "red";
        default:
                return NULL;
        }
}

static const struct column columns[] = {
        {"VG", "name of the volume group", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_name},
        {"UUID", "its UUID", COLUMN_IN_JSON, 0, SCOLS_JSON_STRING, format_uuid},
        {"STATE",
                "waiting, complete, activating, active, degraded, skipped, failed, deactivated, absent or unknown",
                COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_state, .color = color_of},
        {"PVS", "physical volumes, seen/needed", COLUMN_IN_TABLE, SCOLS_FL_RIGHT, SCOLS_JSON_STRING, format_pvs},
        {"PVS-SEEN", "physical volumes that were seen", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_pvs_seen},
        {"PVS-NEEDED", "physical volumes that it has", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_pvs_needed},
        {"LVS", "logical volumes, active/to be activated", COLUMN_IN_TABLE, SCOLS_FL_RIGHT, SCOLS_JSON_STRING,
                format_lvs},
        {"LVS-ACTIVE", "logical volumes that are active", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_lvs_active},
        {"LVS-NEEDED", "logical volumes that lvm2 activates by itself", COLUMN_IN_JSON, SCOLS_FL_RIGHT,
                SCOLS_JSON_NUMBER, format_lvs_needed},
        {"SINCE", "since when it is in this state", COLUMN_IN_TABLE, 0, SCOLS_JSON_STRING, format_since},
        {"SINCE-USEC", "the same, in microseconds of the machine's monotonic clock", COLUMN_IN_JSON,
                SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER, format_since_usec},
        {"FIRST", "when it was active first since the machine started", 0, 0, SCOLS_JSON_STRING, format_first},
        {"FIRST-USEC", "the same, in microseconds of the machine's monotonic clock", COLUMN_IN_JSON,
                SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER, format_first_usec},
        {"TOOK", "from its first physical volume to its first activation, or until now", COLUMN_IN_TABLE,
                SCOLS_FL_RIGHT, SCOLS_JSON_STRING, format_took},
        {"TOOK-USEC", "the same, in microseconds", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_took_usec},
        {"REASON", "why it is not active", COLUMN_ALWAYS, SCOLS_FL_WRAP, SCOLS_JSON_STRING, format_reason},
};

struct table_verb status_table_verb(void (*help)(void))
{
        return (struct table_verb){
                .help = help, .lines = "volumegroups", .columns = columns, .n_columns = ELEMENTSOF(columns)};
}

int status_table_print(const struct volume_group *const volume_groups[], size_t n, const struct table_verb *verb,
        const struct table_options *options)
{
        _cleanup_table_ struct table table = {};
        int r;

        r = table_new(verb, options, &table);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = table_add_line(&table, NULL, volume_groups[i], NULL);
        return r < 0 ? r : table_print(&table);
}
