/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate status: one line per VG, made of what the worker has written down. */

#include <getopt.h>
#include <libsmartcols.h>
#include <time.h>

#include "cli/snapshot.h"
#include "cli/verbs.h"
#include "lvm/configuration.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"

static bool arg_json;
static bool arg_no_headings;

DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

enum {
        COLUMN_VG,
        COLUMN_STATE,
        COLUMN_PVS,
        COLUMN_LVS,
        COLUMN_SINCE,
        COLUMN_TOOK,
        COLUMN_REASON,
};

static const struct {
        const char *name;
        int flags;
} columns[] = {
        [COLUMN_VG] = {"VG", 0},
        [COLUMN_STATE] = {"STATE", 0},
        [COLUMN_PVS] = {"PVS", SCOLS_FL_RIGHT},
        [COLUMN_LVS] = {"LVS", SCOLS_FL_RIGHT},
        [COLUMN_SINCE] = {"SINCE", 0},
        [COLUMN_TOOK] = {"TOOK", SCOLS_FL_RIGHT},
        [COLUMN_REASON] = {"REASON", SCOLS_FL_WRAP},
};

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

/* From the first PV on; for a VG that is not settled, so far. */
static char *format_took(const struct volume_group *volume_group)
{
        uint64_t end = volume_group->settled_usec;

        if (!volume_group_is_settled(volume_group) || volume_group->state == VOLUME_GROUP_WAITING)
                end = now_usec();
        return format_duration(end > volume_group->first_seen_usec ? end - volume_group->first_seen_usec : 0);
}

static char *format_reason(const struct volume_group *volume_group)
{
        size_t n_missing = volume_group->n_pvs - volume_group_count_seen(volume_group);

        if (volume_group->state == VOLUME_GROUP_WAITING)
                return string_format("%zu PV%s missing%s", n_missing, n_missing == 1 ? "" : "s",
                        volume_group->overdue ? ", overdue" : "");
        return strdup(volume_group->reason ?: "");
}

/* libsmartcols takes the string over. */
static int set_cell(struct libscols_line *line, size_t column, char *text)
{
        int r;

        if (!text)
                return -ENOMEM;
        r = scols_line_refer_data(line, column, text);
        if (r < 0)
                free(text);
        return r;
}

static int add_line(struct libscols_table *table, const struct volume_group *volume_group)
{
        struct libscols_line *line = scols_table_new_line(table, NULL);
        int r;

        if (!line)
                return -ENOMEM;
        r = set_cell(line, COLUMN_VG, strdup(volume_group->name));
        if (r >= 0)
                r = set_cell(line, COLUMN_STATE, strdup(volume_group_state_to_string(volume_group->state)));
        if (r >= 0)
                r = set_cell(line, COLUMN_PVS,
                        string_format("%zu/%zu", volume_group_count_seen(volume_group), volume_group->n_pvs));
        if (r >= 0)
                r = set_cell(line, COLUMN_LVS,
                        string_format("%zu/%zu", volume_group_count_active(volume_group),
                                volume_group_count_autoactivated(volume_group)));
        if (r >= 0)
                r = set_cell(line, COLUMN_SINCE, format_since(volume_group));
        if (r >= 0)
                r = set_cell(line, COLUMN_TOOK, format_took(volume_group));
        if (r >= 0)
                r = set_cell(line, COLUMN_REASON, format_reason(volume_group));
        return r;
}

static int make_table(struct libscols_table **ret)
{
        _cleanup_(scols_unref_tablep) struct libscols_table *table = scols_new_table();

        if (!table)
                return -ENOMEM;
        for (size_t i = 0; i < ELEMENTSOF(columns); i++)
                if (!scols_table_new_column(table, columns[i].name, 0.1, columns[i].flags))
                        return -ENOMEM;
        if (scols_table_set_name(table, "volumegroups") < 0)
                return -ENOMEM;
        scols_table_enable_json(table, arg_json);
        scols_table_enable_noheadings(table, arg_no_headings);
        *ret = TAKE_PTR(table);
        return 0;
}

/* A VG that lvm2 is not to activate is as it should be. */
static bool is_up(const struct volume_group *volume_group)
{
        return volume_group->state == VOLUME_GROUP_ACTIVE || volume_group->state == VOLUME_GROUP_SKIPPED;
}

static int show(const struct snapshot *snapshot, char *const names[], size_t n_names)
{
        _cleanup_(scols_unref_tablep) struct libscols_table *table = NULL;
        int r, result = EXIT_ALL_UP;

        r = make_table(&table);
        for (size_t i = 0; r >= 0 && n_names == 0 && i < snapshot->n; i++) {
                r = add_line(table, snapshot->volume_groups[i]);
                if (!is_up(snapshot->volume_groups[i]))
                        result = EXIT_NOT_ALL_UP;
        }
        for (size_t i = 0; r >= 0 && i < n_names; i++) {
                const struct volume_group *volume_group = snapshot_find(snapshot, names[i]);

                if (volume_group)
                        r = add_line(table, volume_group);
                else
                        explain_absent(names[i]);
                if (!volume_group || !is_up(volume_group))
                        result = EXIT_NOT_ALL_UP;
        }
        if (r >= 0)
                r = scols_print_table(table);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to print the table: %m");
                return EXIT_CANNOT_TELL;
        }
        return result;
}

/* 1 to go on, or an exit status below that, negated. */
static int parse_arguments(int argc, char *argv[])
{
        enum {
                OPTION_JSON = 256,
                OPTION_NO_HEADINGS,
        };
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"json", no_argument, NULL, OPTION_JSON},
                {"noheadings", no_argument, NULL, OPTION_NO_HEADINGS},
                {},
        };

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help();
                        return -EXIT_SUCCESS;
                case OPTION_JSON:
                        arg_json = true;
                        break;
                case OPTION_NO_HEADINGS:
                        arg_no_headings = true;
                        break;
                default:
                        return -EXIT_CANNOT_TELL;
                }
        return 1;
}

int verb_status(int argc, char *argv[])
{
        _cleanup_snapshot_ struct snapshot snapshot = {};
        _cleanup_close_ int run_fd = -EBADF;
        int r;

        r = parse_arguments(argc, argv);
        if (r <= 0)
                return -r;

        run_fd = flags_open_run_directory();
        r = run_fd < 0 ? run_fd : flags_is_set(run_fd, FLAGS_TAKEN_OVER);
        if (r < 0 && r != -ENOENT) {
                (void) log_error_errno(r, "Failed to look into /run/headgate: %m");
                return EXIT_CANNOT_TELL;
        }
        if (r <= 0) {
                log_error("headgate is not in charge, lvm2's own udev rule is (see headgate-takeover(8)).");
                return EXIT_CANNOT_TELL;
        }
        if (!configuration_event_activation())
                log_notice("event_activation=0 in lvm.conf: nothing is activated by itself.");

        r = snapshot_read(run_fd, &snapshot);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to read what the worker has written down: %m");
                return EXIT_CANNOT_TELL;
        }
        return show(&snapshot, argv + optind, (size_t) (argc - optind));
}
