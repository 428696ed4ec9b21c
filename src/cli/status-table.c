/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/status-table.h"

#include <inttypes.h>

#include "shared/util.h"

/* A line of the table. What is not known is COLUMN_UNKNOWN. */
struct line {
        const struct volume_group *volume_group;
        const char *state;
        char uuid_buffer[LVM_ID_FORMATTED_SIZE];
        const char *name, *uuid;
        uint64_t pvs_seen, pvs_needed, lvs_active, lvs_needed;
        uint64_t since, since_usec, first, first_usec, took_usec;
};

/* ------ what the fields do not hold ------ */

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

static char *get_pvs(const void *data)
{
        const struct line *line = data;

        if (line->pvs_needed == COLUMN_UNKNOWN)
                return strdup("");
        return string_format("%" PRIu64 "/%" PRIu64, line->pvs_seen, line->pvs_needed);
}

static char *get_lvs(const void *data)
{
        const struct line *line = data;

        if (line->lvs_needed == COLUMN_UNKNOWN)
                return string_format("%" PRIu64 "/?", line->lvs_active);
        return string_format("%" PRIu64 "/%" PRIu64, line->lvs_active, line->lvs_needed);
}

static char *get_reason(const void *line)
{
        const struct volume_group *volume_group = ((const struct line *) line)->volume_group;
        size_t n_missing = volume_group->n_pvs - volume_group_count_seen(volume_group);

        if (volume_group->state == VOLUME_GROUP_WAITING) {
                size_t n_stranded = volume_group_count_stranded(volume_group);
                _cleanup_free_ char *stranded = NULL;

                if (n_stranded > 0)
                        stranded = string_format("; %zu LV%s still on what has gone", n_stranded,
                                n_stranded == 1 ? " is" : "s are");
                return string_format("%zu PV%s missing%s%s.", n_missing, plural(n_missing),
                        volume_group->overdue ? ", overdue" : "", stranded ?: "");
        }
        if (volume_group->state == VOLUME_GROUP_DEGRADED && n_missing > 0)
                return string_format("%zu PV%s missing%s%s", n_missing, plural(n_missing),
                        volume_group->reason ? "; " : ".", volume_group->reason ?: "");
        return strdup(volume_group->reason ?: "");
}

static const char *color_of(const void *line)
{
        const struct volume_group *volume_group = ((const struct line *) line)->volume_group;

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

#define FIELD(field) COLUMN_FIELD(struct line, field)

static const struct column columns[] = {
        {"VG", "name of the volume group", COLUMN_ALWAYS, COLUMN_STRING, FIELD(name)},
        {"UUID", "its UUID", COLUMN_IN_JSON, COLUMN_STRING, FIELD(uuid)},
        {"STATE",
                "waiting, complete, activating, active, degraded, skipped, failed, deactivated, absent or unknown",
                COLUMN_ALWAYS, COLUMN_STRING, FIELD(state), .color = color_of},
        {"PVS", "physical volumes, seen/needed", COLUMN_IN_TABLE, COLUMN_STRING, .text = get_pvs,
                .flags = SCOLS_FL_RIGHT},
        {"PVS-SEEN", "physical volumes that were seen", COLUMN_IN_JSON, COLUMN_NUMBER, FIELD(pvs_seen)},
        {"PVS-NEEDED", "physical volumes that it has", COLUMN_IN_JSON, COLUMN_NUMBER, FIELD(pvs_needed)},
        {"LVS", "logical volumes, active/to be activated", COLUMN_IN_TABLE, COLUMN_STRING, .text = get_lvs,
                .flags = SCOLS_FL_RIGHT},
        {"LVS-ACTIVE", "logical volumes that are active", COLUMN_IN_JSON, COLUMN_NUMBER, FIELD(lvs_active)},
        {"LVS-NEEDED", "logical volumes that lvm2 activates by itself", COLUMN_IN_JSON, COLUMN_NUMBER,
                FIELD(lvs_needed)},
        {"SINCE", "since when it is in this state", COLUMN_IN_TABLE, COLUMN_DATE, FIELD(since)},
        {"SINCE-USEC", "the same, in microseconds of the machine's monotonic clock", COLUMN_IN_JSON, COLUMN_NUMBER,
                FIELD(since_usec)},
        {"FIRST", "when it was active first since the machine started", 0, COLUMN_DATE, FIELD(first)},
        {"FIRST-USEC", "the same, in microseconds of the machine's monotonic clock", COLUMN_IN_JSON, COLUMN_NUMBER,
                FIELD(first_usec)},
        COLUMNS_OF_TIME("TOOK", "from its first physical volume to its first activation, or until now",
                COLUMN_DURATION, FIELD(took_usec)),
        {"REASON", "why it is not active", COLUMN_ALWAYS, COLUMN_STRING, .text = get_reason,
                .flags = SCOLS_FL_WRAP},
};

static const struct table_kind kind = {"volumegroups", columns, ELEMENTSOF(columns)};

struct table_verb status_table_verb(void (*help)(void))
{
        return (struct table_verb){&kind, .help = help};
}

/* ------ lines ------ */

static uint64_t known_or_not(uint64_t number, bool known)
{
        return known ? number : COLUMN_UNKNOWN;
}

/* As a date. */
static uint64_t date_of(const struct volume_group *volume_group, uint64_t usec)
{
        return known_or_not((uint64_t) volume_group_to_realtime(volume_group, usec), usec > 0);
}

static int add_line(struct table *table, const struct volume_group *volume_group)
{
        /* Whether its metadata have been read, so that it is known what it is made of. */
        bool has_metadata = volume_group->n_pvs > 0;
        uint64_t since_usec = volume_group_since_usec(volume_group), first_usec = volume_group->first.settled_usec;
        struct line line = {
                .volume_group = volume_group,
                .name = volume_group->name,
                .uuid = line.uuid_buffer,
                .state = volume_group_state_to_string(volume_group->state),
                .pvs_seen = known_or_not(volume_group_count_seen(volume_group), has_metadata),
                .pvs_needed = known_or_not(volume_group->n_pvs, has_metadata),
                .lvs_active = volume_group_count_active(volume_group),
                .lvs_needed = known_or_not(volume_group_count_autoactivated(volume_group), has_metadata),
                .since = date_of(volume_group, since_usec),
                .since_usec = known_or_not(since_usec, since_usec > 0),
                .first = date_of(volume_group, first_usec),
                .first_usec = known_or_not(first_usec, first_usec > 0),
                .took_usec = known_or_not(took_usec(volume_group), volume_group->first_seen_usec > 0),
        };

        if (*volume_group->vgid != '\0')
                lvm_id_format(volume_group->vgid, line.uuid_buffer);
        return table_add_line(table, NULL, &line, NULL);
}

int status_table_print(
        const struct volume_group *const volume_groups[], size_t n, const struct table_options *options)
{
        _cleanup_table_ struct table table = {};
        int r;

        r = table_new(options, &table);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = add_line(&table, volume_groups[i]);
        return r < 0 ? r : table_print(&table);
}
