/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate status: one line per VG, made of what the worker has written down. */

#include <getopt.h>
#include <inttypes.h>
#include <time.h>

#include "cli/snapshot.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "lvm/configuration.h"
#include "shared/log.h"
#include "shared/util.h"

static struct table_options arg_table;

static void help(void)
{
        printf("Usage: headgate status [OPTION...] [VG...]\n\n"
               "Show which volume groups are up, and why others are not.\n\n"
               "      --json        Print JSON\n"
               "      --noheadings  Leave out the line of headings\n"
               "  -h, --help        Show this help\n\n"
               "Exit status: 0 if all are up, 1 if something is missing or has failed, 2 if headgate\n"
               "cannot tell.\n\n"
               "See headgate(8).\n");
}

/* Since when the VG is in its state, on the monotonic clock. */
static uint64_t since_usec(const struct volume_group *volume_group)
{
        switch (volume_group->state) {
        case VOLUME_GROUP_WAITING:
                return volume_group->first_seen_usec;
        case VOLUME_GROUP_COMPLETE:
                return volume_group->complete_usec;
        case VOLUME_GROUP_ACTIVATING:
                return volume_group->activating_usec;
        default:
                return volume_group->settled_usec;
        }
}

/* ------ columns: each makes its cell of a VG, NULL without memory ------ */

static char *format_name(const struct volume_group *volume_group)
{
        return strdup(volume_group->name);
}

static char *format_uuid(const struct volume_group *volume_group)
{
        char uuid[LVM_ID_FORMATTED_SIZE];

        lvm_id_format(volume_group->vgid, uuid);
        return strdup(uuid);
}

static char *format_state(const struct volume_group *volume_group)
{
        return strdup(volume_group_state_to_string(volume_group->state));
}

static char *format_pvs(const struct volume_group *volume_group)
{
        return string_format("%zu/%zu", volume_group_count_seen(volume_group), volume_group->n_pvs);
}

static char *format_pvs_seen(const struct volume_group *volume_group)
{
        return string_format("%zu", volume_group_count_seen(volume_group));
}

static char *format_pvs_needed(const struct volume_group *volume_group)
{
        return string_format("%zu", volume_group->n_pvs);
}

static char *format_lvs(const struct volume_group *volume_group)
{
        return string_format("%zu/%zu", volume_group_count_active(volume_group),
                volume_group_count_autoactivated(volume_group));
}

static char *format_lvs_active(const struct volume_group *volume_group)
{
        return string_format("%zu", volume_group_count_active(volume_group));
}

static char *format_lvs_needed(const struct volume_group *volume_group)
{
        return string_format("%zu", volume_group_count_autoactivated(volume_group));
}

static char *format_since(const struct volume_group *volume_group)
{
        uint64_t age = now_usec() - since_usec(volume_group);
        time_t when = time(NULL) - (time_t) (age / USEC_PER_SEC);
        struct tm local;
        char text[sizeof("2026-01-01 00:00:00")];

        if (!localtime_r(&when, &local) || strftime(text, sizeof(text), "%F %T", &local) == 0)
                return NULL;
        return strdup(text);
}

static char *format_since_usec(const struct volume_group *volume_group)
{
        return string_format("%" PRIu64, since_usec(volume_group));
}

/* From the first PV on; for a VG that is not settled, so far. */
static uint64_t took_usec(const struct volume_group *volume_group)
{
        uint64_t end = volume_group->settled_usec;

        if (!volume_group_is_settled(volume_group) || volume_group->state == VOLUME_GROUP_WAITING)
                end = now_usec();
        return end > volume_group->first_seen_usec ? end - volume_group->first_seen_usec : 0;
}

static char *format_took(const struct volume_group *volume_group)
{
        return format_duration(took_usec(volume_group));
}

static char *format_took_usec(const struct volume_group *volume_group)
{
        return string_format("%" PRIu64, took_usec(volume_group));
}

static char *format_reason(const struct volume_group *volume_group)
{
        size_t n_missing = volume_group->n_pvs - volume_group_count_seen(volume_group);

        if (volume_group->state == VOLUME_GROUP_WAITING)
                return string_format("%zu PV%s missing%s.", n_missing, n_missing == 1 ? "" : "s",
                        volume_group->overdue ? ", overdue" : "");
        return strdup(volume_group->reason ?: "");
}

struct column {
        const char *name;
        int flags;
        int json_type;
        char *(*format)(const struct volume_group *volume_group);
};

static const struct column table_columns[] = {
        {"VG", 0, 0, format_name},
        {"STATE", 0, 0, format_state},
        {"PVS", SCOLS_FL_RIGHT, 0, format_pvs},
        {"LVS", SCOLS_FL_RIGHT, 0, format_lvs},
        {"SINCE", 0, 0, format_since},
        {"TOOK", SCOLS_FL_RIGHT, 0, format_took},
        {"REASON", SCOLS_FL_WRAP, 0, format_reason},
};

/* For programs: numbers, not words. Times are microseconds of CLOCK_MONOTONIC. */
static const struct column json_columns[] = {
        {"vg", 0, SCOLS_JSON_STRING, format_name},
        {"uuid", 0, SCOLS_JSON_STRING, format_uuid},
        {"state", 0, SCOLS_JSON_STRING, format_state},
        {"pvs_seen", 0, SCOLS_JSON_NUMBER, format_pvs_seen},
        {"pvs_needed", 0, SCOLS_JSON_NUMBER, format_pvs_needed},
        {"lvs_active", 0, SCOLS_JSON_NUMBER, format_lvs_active},
        {"lvs_needed", 0, SCOLS_JSON_NUMBER, format_lvs_needed},
        {"since_usec", 0, SCOLS_JSON_NUMBER, format_since_usec},
        {"took_usec", 0, SCOLS_JSON_NUMBER, format_took_usec},
        {"reason", 0, SCOLS_JSON_STRING, format_reason},
};

/* ------ the table ------ */

struct status_table {
        struct libscols_table *table;
        const struct column *columns;
        size_t n_columns;
};

static void status_table_done(struct status_table *table)
{
        scols_unref_table(table->table);
}

static int status_table_init(struct status_table *ret)
{
        *ret = (struct status_table){
                .table = table_new(&arg_table, "volumegroups"),
                .columns = arg_table.json ? json_columns : table_columns,
                .n_columns = arg_table.json ? ELEMENTSOF(json_columns) : ELEMENTSOF(table_columns),
        };
        int r = ret->table ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < ret->n_columns; i++) {
                const struct column *column = &ret->columns[i];

                r = table_add_column(ret->table, column->name, column->flags, column->json_type, NULL);
        }
        return r;
}

static int status_table_add(struct status_table *table, const struct volume_group *volume_group)
{
        struct libscols_line *line = scols_table_new_line(table->table, NULL);
        int r = line ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < table->n_columns; i++)
                r = table_set_cell(line, i, table->columns[i].format(volume_group));
        return r;
}

/* A VG that lvm2 is not to activate is as it should be. */
static bool is_up(const struct volume_group *volume_group)
{
        return volume_group->state == VOLUME_GROUP_ACTIVE || volume_group->state == VOLUME_GROUP_SKIPPED;
}

static int show(const struct snapshot *snapshot, char *const names[], size_t n_names)
{
        _cleanup_(status_table_done) struct status_table table = {};
        int r, result = EXIT_ALL_UP;

        r = status_table_init(&table);
        for (size_t i = 0; r >= 0 && n_names == 0 && i < snapshot->n; i++) {
                r = status_table_add(&table, snapshot->volume_groups[i]);
                if (!is_up(snapshot->volume_groups[i]))
                        result = EXIT_NOT_ALL_UP;
        }
        for (size_t i = 0; r >= 0 && i < n_names; i++) {
                const struct volume_group *volume_group = snapshot_find(snapshot, names[i]);

                if (volume_group)
                        r = status_table_add(&table, volume_group);
                else
                        explain_absent(names[i]);
                if (!volume_group || !is_up(volume_group))
                        result = EXIT_NOT_ALL_UP;
        }
        if (r >= 0)
                r = scols_print_table(table.table);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to print the table: %m");
                return EXIT_CANNOT_TELL;
        }
        return result;
}

int verb_status(int argc, char *argv[])
{
        _cleanup_snapshot_ struct snapshot snapshot = {};
        _cleanup_close_ int run_fd = -EBADF;
        int r;

        r = table_parse_options(argc, argv, help, &arg_table);
        if (r <= 0)
                return -r;

        run_fd = open_run_directory_in_charge();
        if (run_fd < 0)
                return EXIT_CANNOT_TELL;
        if (!configuration_event_activation())
                log_notice("event_activation=0 in lvm.conf: nothing is activated by itself.");

        r = snapshot_read(run_fd, &snapshot);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to read what the worker has written down: %m");
                return EXIT_CANNOT_TELL;
        }
        return show(&snapshot, argv + optind, (size_t) (argc - optind));
}
