/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate status: prints one line per VG, from the worker's records and other sources. With --follow, it reads all VGs again
 * whenever something may have changed. */

#include "cli/status.h"

#include <fcntl.h>
#include <inttypes.h>

#include "cli/verb.h"
#include "report/openmetrics.h"
#include "shared/log.h"
#include "shared/util.h"
#include "view/snapshot.h"
#include "view/watch.h"

static bool arg_all;
static bool arg_follow;
static bool arg_metrics;
static const char *arg_output_file;
static bool arg_problems;

/* ------ the table ------ */

/* Duration from the first PV to the first activation; or until now if the VG was never settled. */
static uint64_t took_usec(const struct vg *vg)
{
        struct vg_times times = vg_first_times(vg);
        uint64_t end = times.settled_usec;

        if (vg->first.settled_usec == 0 && (!vg_is_settled(vg) || vg->status == VG_STATUS_WAITING))
                end = now_usec();
        return usec_between(times.first_seen_usec, end);
}

/* NULL without memory. */
static char *describe_reason(const struct vg *vg)
{
        struct vg_counts n = vg_count(vg);
        const char *reason = vg->reason ?: "", *overdue = vg->overdue ? ", overdue" : "";

        if (vg->status == VG_STATUS_WAITING && n.stranded > 0)
                return string_format("%zu PV%s missing%s; %zu LV%s still on removed disks.", n.missing,
                        plural(n.missing), overdue, n.stranded, n.stranded == 1 ? " is" : "s are");
        if (vg->status == VG_STATUS_WAITING)
                return string_format("%zu PV%s missing%s%s.", n.missing, plural(n.missing), overdue,
                        n.all_active ? "; all LVs are active" : "");
        if (vg->status == VG_STATUS_DEGRADED && n.missing > 0)
                return string_format("%zu PV%s missing%s%s", n.missing, plural(n.missing),
                        *reason != '\0' ? "; " : ".", reason);
        return strdup(reason);
}

/* The first columns are for --follow only. */
#define FOLLOW_COLUMNS_N 3
static const struct column columns[] = {
        COLUMN("TIME", IN_TABLE, MOMENT, time_usec, "time at which the line was printed, since boot"),
        COLUMN("TIME-USEC", IN_JSON, NUMBER, time_usec,
                "the same, in microseconds of the machine's monotonic clock"),
        COLUMN("EVENT", ALWAYS, STRING, event, "status in the first lines, later change or removed"),
        COLUMN("VG", ALWAYS, STRING, name, "name of the volume group"),
        COLUMN("UUID", IN_JSON, CHARS, uuid, "its UUID"),
        COLUMN("STATE", ALWAYS, STRING, state,
                "waiting, complete, activating, active, degraded, skipped, failed, deactivated, absent or unknown",
                .colored = true),
        COLUMN("PVS", IN_TABLE, CHARS, pvs, "physical volumes, seen/needed", .flags = SCOLS_FL_RIGHT),
        COLUMN("PVS-SEEN", IN_JSON, NUMBER, pvs_seen, "physical volumes that were seen"),
        COLUMN("PVS-NEEDED", IN_JSON, NUMBER, pvs_needed, "physical volumes that it has"),
        COLUMN("MISSING-PVS", IN_JSON, LIST, missing_pvs, "UUIDs of the physical volumes that are missing",
                .flags = SCOLS_FL_WRAP),
        COLUMN("LVS", IN_TABLE, CHARS, lvs, "logical volumes, active/needed", .flags = SCOLS_FL_RIGHT),
        COLUMN("LVS-ACTIVE", IN_JSON, NUMBER, lvs_active, "logical volumes that are active"),
        COLUMN("LVS-NEEDED", IN_JSON, NUMBER, lvs_needed, "logical volumes with autoactivation enabled"),
        COLUMN("SINCE", ALWAYS, DATE, since, "time of the last change of its state"),
        COLUMN("SINCE-USEC", IN_JSON, NUMBER, since_usec,
                "the same, in microseconds of the machine's monotonic clock"),
        COLUMN("FIRST", IN_JSON, DATE, first, "time of its first activation since boot"),
        COLUMN("FIRST-USEC", IN_JSON, NUMBER, first_usec,
                "the same, in microseconds of the machine's monotonic clock"),
        COLUMNS_OF_TIME("TOOK", DURATION, took_usec,
                "time from its first physical volume to its first activation, or until now"),
        COLUMN("OVERDUE", IN_JSON, BOOL, overdue, "whether its deadline has passed", .no = "no", .yes = "yes"),
        COLUMN("IN-CHARGE", IN_JSON, BOOL, in_charge, "whether headgate is in charge of activation", .no = "no",
                .yes = "yes"),
        COLUMN("REASON", ALWAYS, STRING, reason, "why it is not active", .flags = SCOLS_FL_WRAP, .below = true),
};

static const struct table_kind *choose_table(void)
{
        static const struct table_kind followed = {"volumegroups", columns, ELEMENTSOF(columns)},
                                       now = {"volumegroups", columns + FOLLOW_COLUMNS_N,
                                               ELEMENTSOF(columns) - FOLLOW_COLUMNS_N};

        return arg_follow ? &followed : &now;
}

static uint64_t known_or_not(uint64_t number, bool known)
{
        return known ? number : COLUMN_UNKNOWN;
}

/* As a date. */
static uint64_t date_of(const struct vg *vg, uint64_t usec)
{
        return known_or_not((uint64_t) vg_to_realtime(vg, usec), usec > 0);
}

static int add_line(struct lines *lines, const struct vg *vg, bool in_charge)
{
        static const char *const colors[_VG_STATUS_MAX] = {
                [VG_STATUS_ACTIVE] = "green",
                [VG_STATUS_DEGRADED] = "yellow",
                [VG_STATUS_WAITING... VG_STATUS_ACTIVATING] = "yellow",
                [VG_STATUS_FAILED] = "red",
                [VG_STATUS_ABSENT] = "red",
        };
        /* If the metadata was read, its PVs and LVs are known. */
        bool has_metadata = vg->n_pvs > 0;
        struct vg_counts n = vg_count(vg);
        uint64_t since_usec = vg_since_usec(vg), first_usec = vg->first.settled_usec;
        bool overdue = vg->overdue && vg->status <= VG_STATUS_ACTIVATING;
        struct line *line;

        if (!GREEDY_REALLOC(lines->lines, lines->n + 1))
                return -ENOMEM;
        line = &lines->lines[lines->n++];
        *line = (struct line){
                .event = "status",
                .color = overdue ? "red" : colors[vg->status],
                .name = strdup(vg->name),
                .state = vg_status_to_string(vg->status),
                .pvs_seen = known_or_not(n.seen, has_metadata),
                .pvs_needed = known_or_not(vg->n_pvs, has_metadata),
                .lvs_active = n.active,
                .lvs_needed = known_or_not(n.autoactivated, has_metadata),
                .since = date_of(vg, since_usec),
                .since_usec = known_or_not(since_usec, since_usec > 0),
                .first = date_of(vg, first_usec),
                .first_usec = known_or_not(first_usec, first_usec > 0),
                .took_usec = known_or_not(took_usec(vg), vg->first_seen_usec > 0),
                .overdue = overdue,
                .in_charge = in_charge,
                .reason = describe_reason(vg),
        };

        if (*vg->vgid != '\0')
                lvm_id_format(vg->vgid, line->uuid);
        (void) snprintf(line->lvs, sizeof(line->lvs), "%" PRIu64 "/?", line->lvs_active);
        if (has_metadata) {
                (void) snprintf(
                        line->pvs, sizeof(line->pvs), "%" PRIu64 "/%" PRIu64, line->pvs_seen, line->pvs_needed);
                (void) snprintf(
                        line->lvs, sizeof(line->lvs), "%" PRIu64 "/%" PRIu64, line->lvs_active, line->lvs_needed);
        }
        FOREACH_PV(pv, vg)
                if (pv->device == 0 && strv_add(&line->missing_pvs, LVM_ID_TO_STRING(pv->pvid)) < 0)
                        return -ENOMEM;
        return line->name && line->reason ? 0 : -ENOMEM;
}

void lines_done(struct lines *lines)
{
        FOREACH_ARRAY(line, lines->lines, lines->n) {
                free(line->name);
                strv_done(&line->missing_pvs);
                free(line->reason);
        }
        free(lines->lines);
}

/* Adds lines with an event. */
static void table_add_lines(struct table *table, struct lines *lines)
{
        FOREACH_ARRAY(line, lines->lines, lines->n) {
                line->time_usec = now_usec();
                if (line->event)
                        table_add_line(table, NULL, line);
        }
}

/* The name of a VG may be known before its UUID. */
static int compare_vgs(const void *a, const void *b)
{
        const struct line *first = a, *second = b;
        bool comparable = *first->uuid != '\0' && *second->uuid != '\0';

        return strcmp(first->name, second->name) ?: (comparable ? strcmp(first->uuid, second->uuid) : 0);
}

/* A VG that was activated again between two looks differs only in SINCE. */
static bool line_differs(const struct line *a, const struct line *b)
{
        return !streq(a->state, b->state) || !streq(a->pvs, b->pvs) || !streq(a->lvs, b->lvs) ||
               a->since_usec != b->since_usec || !streq(a->reason, b->reason);
}

void lines_compare(struct lines *before, struct lines *after)
{
        size_t i = 0, j = 0;

        SORT(before->lines, before->n, compare_vgs);
        SORT(after->lines, after->n, compare_vgs);
        while (i < before->n || j < after->n) {
                struct line *old = i < before->n ? &before->lines[i] : NULL;
                struct line *new = j < after->n ? &after->lines[j] : NULL;
                int order = !old ? 1 : !new ? -1 : compare_vgs(old, new);

                if (order <= 0) {
                        old->event = order < 0 ? "removed" : NULL;
                        i++;
                }
                if (order >= 0) {
                        new->event = order > 0 || line_differs(old, new) ? "change" : NULL;
                        j++;
                }
        }
}

char *lines_summarize(const struct lines *lines)
{
        size_t n_active = lines->n_in_state[VG_STATUS_ACTIVE], n = 0;
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        const char *separator = ";";

        if (!file)
                return NULL;
        FOREACH_ARRAY(in_state, lines->n_in_state, _VG_STATUS_MAX)
                n += *in_state;
        fprintf(file, "%zu of %zu VG%s active", n_active, n, plural(n));
        for (enum vg_status state = 0; state < _VG_STATUS_MAX; state++) {
                if (state == VG_STATUS_ACTIVE || lines->n_in_state[state] == 0)
                        continue;
                fprintf(file, "%s %zu %s", separator, lines->n_in_state[state], vg_status_to_string(state));
                separator = ",";
        }
        fputs(n_active + lines->n_in_state[VG_STATUS_SKIPPED] == n ? "." : ": headgate why", file);
        return memstream_finish(&stream);
}

/* ------ lines. Functions return 0 or a negative errno unless they say otherwise ------ */

/* A skipped VG is as its administrator wants it. */
static int judge(const struct vg *vg)
{
        if (vg->status == VG_STATUS_ACTIVE || vg->status == VG_STATUS_SKIPPED)
                return EXIT_ALL_UP;
        return vg->status == VG_STATUS_UNKNOWN ? EXIT_CANNOT_TELL : EXIT_NOT_ALL_UP;
}

/* Adds named VGs without a record or plan, if another source knows them. With `log_unknown`, logs unknown names. */
static int add_named(struct sources *sources, char *const names[], size_t n_names, bool log_unknown)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n_names; i++) {
                if (snapshot_find(sources, names[i]))
                        continue;
                r = sources_read_names(sources);
                if (r < 0)
                        return r;
                if (sources_have_name(sources, names[i]))
                        r = unrecorded_add(sources, names[i], NULL);
                else if (log_unknown && !vg_name_is_valid(names[i]))
                        log_error("\"%s\" is not the name of a VG; use \"headgate why %s\" instead.", names[i],
                                names[i]);
                else if (log_unknown)
                        sources_log_unknown(sources, names[i]);
        }
        return r;
}

/* ------ output. Functions return an exit status or a negative errno ------ */

/* Adds the named VGs, in the order of the names, or all. */
static int look(
        struct sources *sources, char *const names[], size_t n_names, bool log_unknown, struct lines *lines)
{
        int result = sources->in_charge ? EXIT_ALL_UP : EXIT_CANNOT_TELL;
        int r = sources->in_charge ? snapshot_read(sources) : 0;
        _cleanup_plan_ struct plan plan = {};

        /* The plan reads all backups, which is not needed if all names have records. */
        if (r >= 0 && sources->in_charge &&
                (n_names == 0 || ANY(FOREACH_ARRAY(name, names, n_names), !snapshot_find(sources, *name))))
                r = expected_add(sources, arg_all || n_names > 0, &plan);
        if (r >= 0 && n_names > 0)
                r = add_named(sources, names, n_names, log_unknown);
        else if (r >= 0 && !sources->in_charge)
                r = unrecorded_add_all(sources);
        for (size_t i = 0; r >= 0 && i < (n_names > 0 ? n_names : sources->n_vgs); i++) {
                const struct vg *vg = n_names > 0 ? snapshot_find(sources, names[i]) : sources->vgs[i];
                const struct planned_vg *planned = n_names > 0 ? NULL : plan_find(&plan, vg->name);

                /* A VG that nothing needs may have been removed, and only its backup is left. */
                if (!planned || planned->needed)
                        result = MAX(result, vg ? judge(vg) : EXIT_NOT_ALL_UP);
                if (vg && (n_names > 0 || arg_all || snapshot_is_current(sources, vg))) {
                        lines->n_in_state[vg->status]++;
                        if (!arg_problems || judge(vg) != EXIT_ALL_UP)
                                r = add_line(lines, vg, sources->in_charge);
                }
        }
        return r < 0 ? r : result;
}

/* Opens and reads all sources for each look, since headgate may have handed over. Prints the differences to the last look, until
 * interrupted. */
static int follow(const struct sources *in_charge, char *const names[], size_t n_names, struct table *table)
{
        _cleanup_(watch_done) struct watch watch = {};
        _cleanup_(lines_done) struct lines shown = {};
        int r = watch_start(&watch, in_charge);

        for (bool first = true; r >= 0; first = false) {
                _cleanup_sources_ struct sources sources = SOURCES_NONE;
                _cleanup_(lines_done) struct lines lines = {};
                uint64_t begin = now_usec(), took_usec;

                r = sources_open(&sources);
                if (r >= 0 && !sources.in_charge)
                        return verb_refuse("headgate handed over to lvm2, no longer following.");
                if (r >= 0)
                        r = look(&sources, names, n_names, first, &lines);
                if (r < 0)
                        break;
                took_usec = now_usec() - begin;
                if (!first)
                        lines_compare(&shown, &lines);
                table_add_lines(table, &shown);
                table_add_lines(table, &lines);
                SWAP(shown, lines);
                r = table_print(table) ?: watch_wait(&watch, took_usec);
        }
        return r;
}

static int open_sources(struct sources *sources)
{
        int r = sources_open(sources) ?: sources_read_config(sources) ?: sources_read_entries(sources);

        if (r < 0 || (arg_metrics && sources->run_error < 0))
                return r ?: sources->run_error;
        if (sources->run_error == -EACCES)
                log_notice("Only root can read /run/headgate; showing VGs with active LVs only:");
        else if (sources->run_error < 0)
                (void) log_error_errno(sources->run_error, "Failed to read /run/headgate: %m");
        else
                sources_log_not_activating(sources);
        return 0;
}

/* Prints a summary as systemctl does; without memory, none. */
static void print_summary(const struct table *table, const struct lines *lines)
{
        _cleanup_free_ char *summary = NULL;

        if (lines->n == 0 || table->options.json || table->options.no_headings || arg_follow)
                return;
        summary = lines_summarize(lines);
        if (summary)
                printf("\n%s\n", summary);
}

/* Prints metrics, or replaces the file by them. The file is world-readable, since collectors of metrics do not run as root. */
static int print_metrics(const struct sources *sources)
{
        _cleanup_metrics_ struct metrics metrics = {};
        _cleanup_free_ char *text = NULL;
        int r = metrics_read(sources, &metrics);

        text = r < 0 ? NULL : metrics_format(&metrics);
        if (!text)
                return verb_fail(r < 0 ? r : -ENOMEM, "Failed to make metrics: %m");
        if (!arg_output_file)
                return fputs(text, stdout) < 0 ? EXIT_CANNOT_TELL : EXIT_SUCCESS;
        r = write_file_with_mode_at(AT_FDCWD, arg_output_file, text, 0644);
        return r < 0 ? verb_fail(r, "Failed to write %s: %m", arg_output_file) : EXIT_SUCCESS;
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_(lines_done) struct lines lines = {};
        int r;

        if (arg_problems && arg_follow)
                return verb_refuse("--problems and --follow are mutually exclusive, see --help.");
        if (arg_metrics ? arg_all || arg_problems || arg_follow || table->options.json || table->options.columns ||
                                  table->options.no_headings || n > 0
                        : !!arg_output_file)
                return verb_refuse(
                        "--output-file requires --openmetrics, and neither allows other options, see --help.");
        if (arg_output_file && !verb_can_replace(arg_output_file))
                return EXIT_CANNOT_TELL;
        table->by_line = arg_follow;
        r = open_sources(&sources);
        if (r >= 0 && arg_follow && sources.in_charge) {
                r = follow(&sources, names, n, table);
                return r < 0 ? verb_fail(r, "Failed to follow the volume groups: %m") : r;
        }
        if (r >= 0)
                r = look(&sources, names, n, true, &lines);
        if (r < 0)
                return verb_fail(r, "Failed to read the volume groups: %m");
        if (arg_metrics)
                return print_metrics(&sources);
        if (arg_problems && lines.n > 0)
                r = MAX(r, EXIT_NOT_ALL_UP);
        table_add_lines(table, &lines);
        r = verb_print(table, r, "show the volume groups");
        print_summary(table, &lines);
        return r;
}

static const struct verb_option options[] = {
        {"all", 'a', NULL, "Include VGs known only from lvm2's backups", &arg_all},
        {"follow", 'f', NULL, "Print each change until interrupted", &arg_follow},
        {"openmetrics", '\0', NULL, "Print metrics for a monitoring system", &arg_metrics},
        {"output-file", '\0', "FILE", "Write the metrics to this file", .value = &arg_output_file},
        {"problems", 'x', NULL, "Show only VGs that are neither active nor skipped", &arg_problems},
        {},
};

const struct verb verb_status = {"status", "[VG...]", "Show the state of volume groups",
        .help = "Usage: headgate status [OPTION...] [--] [VG...]\n\n"
                "Show the state of volume groups, and why they are not active.\n\n",
        .footer = "Exit status: 0 if all expected volume groups are active, 1 if one is missing or has\n"
                  "failed, 2 if headgate cannot tell. With --problems, 1 if any is shown.\n\n",
        .options = options, .choose_table = choose_table, .run = run};
