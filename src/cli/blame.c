/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate blame and headgate plot: what took how long at a boot, or at a shutdown, as a table or as a picture. The
 * timeline of this boot is made of what the worker has written down; that of an earlier one is in the archive, and of
 * a shutdown also in the journal. */

#include "cli/verb.h"
#include "plot/plot.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"
#include "timeline/archive.h"
#include "view/snapshot.h"

static bool arg_boot;
static bool arg_shutdown;
static bool arg_list_boots;
static const char *arg_which; /* NULL for this boot, and for the shutdown before it */

/* ------ reading. These return 0 or a negative errno, having logged what is wrong ------ */

static int read_this_boot(struct timeline *timeline)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        r = sources_open_in_charge(&sources);
        if (r < 0)
                return r;
        r = snapshot_read(&sources);
        if (r >= 0)
                r = timeline_read_boot(timeline, sources.volume_groups, sources.n_volume_groups, sources.root_fd);
        return r < 0 ? log_error_errno(r, "Failed to read what the worker has written down: %m") : 0;
}

/* An earlier boot, or the shutdown that ended one. What the archive has nothing of, the journal may have. */
static int read_past(int root_fd, sd_id128_t boot, struct timeline *timeline)
{
        bool is_root = geteuid() == 0;
        _cleanup_close_ int archive_fd = archive_open(root_fd);
        int r = archive_fd == -EACCES ? -ENOENT : archive_fd;

        if (r >= 0)
                r = archive_read(archive_fd, boot, timeline);
        if (r >= 0)
                return 0;
        if (timeline->kind == TIMELINE_BOOT && r != -ENOENT)
                return log_error_errno(r, "Failed to read /" ARCHIVE_DIRECTORY ": %m");
        if (timeline->kind == TIMELINE_BOOT) {
                log_error("No timeline is kept of boot " SD_ID128_FORMAT_STR "%s.", SD_ID128_FORMAT_VAL(boot),
                        is_root ? ": headgate was not in charge, it was too long ago, or /" ARCHIVE_DIRECTORY
                                  " could not be written to"
                                : " that you may read; root may");
                return r;
        }
        if (r != -ENOENT && r != -ENOMEM)
                log_warning("Failed to read /" ARCHIVE_DIRECTORY ": %s", strerror(-r));

        r = timeline_read_shutdown(timeline, boot);
        if (r == -ENOENT)
                log_error(
                        "headgate-teardown has told of no device at the end of boot " SD_ID128_FORMAT_STR
                        ": headgate was not in charge, there was nothing to take down, the machine was switched off, "
                        "or that was not kept%s.",
                        SD_ID128_FORMAT_VAL(boot), is_root ? "" : " where you may read it; root may");
        else if (r < 0)
                (void) log_error_errno(r, "Failed to read the journal: %m");
        return r;
}

/* This boot, and those that the archive or the journal tells of; one that cannot be read tells of nothing. The oldest is the
 * first, and this one the last. Logs nothing that is wrong. */
static int read_boots(int root_fd, struct boots *boots)
{
        _cleanup_close_ int archive_fd = archive_open(root_fd);
        _cleanup_journal_ sd_journal *journal = NULL;
        sd_id128_t this_boot;
        int r;

        r = sd_id128_get_boot(&this_boot);
        if (r < 0)
                return r;
        if (!boots_note(boots, this_boot, now_realtime_usec()))
                return -ENOMEM;
        r = archive_fd < 0 ? archive_fd : archive_note_boots(archive_fd, boots);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                log_debug("Failed to read /" ARCHIVE_DIRECTORY ": %s", strerror(-r));
        r = journal_open(&journal);
        if (r >= 0)
                r = boots_note_journal(boots, journal);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                log_debug("Failed to read the journal: %s", strerror(-r));
        boots_sort(boots, this_boot);
        return 0;
}

static int find_boot(const struct boots *boots, const char *name, sd_id128_t *ret)
{
        int r;

        r = boots_find(boots, name, ret);
        if (r == -EINVAL)
                log_error("\"%s\" names no boot: it is an ID or an offset, such as -1.", name);
        else if (r == -ENOENT && boots->n == 1)
                log_error("Nothing is known of an earlier boot%s, see headgate-blame(8).",
                        geteuid() == 0 ? "" : " that you may read; root may");
        else if (r == -ENOENT)
                log_error("There is no boot %s among the %zu that are known, see headgate blame --list-boots.",
                        name, boots->n);
        return r;
}

static int read_timeline(struct timeline *timeline)
{
        _cleanup_boots_ struct boots boots = {};
        _cleanup_close_ int root_fd = -EBADF;
        sd_id128_t boot;
        int r;

        timeline->kind = arg_shutdown ? TIMELINE_SHUTDOWN : TIMELINE_BOOT;
        if (!arg_which && !arg_shutdown)
                return read_this_boot(timeline);
        root_fd = root_open();
        r = root_fd < 0 ? root_fd : read_boots(root_fd, &boots);
        if (r < 0)
                return log_error_errno(r, "Failed to find out which boots there were: %m");
        r = find_boot(&boots, arg_which ?: "-1", &boot);
        if (r < 0)
                return r;
        return !arg_shutdown && sd_id128_equal(boot, boots.boots[boots.n - 1].id)
                       ? read_this_boot(timeline)
                       : read_past(root_fd, boot, timeline);
}

static void log_unknown(const struct timeline *timeline, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};

        FOREACH_ARRAY(bar, timeline->bars, timeline->n) {
                suggestion_consider(&suggestion, bar->name);
                if (bar->tree)
                        suggestion_consider(&suggestion, bar->tree);
        }
        if (timeline->kind == TIMELINE_BOOT)
                suggestion_log_unknown(&suggestion, "VG", "see headgate status");
        else
                suggestion_log_unknown(&suggestion, "device or storage tree", "see headgate blame --shutdown");
}

/* The timeline that was asked for, with what has one of the names, or all. Returns an exit status. */
static int read_selected(struct timeline *timeline, char *const names[], size_t n)
{
        const char *unknown = NULL;

        if (read_timeline(timeline) < 0)
                return EXIT_CANNOT_TELL;
        if (timeline->n_left_out > 0)
                log_notice("%zu more that took less time were too many to be kept.", timeline->n_left_out);
        if (timeline_select(timeline, names, n, &unknown) >= 0)
                return EXIT_SUCCESS;
        log_unknown(timeline, unknown);
        return EXIT_NOT_ALL_UP;
}

/* ------ tables ------ */

/* A line of the table. Of the bar, times that are not known are COLUMN_UNKNOWN. */
struct line {
        const char *color;
        struct timeline_bar bar;
        uint64_t total_usec, end_usec;
};

#define COLUMNS_OF_PHASE(name, phase, description)                                                                \
        COLUMNS_OF_TIME(name, DURATION, bar.phases_usec[TIMELINE_##phase], description, .unknown = "-")

static const struct column boot_columns[] = {
        COLUMN("VG", ALWAYS, STRING, bar.name, "name of the volume group"),
        COLUMN("STATE", ALWAYS, STRING, bar.state, "its state, as headgate status has it", .colored = true),
        COLUMNS_OF_TIME("TOTAL", DURATION, total_usec,
                "from its first physical volume until its links were there, or until now"),
        COLUMNS_OF_PHASE("PVS", PVS, "of that, waiting for physical volumes"),
        COLUMNS_OF_PHASE("QUEUE", QUEUE, "complete, and waiting for lvm2"),
        COLUMNS_OF_PHASE("LVM2", LVM2, "lvm2 at work on it"),
        COLUMNS_OF_PHASE("UDEV", UDEV, "udev at work on the links of its last logical volume"),
        COLUMNS_OF_TIME("FIRST", MOMENT, bar.first_usec,
                "when the first physical volume was seen, from the start of the kernel"),
        COLUMN("ASKED-USEC", IN_JSON, NUMBER, bar.asked_usec,
                "when lvm2 was asked, from the start of the kernel, in microseconds"),
        COLUMN("END-USEC", IN_JSON, NUMBER, end_usec, "when it was up, likewise"),
        COLUMN("N-PVS", ALWAYS, NUMBER, bar.n_pvs, "how many physical volumes it has"),
        COLUMN("N-LVS", ALWAYS, NUMBER, bar.n_lvs, "how many logical volumes are to be activated"),
        COLUMN("REASON", IN_JSON, STRING, bar.reason, "why it is not active", .flags = SCOLS_FL_WRAP),
};

static const struct column shutdown_columns[] = {
        COLUMN("NODE", ALWAYS, STRING, bar.name, "device-mapper's or the kernel's name of the device"),
        COLUMN("TREE", ALWAYS, STRING, bar.tree, "the storage tree that it belongs to"),
        COLUMN("KIND", ALWAYS, STRING, bar.kind, "what it is"),
        COLUMN("STATE", ALWAYS, STRING, bar.state, "gone, or left to systemd's own last attempt", .colored = true),
        COLUMNS_OF_PHASE("WAITED", HELD, "from the start of headgate-teardown until nothing held it any more"),
        COLUMNS_OF_PHASE("REMOVAL", REMOVAL, "from then until it was gone, or was given up"),
        COLUMN("ATTEMPTS", ALWAYS, NUMBER, bar.n_tries, "how often its removal was tried"),
        COLUMNS_OF_TIME(
                "FIRST", MOMENT, bar.first_usec, "when headgate-teardown began, from the start of the kernel"),
        COLUMNS_OF_TIME("END", MOMENT, end_usec, "when it was gone, or was given up, likewise"),
        COLUMN("REASON", ALWAYS, STRING, bar.reason, "what holds it", .flags = SCOLS_FL_WRAP),
};

/* Not reached and unknown are not the same as zero. */
static void add_bar(struct table *table, const struct timeline_bar *bar)
{
        static const char *const colors[] = {[TIMELINE_UNFINISHED] = "yellow", [TIMELINE_FAILED] = "red"};
        struct line line = {colors[bar->end], *bar, timeline_total_usec(bar), timeline_end_usec(bar)};

        if (!bar->complete)
                line.bar.phases_usec[TIMELINE_QUEUE] = COLUMN_UNKNOWN;
        if (bar->asked_usec == 0)
                line.bar.phases_usec[TIMELINE_LVM2] = line.bar.asked_usec = COLUMN_UNKNOWN;
        if (bar->linked_usec == 0)
                line.bar.phases_usec[TIMELINE_UDEV] = COLUMN_UNKNOWN;
        table_add_line(table, NULL, &line);
}

struct boot_line {
        struct known_boot boot;
        char id[SD_ID128_STRING_MAX];
        int64_t offset;
        uint64_t seen; /* as a date */
};

#define BOOT(field) COLUMN_FIELD(struct boot_line, field)
#define KEPT(field) BOOT(field), .no = "no", .yes = "yes"

static const struct column boots_columns[] = {
        {"OFFSET", "what names it beside its ID, counted from this boot on", COLUMN_ALWAYS, COLUMN_SIGNED,
                BOOT(offset)},
        {"BOOT-ID", "its ID, as journalctl has it", COLUMN_ALWAYS, COLUMN_CHARS, BOOT(id)},
        {"SEEN", "the first moment of it that is known of", COLUMN_IN_TABLE, COLUMN_DATE, BOOT(seen)},
        {"SEEN-USEC", "the same, in microseconds since 1970", COLUMN_IN_JSON, COLUMN_NUMBER,
                BOOT(boot.realtime_usec)},
        {"BOOT", "whether its timeline is kept", COLUMN_ALWAYS, COLUMN_BOOL, KEPT(boot.boot_is_archived)},
        {"SHUTDOWN", "whether that of the shutdown that ended it is; if not, the journal may have it",
                COLUMN_ALWAYS, COLUMN_BOOL, KEPT(boot.shutdown_is_archived)},
};

/* The oldest first. */
static int add_boots(struct table *table)
{
        _cleanup_boots_ struct boots boots = {};
        _cleanup_close_ int root_fd = root_open();
        int r;

        r = root_fd < 0 ? root_fd : read_boots(root_fd, &boots);
        for (size_t i = 0; r >= 0 && i < boots.n; i++) {
                struct boot_line line = {
                        .boot = boots.boots[i],
                        .offset = (int64_t) i + 1 - (int64_t) boots.n,
                        .seen = boots.boots[i].realtime_usec / USEC_PER_SEC,
                };

                sd_id128_to_string(line.boot.id, line.id);
                table_add_line(table, NULL, &line);
        }
        return r;
}

/* ------ the verbs ------ */

static const struct table_kind *choose_table(size_t n_names _unused_)
{
        static const struct table_kind boot = {"volumegroups", boot_columns, ELEMENTSOF(boot_columns)};
        static const struct table_kind shutdown = {"nodes", shutdown_columns, ELEMENTSOF(shutdown_columns)};
        static const struct table_kind boots = {"boots", boots_columns, ELEMENTSOF(boots_columns)};

        if (arg_boot + arg_shutdown + arg_list_boots > 1) {
                log_error("--boot, --shutdown and --list-boots are mutually exclusive, see --help.");
                return NULL;
        }
        return arg_list_boots ? &boots : arg_shutdown ? &shutdown : &boot;
}

static int run_blame(char *names[], size_t n, struct table *table)
{
        _cleanup_timeline_ struct timeline timeline = {};
        int r;

        if (arg_list_boots && n > 0)
                return verb_refuse("Unexpected argument \"%s\", see --help.", names[0]);
        if (arg_list_boots) {
                r = add_boots(table);
        } else {
                r = read_selected(&timeline, names, n);
                if (r != EXIT_SUCCESS)
                        return r;
                SORT(timeline.bars, timeline.n, timeline_by_blame);
                for (size_t i = 0; i < timeline.n; i++)
                        add_bar(table, &timeline.bars[i]);
        }
        return verb_print(table, r, "print the table");
}

static int run_plot(char *names[], size_t n, struct table *table _unused_)
{
        _cleanup_timeline_ struct timeline timeline = {};
        int r;

        if (arg_boot && arg_shutdown)
                return verb_refuse("--boot and --shutdown are mutually exclusive, see --help.");
        if (isatty(STDOUT_FILENO))
                return verb_refuse("Refusing to write SVG to a terminal; try \"headgate plot > boot.svg\".");
        r = read_selected(&timeline, names, n);
        if (r != EXIT_SUCCESS)
                return r;
        r = plot_timeline("-", &timeline);
        if (r < 0)
                return verb_fail(r, "Failed to write the picture: %m");
        return EXIT_SUCCESS;
}

/* headgate plot has all but the first one. */
static const struct verb_option options[] = {
        {"list-boots", '\0', NULL, "List the boots that can be asked about", &arg_list_boots},
        {"boot", '\0', "[=BOOT]", "Of this boot, or another: volume groups (the default)", &arg_boot, &arg_which},
        {"shutdown", '\0', "[=BOOT]", "Of the shutdown before it, or that ended another: devices", &arg_shutdown,
                &arg_which},
        {},
};

const struct verb verb_blame = {"blame", "[NAME...]", "Show what took longest at boot or at shutdown, and on what",
        .help = "Usage: headgate blame [--boot[=BOOT]] [OPTION...] [VG...]\n"
                "       headgate blame --shutdown[=BOOT] [OPTION...] [DEVICE|TREE...]\n"
                "       headgate blame --list-boots [OPTION...]\n\n"
                "Show what took longest, and on what.\n\n",
        .footer = "Exit status: 0, 1 if a name is not known, 2 if headgate cannot tell.\n\n", .options = options,
        .choose_table = choose_table, .run = run_blame};

const struct verb verb_plot = {"plot", "[NAME...]", "Draw that as a picture",
        .help = "Usage: headgate plot [--boot[=BOOT]] [VG...] > FILE.svg\n"
                "       headgate plot --shutdown[=BOOT] [DEVICE|TREE...] > FILE.svg\n\n"
                "Draw what took how long, as an SVG picture.\n\n",
        .footer = "Exit status: 0, 1 if a name is not known, 2 if headgate cannot tell.\n\n",
        .options = &options[1], .run = run_plot};
