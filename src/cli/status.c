/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate status: one line per VG, made of what the worker has written down, and of what tells of the others. */

#include <getopt.h>

#include "cli/status-table.h"
#include "cli/verbs.h"
#include "follow/follow.h"
#include "shared/log.h"
#include "view/expected.h"
#include "view/names.h"
#include "view/unrecorded.h"

static struct table_options arg_table;
static bool arg_all;
static bool arg_follow;

static void help(void)
{
        printf("Usage: headgate status [OPTION...] [--] [VG...]\n\n"
               "Show which volume groups are up, and why others are not.\n\n"
               "  -a, --all            Also those that only lvm2's backups tell of\n"
               "  -f, --follow         Show how a boot or a shutdown goes on, and this at its end\n" TABLE_HELP
               "\n"
               "Exit status: 0 if all are up that are expected, 1 if something is missing or has\n"
               "failed, 2 if headgate cannot tell.\n\n"
               "See headgate-status(8).\n");
}

static const struct table_switch switches[] = {
        {"all", 'a', &arg_all},
        {"follow", 'f', &arg_follow},
};

/* A VG that lvm2 is not to activate is as it should be. */
static int judge(const struct volume_group *volume_group)
{
        switch (volume_group->state) {
        case VOLUME_GROUP_ACTIVE:
        case VOLUME_GROUP_SKIPPED:
                return EXIT_ALL_UP;
        case VOLUME_GROUP_UNKNOWN:
                return EXIT_CANNOT_TELL;
        default:
                return EXIT_NOT_ALL_UP;
        }
}

static int judge_all(const struct snapshot *snapshot)
{
        int result = EXIT_ALL_UP;

        for (size_t i = 0; i < snapshot->n; i++)
                result = MAX(result, judge(snapshot->volume_groups[i]));
        return result;
}

/* ------ where headgate is in charge ------ */

/* Adds what boot waits for and was not seen. Returns an exit status or a negative errno. */
static int add_expected(struct sources *sources, struct snapshot *snapshot)
{
        _cleanup_plan_ struct plan plan = {};
        int r, result;

        r = expected_find(sources, snapshot, &plan);
        if (r < 0)
                return r;
        r = expected_add(sources, &plan, snapshot);
        if (r < 0)
                return r;
        result = judge_all(snapshot);
        if (arg_all)
                r = expected_add_others(sources, &plan, snapshot);
        return r < 0 ? r : result;
}

/* Adds those VGs that have no record, if anything else mentions them. Otherwise logs that nothing does. */
static int add_named(struct sources *sources, char *const names[], size_t n_names, struct snapshot *snapshot)
{
        _cleanup_string_vector_ struct string_vector known = {};
        _cleanup_plan_ struct plan plan = {};
        bool read = false;

        for (size_t i = 0; i < n_names; i++) {
                int r = 0;

                if (snapshot_find(snapshot, names[i]))
                        continue;
                if (!read)
                        r = names_read(sources, &known);
                if (r >= 0 && !read && sources->in_charge)
                        r = expected_find(sources, snapshot, &plan);
                read = true;
                if (r >= 0 && (plan_find(&plan, names[i]) || names_have(&known, names[i])))
                        r = unrecorded_add(sources, names[i], plan_find(&plan, names[i]), snapshot);
                else if (r >= 0)
                        names_log_unknown(&known, names[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int gather(struct sources *sources, char *const names[], size_t n_names, struct snapshot *snapshot)
{
        int r = snapshot_read(sources, snapshot);

        if (r < 0)
                return r;
        return n_names > 0 ? add_named(sources, names, n_names, snapshot) : add_expected(sources, snapshot);
}

/* ------ where it is not ------ */

static int gather_unmanaged(
        struct sources *sources, char *const names[], size_t n_names, struct snapshot *snapshot)
{
        _cleanup_string_vector_ struct string_vector known = {};
        int r;

        if (n_names > 0) {
                r = add_named(sources, names, n_names, snapshot);
                return r < 0 ? r : EXIT_CANNOT_TELL;
        }
        r = names_read(sources, &known);
        if (r >= 0 && !arg_all)
                r = unrecorded_add_present(sources, &known, snapshot);
        for (size_t i = 0; r >= 0 && arg_all && i < known.n; i++)
                r = unrecorded_add(sources, known.strings[i], NULL, snapshot);
        return r < 0 ? r : EXIT_CANNOT_TELL;
}

static void note_not_in_charge(int error)
{
        if (error == -EACCES)
                log_notice("Only root may look into /run/headgate; this is what anybody can see:");
        else if (error < 0 && error != -ENOENT)
                (void) log_error_errno(error, "Failed to look into /run/headgate: %m");
        else
                log_notice("headgate is not in charge, lvm2's own udev rule is (see headgate-takeover(8)).");
}

/* ------ the table ------ */

static int print(const struct snapshot *snapshot)
{
        return status_table_print(
                (const struct volume_group *const *) snapshot->volume_groups, snapshot->n, &arg_table);
}

/* Those that are named, in the order of the names. Returns an exit status or a negative errno. */
static int print_named(const struct snapshot *snapshot, char *const names[], size_t n_names)
{
        _cleanup_free_ const struct volume_group **named = calloc(n_names, sizeof(*named));
        int r, result = EXIT_ALL_UP;
        size_t n = 0;

        if (!named)
                return -ENOMEM;
        for (size_t i = 0; i < n_names; i++) {
                const struct volume_group *volume_group = snapshot_find(snapshot, names[i]);

                if (volume_group)
                        named[n++] = volume_group;
                result = MAX(result, volume_group ? judge(volume_group) : EXIT_NOT_ALL_UP);
        }
        r = status_table_print(named, n, &arg_table);
        return r < 0 ? r : result;
}

/* Returns an exit status or a negative errno. */
static int show(struct sources *sources, char *const names[], size_t n_names)
{
        _cleanup_snapshot_ struct snapshot snapshot = {};
        int r, result;

        result = sources->in_charge ? gather(sources, names, n_names, &snapshot)
                                    : gather_unmanaged(sources, names, n_names, &snapshot);
        if (result < 0)
                return result;
        r = n_names > 0 ? print_named(&snapshot, names, n_names) : print(&snapshot);
        return r < 0 ? r : MAX(r, result);
}

static int show_now(char *const names[], size_t n_names)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        r = sources_open(&sources);
        if (r >= 0)
                r = sources_read_configuration(&sources);
        if (r < 0)
                return r;
        if (!sources.in_charge)
                note_not_in_charge(sources.run_error);
        else if (!sources.configuration.event_activation)
                log_notice("event_activation=0 in lvm.conf: nothing is activated by itself.");
        return show(&sources, names, n_names);
}

/* While it is followed, headgate may hand over to lvm2. */
static int follow_and_show(char *const names[], size_t n_names)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        r = sources_open(&sources);
        if (r >= 0 && sources.in_charge)
                r = follow(&sources, names, n_names);
        return r < 0 ? r : show_now(names, n_names);
}

int verb_status(int argc, char *argv[])
{
        struct table_verb verb = status_table_verb(help);
        size_t n_names;
        int r;

        verb.switches = switches;
        verb.n_switches = ELEMENTSOF(switches);
        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;
        if (arg_follow && arg_table.json) {
                log_error("--follow shows what is not JSON; --json is for how it is now.");
                return EXIT_CANNOT_TELL;
        }

        n_names = (size_t) (argc - optind);
        r = arg_follow ? follow_and_show(argv + optind, n_names) : show_now(argv + optind, n_names);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to show the volume groups: %m");
                return EXIT_CANNOT_TELL;
        }
        return r;
}
