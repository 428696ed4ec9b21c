/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate blame: what took longest at a boot, or at a shutdown, and on what. */

#include <getopt.h>
#include <inttypes.h>

#include "cli/boots-table.h"
#include "cli/chronicle.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/util.h"

static struct table_options arg_table;
static bool arg_boot;
static bool arg_shutdown;
static bool arg_list_boots;
static const char *arg_which;

static void help(void)
{
        printf("Usage: headgate blame [--boot[=BOOT]] [OPTION...] [VG...]\n"
               "       headgate blame --shutdown[=BOOT] [OPTION...] [DEVICE|TREE...]\n"
               "       headgate blame --list-boots [OPTION...]\n\n"
               "Show what took longest, and on what.\n\n"
               "      --boot[=BOOT]    Of this boot, or another: volume groups (the default)\n"
               "      --shutdown[=BOOT]  Of the shutdown before it, or that ended another: devices\n"
               "      --list-boots     List the boots that can be asked about\n" TABLE_HELP "\n"
               "Exit status: 0, or 2 if headgate cannot tell.\n\n"
               "See headgate-blame(8).\n");
}

/* ------ columns: each makes its cell of a bar, NULL without memory ------ */

static char *format_name(const void *line)
{
        const struct timeline_bar *bar = line;

        return strdup(bar->name);
}

static char *format_tree(const void *line)
{
        const struct timeline_bar *bar = line;

        return strdup(bar->tree);
}

static char *format_kind(const void *line)
{
        const struct timeline_bar *bar = line;

        return strdup(bar->kind);
}

static char *format_state(const void *line)
{
        const struct timeline_bar *bar = line;

        return strdup(bar->state);
}

static char *format_reason(const void *line)
{
        const struct timeline_bar *bar = line;

        return strdup(bar->reason ?: "");
}

static char *format_number(uint64_t number)
{
        return string_format("%" PRIu64, number);
}

static char *format_n_pvs(const void *line)
{
        const struct timeline_bar *bar = line;

        return format_number(bar->n_pvs);
}

static char *format_n_lvs(const void *line)
{
        const struct timeline_bar *bar = line;

        return format_number(bar->n_lvs);
}

static char *format_attempts(const void *line)
{
        const struct timeline_bar *bar = line;

        return format_number(bar->n_tries);
}

/* To the millisecond, also where that is long ago: it is compared with the journal. */
static char *format_moment(uint64_t usec)
{
        return string_format(
                "%" PRIu64 ".%03" PRIu64 "s", usec / USEC_PER_SEC, usec % USEC_PER_SEC / USEC_PER_MSEC);
}

static char *format_first(const void *line)
{
        const struct timeline_bar *bar = line;

        return format_moment(bar->first_usec);
}

static char *format_first_usec(const void *line)
{
        const struct timeline_bar *bar = line;

        return format_number(bar->first_usec);
}

static char *format_asked_usec(const void *line)
{
        const struct timeline_bar *bar = line;

        return bar->asked_usec > 0 ? format_number(bar->asked_usec) : strdup("");
}

static char *format_end(const void *line)
{
        const struct timeline_bar *bar = line;

        return format_moment(timeline_end_usec(bar));
}

static char *format_end_usec(const void *line)
{
        const struct timeline_bar *bar = line;

        return format_number(timeline_end_usec(bar));
}

static char *format_total(const void *line)
{
        return format_duration(timeline_total_usec(line));
}

static char *format_total_usec(const void *line)
{
        return format_number(timeline_total_usec(line));
}

/* What it has not come to, or what is not known, is something else than no time at all. */
static bool is_known(const struct timeline_bar *bar, enum timeline_phase phase)
{
        switch (phase) {
        case TIMELINE_QUEUE:
                return bar->complete;
        case TIMELINE_LVM2:
                return bar->asked_usec > 0;
        case TIMELINE_UDEV:
                return bar->linked_usec > 0;
        default:
                return true;
        }
}

static char *format_phase(const struct timeline_bar *bar, enum timeline_phase phase)
{
        return is_known(bar, phase) ? format_duration(bar->phases_usec[phase]) : strdup("-");
}

static char *format_phase_usec(const struct timeline_bar *bar, enum timeline_phase phase)
{
        return is_known(bar, phase) ? format_number(bar->phases_usec[phase]) : strdup("");
}

#define DEFINE_PHASE(name, phase)                                                                                 \
        static char *format_##name(const void *line)                                                              \
        {                                                                                                         \
                return format_phase(line, phase);                                                                 \
        }                                                                                                         \
        static char *format_##name##_usec(const void *line)                                                       \
        {                                                                                                         \
                return format_phase_usec(line, phase);                                                            \
        }

DEFINE_PHASE(pvs, TIMELINE_PVS)
DEFINE_PHASE(queue, TIMELINE_QUEUE)
DEFINE_PHASE(lvm2, TIMELINE_LVM2)
DEFINE_PHASE(udev, TIMELINE_UDEV)
DEFINE_PHASE(waited, TIMELINE_HELD)
DEFINE_PHASE(removal, TIMELINE_REMOVAL)

static const char *color_of(const void *line)
{
        const struct timeline_bar *bar = line;

        return bar->end == TIMELINE_FAILED ? "red" : bar->end == TIMELINE_UNFINISHED ? "yellow" : NULL;
}

#define TIME_COLUMN(name, description, format)                                                                    \
        {name, description, COLUMN_IN_TABLE, SCOLS_FL_RIGHT, SCOLS_JSON_STRING, format_##format},                 \
        {                                                                                                         \
                name "-USEC", "the same, in microseconds", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,     \
                        format_##format##_usec                                                                    \
        }

static const struct column boot_columns[] = {
        {"VG", "name of the volume group", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_name},
        {"STATE", "its state, as headgate status has it", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_state,
                .color = color_of},
        TIME_COLUMN("TOTAL", "from its first physical volume until its links were there, or until now", total),
        TIME_COLUMN("PVS", "of that, waiting for physical volumes", pvs),
        TIME_COLUMN("QUEUE", "complete, and waiting for lvm2", queue),
        TIME_COLUMN("LVM2", "lvm2 at work on it", lvm2),
        TIME_COLUMN("UDEV", "udev at work on the links of its last logical volume", udev),
        TIME_COLUMN("FIRST", "when the first physical volume was seen, from the start of the kernel", first),
        {"ASKED-USEC", "when lvm2 was asked, from the start of the kernel, in microseconds", COLUMN_IN_JSON,
                SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER, format_asked_usec},
        {"END-USEC", "when it was up, likewise", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_end_usec},
        {"N-PVS", "how many physical volumes it has", COLUMN_ALWAYS, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_n_pvs},
        {"N-LVS", "how many logical volumes are to be activated", COLUMN_ALWAYS, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_n_lvs},
        {"REASON", "why it is not active", COLUMN_IN_JSON, SCOLS_FL_WRAP, SCOLS_JSON_STRING, format_reason},
};

static const struct column shutdown_columns[] = {
        {"NODE", "device-mapper's or the kernel's name of the device", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING,
                format_name},
        {"TREE", "the storage tree that it belongs to", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_tree},
        {"KIND", "what it is", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_kind},
        {"STATE", "gone, or left to systemd's own last attempt", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_state,
                .color = color_of},
        TIME_COLUMN("WAITED", "from the start of headgate-teardown until nothing held it any more", waited),
        TIME_COLUMN("REMOVAL", "from then until it was gone, or was given up", removal),
        {"ATTEMPTS", "how often its removal was tried", COLUMN_ALWAYS, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_attempts},
        TIME_COLUMN("FIRST", "when headgate-teardown began, from the start of the kernel", first),
        TIME_COLUMN("END", "when it was gone, or was given up, likewise", end),
        {"REASON", "what holds it", COLUMN_ALWAYS, SCOLS_FL_WRAP, SCOLS_JSON_STRING, format_reason},
};

static const struct table_switch switches[] = {
        {"boot", '\0', &arg_boot, &arg_which},
        {"shutdown", '\0', &arg_shutdown, &arg_which},
        {"list-boots", '\0', &arg_list_boots},
};

static const struct table_verb boot_verb = {
        help, "volumegroups", boot_columns, ELEMENTSOF(boot_columns), switches, ELEMENTSOF(switches)};

static const struct table_verb shutdown_verb = {
        help, "nodes", shutdown_columns, ELEMENTSOF(shutdown_columns), switches, ELEMENTSOF(switches)};

/* Whether a word is this option, or a beginning of it that is no other's, with or without "=" and what follows. */
static bool is_option(const char *word, const char *option, size_t n_min)
{
        size_t length = strcspn(word, "=");

        return length >= n_min && strncmp(option, word, length) == 0;
}

/* Which columns there are is to be known before --output is read. */
static struct table_verb find_verb(int argc, char *argv[])
{
        for (int i = 1; i < argc && !streq(argv[i], "--"); i++) {
                if (is_option(argv[i], "--shutdown", strlen("--s")))
                        return shutdown_verb;
                if (is_option(argv[i], "--list-boots", strlen("--list-b")))
                        return boots_table_verb(help, switches, ELEMENTSOF(switches));
        }
        return boot_verb;
}

static int print(const struct timeline *timeline, const struct table_verb *verb)
{
        _cleanup_table_ struct table table = {};
        int r;

        r = table_new(verb, &arg_table, &table);
        for (size_t i = 0; r >= 0 && i < timeline->n; i++)
                r = table_add_line(&table, NULL, &timeline->bars[i], NULL);
        return r < 0 ? r : table_print(&table);
}

static int print_chronicle(
        const struct chronicle *chronicle, const struct table_verb *verb, char *names[], size_t n)
{
        _cleanup_timeline_ struct timeline timeline = {};
        int r;

        r = chronicle_read(&timeline, chronicle, names, n);
        if (r != 0)
                return r;
        timeline_sort_by_blame(&timeline);
        r = print(&timeline, verb);
        return r < 0 ? log_error_errno(r, "Failed to print the table: %m") : 0;
}

int verb_blame(int argc, char *argv[])
{
        struct table_verb verb = find_verb(argc, argv);
        struct chronicle chronicle;
        int r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;
        if (arg_boot + arg_shutdown + arg_list_boots > 1) {
                log_error("It is either --boot or --shutdown or --list-boots, see --help.");
                return EXIT_CANNOT_TELL;
        }
        if (arg_list_boots && optind < argc) {
                log_error("Unexpected argument \"%s\", see --help.", argv[optind]);
                return EXIT_CANNOT_TELL;
        }

        chronicle = (struct chronicle){arg_shutdown ? TIMELINE_SHUTDOWN : TIMELINE_BOOT, arg_which};
        r = arg_list_boots ? boots_table_print(&verb, &arg_table)
                           : print_chronicle(&chronicle, &verb, argv + optind, (size_t) (argc - optind));
        if (r < 0)
                return EXIT_CANNOT_TELL;
        return r == CHRONICLE_UNKNOWN_NAME ? EXIT_NOT_ALL_UP : EXIT_SUCCESS;
}
