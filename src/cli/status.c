/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate status: one line per VG, made of what the worker has written down, and of what tells of the others. With --follow,
 * all VGs are looked at again whenever something may have changed. */

#include "cli/status.h"

#include <inttypes.h>

#include "boot/switches.h"
#include "cli/verb.h"
#include "shared/log.h"
#include "shared/util.h"
#include "view/snapshot.h"
#include "view/watch.h"

static bool arg_all;
static bool arg_follow;

/* ------ the table ------ */

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

/* NULL without memory. */
static char *describe_reason(const struct volume_group *volume_group)
{
        struct volume_group_counts n = volume_group_count(volume_group);
        const char *reason = volume_group->reason ?: "", *overdue = volume_group->overdue ? ", overdue" : "";
        bool all_active = n.autoactivated > 0 && n.active == n.autoactivated;

        if (volume_group->state == VOLUME_GROUP_WAITING && n.stranded > 0)
                return string_format("%zu PV%s missing%s; %zu LV%s still on what has gone.", n.missing,
                        plural(n.missing), overdue, n.stranded, n.stranded == 1 ? " is" : "s are");
        if (volume_group->state == VOLUME_GROUP_WAITING)
                return string_format("%zu PV%s missing%s%s.", n.missing, plural(n.missing), overdue,
                        all_active ? "; all LVs are active" : "");
        if (volume_group->state == VOLUME_GROUP_DEGRADED && n.missing > 0)
                return string_format("%zu PV%s missing%s%s", n.missing, plural(n.missing),
                        *reason != '\0' ? "; " : ".", reason);
        return strdup(reason);
}

/* The first ones are those of --follow. */
#define FOLLOW_COLUMNS_N 3
static const struct column columns[] = {
        COLUMN("TIME", IN_TABLE, MOMENT, time_usec, "when the line was printed, since the machine started"),
        COLUMN("TIME-USEC", IN_JSON, NUMBER, time_usec,
                "the same, in microseconds of the machine's monotonic clock"),
        COLUMN("EVENT", ALWAYS, STRING, event, "status at the beginning, then change or removed"),
        COLUMN("VG", ALWAYS, STRING, name, "name of the volume group"),
        COLUMN("UUID", IN_JSON, CHARS, uuid, "its UUID"),
        COLUMN("STATE", ALWAYS, STRING, state,
                "waiting, complete, activating, active, degraded, skipped, failed, deactivated, absent or unknown",
                .colored = true),
        COLUMN("PVS", IN_TABLE, CHARS, pvs, "physical volumes, seen/needed", .flags = SCOLS_FL_RIGHT),
        COLUMN("PVS-SEEN", IN_JSON, NUMBER, pvs_seen, "physical volumes that were seen"),
        COLUMN("PVS-NEEDED", IN_JSON, NUMBER, pvs_needed, "physical volumes that it has"),
        COLUMN("LVS", IN_TABLE, CHARS, lvs, "logical volumes, active/to be activated", .flags = SCOLS_FL_RIGHT),
        COLUMN("LVS-ACTIVE", IN_JSON, NUMBER, lvs_active, "logical volumes that are active"),
        COLUMN("LVS-NEEDED", IN_JSON, NUMBER, lvs_needed, "logical volumes that lvm2 activates by itself"),
        COLUMN("SINCE", IN_TABLE, DATE, since, "since when it is in this state"),
        COLUMN("SINCE-USEC", IN_JSON, NUMBER, since_usec,
                "the same, in microseconds of the machine's monotonic clock"),
        COLUMN("FIRST", ON_REQUEST, DATE, first, "when it was active first since the machine started"),
        COLUMN("FIRST-USEC", IN_JSON, NUMBER, first_usec,
                "the same, in microseconds of the machine's monotonic clock"),
        COLUMNS_OF_TIME("TOOK", DURATION, took_usec,
                "from its first physical volume to its first activation, or until now"),
        COLUMN("REASON", ALWAYS, STRING, reason, "why it is not active", .flags = SCOLS_FL_WRAP),
};

static const struct table_kind *choose_table(_unused_ size_t n_names)
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
static uint64_t date_of(const struct volume_group *volume_group, uint64_t usec)
{
        return known_or_not((uint64_t) volume_group_to_realtime(volume_group, usec), usec > 0);
}

static int add_line(struct lines *lines, const struct volume_group *volume_group)
{
        static const char *const colors[_VOLUME_GROUP_STATE_MAX] = {
                [VOLUME_GROUP_ACTIVE] = "green",
                [VOLUME_GROUP_DEGRADED] = "yellow",
                [VOLUME_GROUP_WAITING... VOLUME_GROUP_ACTIVATING] = "yellow",
                [VOLUME_GROUP_FAILED] = "red",
                [VOLUME_GROUP_ABSENT] = "red",
        };
        /* Whether its metadata have been read, so that it is known what it is made of. */
        bool has_metadata = volume_group->n_pvs > 0;
        struct volume_group_counts n = volume_group_count(volume_group);
        uint64_t since_usec = volume_group_since_usec(volume_group), first_usec = volume_group->first.settled_usec;
        struct line *line;

        if (!GREEDY_REALLOC(lines->lines, lines->n + 1))
                return -ENOMEM;
        line = &lines->lines[lines->n++];
        *line = (struct line){
                .event = "status",
                .color = volume_group->overdue && volume_group->state <= VOLUME_GROUP_ACTIVATING
                                 ? "red"
                                 : colors[volume_group->state],
                .name = strdup(volume_group->name),
                .state = volume_group_state_to_string(volume_group->state),
                .pvs_seen = known_or_not(n.seen, has_metadata),
                .pvs_needed = known_or_not(volume_group->n_pvs, has_metadata),
                .lvs_active = n.active,
                .lvs_needed = known_or_not(n.autoactivated, has_metadata),
                .since = date_of(volume_group, since_usec),
                .since_usec = known_or_not(since_usec, since_usec > 0),
                .first = date_of(volume_group, first_usec),
                .first_usec = known_or_not(first_usec, first_usec > 0),
                .took_usec = known_or_not(took_usec(volume_group), volume_group->first_seen_usec > 0),
                .reason = describe_reason(volume_group),
        };

        if (*volume_group->vgid != '\0')
                lvm_id_format(volume_group->vgid, line->uuid);
        (void) snprintf(line->lvs, sizeof(line->lvs), "%" PRIu64 "/?", line->lvs_active);
        if (has_metadata) {
                (void) snprintf(
                        line->pvs, sizeof(line->pvs), "%" PRIu64 "/%" PRIu64, line->pvs_seen, line->pvs_needed);
                (void) snprintf(
                        line->lvs, sizeof(line->lvs), "%" PRIu64 "/%" PRIu64, line->lvs_active, line->lvs_needed);
        }
        return line->name && line->reason ? 0 : -ENOMEM;
}

void lines_done(struct lines *lines)
{
        FOREACH_ARRAY(line, lines->lines, lines->n) {
                free(line->name);
                free(line->reason);
        }
        free(lines->lines);
}

/* Those with an event. */
static void table_add_lines(struct table *table, struct lines *lines)
{
        FOREACH_ARRAY(line, lines->lines, lines->n) {
                line->time_usec = now_usec();
                if (line->event)
                        table_add_line(table, NULL, line);
        }
}

/* A VG may be known by its name before its UUID is. */
static int compare_vgs(const void *a, const void *b)
{
        const struct line *first = a, *second = b;
        bool comparable = *first->uuid != '\0' && *second->uuid != '\0';

        return strcmp(first->name, second->name) ?: (comparable ? strcmp(first->uuid, second->uuid) : 0);
}

/* By SINCE a VG differs that was activated again between two looks. */
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

/* ------ what is in it. These return 0 or a negative errno, unless it says something else ------ */

/* A VG that lvm2 is not to activate is as it should be. */
static int judge(const struct volume_group *volume_group)
{
        if (volume_group->state == VOLUME_GROUP_ACTIVE || volume_group->state == VOLUME_GROUP_SKIPPED)
                return EXIT_ALL_UP;
        return volume_group->state == VOLUME_GROUP_UNKNOWN ? EXIT_CANNOT_TELL : EXIT_NOT_ALL_UP;
}

/* Adds the VGs that the machine is known to have and that were not seen. Of these only those that are needed are judged, as backups
 * may be of VGs that were removed. Returns an exit status or a negative errno. */
static int add_expected(struct sources *sources, bool all)
{
        _cleanup_plan_ struct plan plan = {};
        int r, result = EXIT_ALL_UP;

        r = expected_find(sources, &plan);
        if (r < 0)
                return r;
        FOREACH_ARRAY(planned, plan.volume_groups, plan.n)
                if (planned->group != PLAN_NONE || all)
                        unrecorded_add(sources, planned->name, planned);
        FOREACH_ARRAY(volume_group, sources->volume_groups, sources->n_volume_groups) {
                const struct planned_volume_group *planned = plan_find(&plan, (*volume_group)->name);

                if (!planned || planned->needed)
                        result = MAX(result, judge(*volume_group));
        }
        return result;
}

/* Adds those VGs that are neither on record nor planned, if anything else mentions them. With `log_unknown`, logs that nothing does. */
static int add_named(struct sources *sources, char *const names[], size_t n_names, bool log_unknown)
{
        for (size_t i = 0; i < n_names; i++) {
                int r;

                if (snapshot_find(sources, names[i]))
                        continue;
                r = sources_read_names(sources);
                if (r < 0)
                        return r;
                if (sources_have_name(sources, names[i]))
                        unrecorded_add(sources, names[i], NULL);
                else if (log_unknown)
                        sources_log_unknown(sources, names[i]);
        }
        return 0;
}

/* ------ showing it. These return an exit status or a negative errno ------ */

/* Those that are named, in the order of the names, or all. */
static int look(
        struct sources *sources, char *const names[], size_t n_names, bool log_unknown, struct lines *lines)
{
        int r, result = sources->in_charge ? EXIT_ALL_UP : EXIT_CANNOT_TELL;

        r = sources->in_charge ? snapshot_read(sources) : 0;
        /* The plan reads all backups that there are, in vain where all names are on record. */
        if (r >= 0 && sources->in_charge &&
                (n_names == 0 || ANY(FOREACH_ARRAY(name, names, n_names), !snapshot_find(sources, *name))))
                r = add_expected(sources, arg_all || n_names > 0);
        if (r >= 0 && n_names > 0)
                r = add_named(sources, names, n_names, log_unknown);
        else if (r >= 0 && !sources->in_charge)
                unrecorded_add_all(sources);
        if (r >= 0 && sources->unrecorded_error < 0)
                r = sources->unrecorded_error;
        result = MAX(result, r);
        for (size_t i = 0; r >= 0 && i < (n_names > 0 ? n_names : sources->n_volume_groups); i++) {
                const struct volume_group *volume_group =
                        n_names > 0 ? snapshot_find(sources, names[i]) : sources->volume_groups[i];

                if (n_names > 0)
                        result = MAX(result, volume_group ? judge(volume_group) : EXIT_NOT_ALL_UP);
                /* Without --all, where lvm2's rule is in charge: of what else mentions VGs, those of which an LV is
                 * active, or a PV on lvm2's record of what is online. */
                if (volume_group && (n_names > 0 || sources->in_charge || arg_all ||
                                            judge_unrecorded(volume_group) != VOLUME_GROUP_ABSENT ||
                                            sources_have_online(sources, volume_group->name)))
                        r = add_line(lines, volume_group);
        }
        return r < 0 ? r : result;
}

/* Opens and reads everything anew for each look, as headgate may have handed over, and prints what differs from the look before,
 * until it is interrupted. */
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
                        return verb_refuse("headgate handed over to lvm2, not following any longer.");
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
        int r = sources_open(sources) ?: sources_read_configuration(sources) ?: sources_read_entries(sources);

        if (r < 0)
                return r;
        if (sources->run_error == -EACCES)
                log_notice("Only root may look into /run/headgate; this is what anybody can see:");
        else if (sources->run_error < 0 && sources->run_error != -ENOENT)
                (void) log_error_errno(sources->run_error, "Failed to look into /run/headgate: %m");
        else if (!sources->in_charge)
                log_notice("%s",
                        takeover_is_at_next_boot(sources->root_fd)
                                ? TAKEOVER_AT_NEXT_BOOT
                                : "headgate is not in charge, lvm2's own udev rule is (see headgate-takeover(8)).");
        else if (!sources->configuration.event_activation)
                log_notice("event_activation=0 in lvm.conf: nothing is activated by itself.");
        return 0;
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_(lines_done) struct lines lines = {};
        int r;

        table->by_line = arg_follow;
        r = open_sources(&sources);
        if (r >= 0 && arg_follow && sources.in_charge) {
                r = follow(&sources, names, n, table);
                return r < 0 ? verb_fail(r, "Failed to follow the volume groups: %m") : r;
        }
        if (r >= 0)
                r = look(&sources, names, n, true, &lines);
        if (r >= 0)
                table_add_lines(table, &lines);
        return verb_print(table, r, "show the volume groups");
}

static const struct verb_option options[] = {
        {"all", 'a', NULL, "Also those that only lvm2's backups tell of", &arg_all},
        {"follow", 'f', NULL, "Then print each change, until interrupted", &arg_follow},
        {},
};

const struct verb verb_status = {"status", "[VG...]", "Show which volume groups are up, and why others are not",
        .help = "Usage: headgate status [OPTION...] [--] [VG...]\n\n"
                "Show which volume groups are up, and why others are not.\n\n",
        .footer = "Exit status: 0 if all are up that are expected, 1 if something is missing or has\n"
                  "failed, 2 if headgate cannot tell.\n\n",
        .options = options, .choose_table = choose_table, .run = run};
