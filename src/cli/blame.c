/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate blame: what took longest at a boot, or at a shutdown, and on what. */

#include "cli/chronicle.h"
#include "cli/past-boots.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/program.h"
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
               "Exit status: 0, 1 if a name is not known, 2 if headgate cannot tell.\n\n"
               "See headgate-blame(8).\n");
}

/* ------ what took how long ------ */

/* A line of the table. Of the bar, times that are not known are COLUMN_UNKNOWN. */
struct line {
        struct timeline_bar bar;
        uint64_t total_usec, end_usec;
};

static const char *color_of(const void *data)
{
        const struct line *line = data;

        return line->bar.end == TIMELINE_FAILED ? "red" : line->bar.end == TIMELINE_UNFINISHED ? "yellow" : NULL;
}

#define LINE(field) COLUMN_FIELD(struct line, field)
#define BAR(field) LINE(bar.field)
#define PHASE(phase) BAR(phases_usec[phase]), .unknown = "-"

static const struct column boot_columns[] = {
        {"VG", "name of the volume group", COLUMN_ALWAYS, COLUMN_STRING, BAR(name)},
        {"STATE", "its state, as headgate status has it", COLUMN_ALWAYS, COLUMN_STRING, BAR(state),
                .color = color_of},
        COLUMNS_OF_TIME("TOTAL", "from its first physical volume until its links were there, or until now",
                COLUMN_DURATION, LINE(total_usec)),
        COLUMNS_OF_TIME("PVS", "of that, waiting for physical volumes", COLUMN_DURATION, PHASE(TIMELINE_PVS)),
        COLUMNS_OF_TIME("QUEUE", "complete, and waiting for lvm2", COLUMN_DURATION, PHASE(TIMELINE_QUEUE)),
        COLUMNS_OF_TIME("LVM2", "lvm2 at work on it", COLUMN_DURATION, PHASE(TIMELINE_LVM2)),
        COLUMNS_OF_TIME("UDEV", "udev at work on the links of its last logical volume", COLUMN_DURATION,
                PHASE(TIMELINE_UDEV)),
        COLUMNS_OF_TIME("FIRST", "when the first physical volume was seen, from the start of the kernel",
                COLUMN_MOMENT, BAR(first_usec)),
        {"ASKED-USEC", "when lvm2 was asked, from the start of the kernel, in microseconds", COLUMN_IN_JSON,
                COLUMN_NUMBER, BAR(asked_usec)},
        {"END-USEC", "when it was up, likewise", COLUMN_IN_JSON, COLUMN_NUMBER, LINE(end_usec)},
        {"N-PVS", "how many physical volumes it has", COLUMN_ALWAYS, COLUMN_NUMBER, BAR(n_pvs)},
        {"N-LVS", "how many logical volumes are to be activated", COLUMN_ALWAYS, COLUMN_NUMBER, BAR(n_lvs)},
        {"REASON", "why it is not active", COLUMN_IN_JSON, COLUMN_STRING, BAR(reason), .flags = SCOLS_FL_WRAP},
};

static const struct column shutdown_columns[] = {
        {"NODE", "device-mapper's or the kernel's name of the device", COLUMN_ALWAYS, COLUMN_STRING, BAR(name)},
        {"TREE", "the storage tree that it belongs to", COLUMN_ALWAYS, COLUMN_STRING, BAR(tree)},
        {"KIND", "what it is", COLUMN_ALWAYS, COLUMN_STRING, BAR(kind)},
        {"STATE", "gone, or left to systemd's own last attempt", COLUMN_ALWAYS, COLUMN_STRING, BAR(state),
                .color = color_of},
        COLUMNS_OF_TIME("WAITED", "from the start of headgate-teardown until nothing held it any more",
                COLUMN_DURATION, PHASE(TIMELINE_HELD)),
        COLUMNS_OF_TIME("REMOVAL", "from then until it was gone, or was given up", COLUMN_DURATION,
                PHASE(TIMELINE_REMOVAL)),
        {"ATTEMPTS", "how often its removal was tried", COLUMN_ALWAYS, COLUMN_NUMBER, BAR(n_tries)},
        COLUMNS_OF_TIME("FIRST", "when headgate-teardown began, from the start of the kernel", COLUMN_MOMENT,
                BAR(first_usec)),
        COLUMNS_OF_TIME("END", "when it was gone, or was given up, likewise", COLUMN_MOMENT, LINE(end_usec)),
        {"REASON", "what holds it", COLUMN_ALWAYS, COLUMN_STRING, BAR(reason), .flags = SCOLS_FL_WRAP},
};

/* What it has not come to, or what is not known, is something else than no time at all. */
static int add_bar(struct table *table, const struct timeline_bar *bar)
{
        struct line line = {*bar, timeline_total_usec(bar), timeline_end_usec(bar)};

        if (!bar->complete)
                line.bar.phases_usec[TIMELINE_QUEUE] = COLUMN_UNKNOWN;
        if (bar->asked_usec == 0)
                line.bar.phases_usec[TIMELINE_LVM2] = line.bar.asked_usec = COLUMN_UNKNOWN;
        if (bar->linked_usec == 0)
                line.bar.phases_usec[TIMELINE_UDEV] = COLUMN_UNKNOWN;
        return table_add_line(table, NULL, &line, NULL);
}

/* Returns CHRONICLE_UNKNOWN_NAME, 0, or a negative errno, having said what went wrong. */
static int print_timeline(char *names[], size_t n)
{
        const struct chronicle chronicle = {arg_shutdown ? TIMELINE_SHUTDOWN : TIMELINE_BOOT, arg_which};
        _cleanup_timeline_ struct timeline timeline = {};
        _cleanup_table_ struct table table = {};
        int r;

        r = chronicle_read(&timeline, &chronicle, names, n);
        if (r != 0)
                return r;
        timeline_sort_by_blame(&timeline);
        r = table_new(&arg_table, &table);
        for (size_t i = 0; r >= 0 && i < timeline.n; i++)
                r = add_bar(&table, &timeline.bars[i]);
        if (r >= 0)
                r = table_print(&table);
        return r < 0 ? log_error_errno(r, "Failed to print the table: %m") : 0;
}

/* ------ which boots there are ------ */

struct boot_line {
        struct known_boot boot;
        uint64_t seen; /* as a date */
        size_t n_later;
};

static char *get_offset(const void *data)
{
        const struct boot_line *line = data;

        return string_format(line->n_later == 0 ? "%zu" : "-%zu", line->n_later);
}

static char *get_id(const void *data)
{
        const struct boot_line *line = data;

        return string_format(SD_ID128_FORMAT_STR, SD_ID128_FORMAT_VAL(line->boot.id));
}

#define BOOT(field) COLUMN_FIELD(struct boot_line, field)
#define KEPT(field) BOOT(field), .no = "no", .yes = "yes"

static const struct column boots_columns[] = {
        {"OFFSET", "what names it beside its ID, counted from this boot on", COLUMN_ALWAYS, COLUMN_NUMBER,
                .text = get_offset},
        {"BOOT-ID", "its ID, as journalctl has it", COLUMN_ALWAYS, COLUMN_STRING, .text = get_id},
        {"SEEN", "the first moment of it that is known of", COLUMN_IN_TABLE, COLUMN_DATE, BOOT(seen)},
        {"SEEN-USEC", "the same, in microseconds since 1970", COLUMN_IN_JSON, COLUMN_NUMBER,
                BOOT(boot.realtime_usec)},
        {"BOOT", "whether its timeline is kept", COLUMN_ALWAYS, COLUMN_BOOL, KEPT(boot.boot_is_kept)},
        {"SHUTDOWN", "whether that of the shutdown that ended it is; if not, the journal may have it",
                COLUMN_ALWAYS, COLUMN_BOOL, KEPT(boot.shutdown_is_kept)},
};

/* The oldest first. Returns 0, or a negative errno, having said what went wrong. */
static int print_boots(void)
{
        _cleanup_boots_ struct boots boots = {};
        _cleanup_table_ struct table table = {};
        _cleanup_close_ int root_fd = root_open();
        int r;

        r = root_fd < 0 ? root_fd : past_boots_read(root_fd, &boots);
        if (r >= 0)
                r = table_new(&arg_table, &table);
        for (size_t i = 0; r >= 0 && i < boots.n; i++)
                r = table_add_line(&table, NULL,
                        &(struct boot_line){
                                boots.boots[i], boots.boots[i].realtime_usec / USEC_PER_SEC, boots.n - 1 - i},
                        NULL);
        if (r >= 0)
                r = table_print(&table);
        return r < 0 ? log_error_errno(r, "Failed to list the boots: %m") : 0;
}

/* ------ the verb ------ */

static const struct table_kind *choose_kind(int n_names _unused_)
{
        static const struct table_kind boot = {"volumegroups", boot_columns, ELEMENTSOF(boot_columns)};
        static const struct table_kind shutdown = {"nodes", shutdown_columns, ELEMENTSOF(shutdown_columns)};
        static const struct table_kind boots = {"boots", boots_columns, ELEMENTSOF(boots_columns)};

        if (arg_boot + arg_shutdown + arg_list_boots > 1) {
                log_error("It is either --boot or --shutdown or --list-boots, see --help.");
                return NULL;
        }
        return arg_list_boots ? &boots : arg_shutdown ? &shutdown : &boot;
}

static const struct table_switch switches[] = {
        {"boot", '\0', &arg_boot, &arg_which},
        {"shutdown", '\0', &arg_shutdown, &arg_which},
        {"list-boots", '\0', &arg_list_boots},
};

static const struct table_verb verb = {
        .choose = choose_kind, .help = help, .switches = switches, .n_switches = ELEMENTSOF(switches)};

int verb_blame(int argc, char *argv[])
{
        int r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;
        if (arg_list_boots && optind < argc)
                return verb_refuse("Unexpected argument \"%s\", see --help.", argv[optind]);
        r = arg_list_boots ? print_boots() : print_timeline(argv + optind, (size_t) (argc - optind));
        if (r < 0)
                return EXIT_CANNOT_TELL;
        return r == CHRONICLE_UNKNOWN_NAME ? EXIT_NOT_ALL_UP : EXIT_SUCCESS;
}
