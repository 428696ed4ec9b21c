/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate blame and headgate plot: a timeline as a table or as SVG. The timeline of this boot is made from the worker's records.
 * Timelines of earlier boots and of shutdowns are in the journal. */

#include "cli/critical-chain.h"
#include "cli/verb.h"
#include "plot/plot.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/util.h"
#include "timeline/journal.h"
#include "view/disk-times.h"
#include "view/snapshot.h"

static bool arg_boot;
static bool arg_shutdown;
static bool arg_chain;
static const char *arg_which; /* NULL for this boot or the last shutdown */

/* ------ reading. These return 0 or a negative errno, having logged what is wrong ------ */

static int read_this_boot(struct timeline *timeline)
{
        static const char *const targets[TIMELINE_TARGETS] = {
                "local-fs.target", "basic.target", "multi-user.target"};
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_(systemd_done) struct systemd systemd = {};
        struct milestones milestones;
        int r = sources_open_in_charge(&sources);

        if (r < 0)
                return r;
        /* If systemd cannot be asked, it has reached nothing. */
        (void) !systemd_connect(&systemd);
        milestones = milestones_read(&systemd);
        for (size_t i = 0; i < TIMELINE_TARGETS; i++)
                timeline->targets[i] =
                        (struct timeline_target){targets[i], unit_active_since_usec(&systemd, targets[i])};
        r = snapshot_read(&sources);
        for (size_t i = 0; r >= 0 && i < sources.n_vgs; i++) {
                r = timeline_add_vg(timeline, sources.vgs[i]);
                if (r >= 0)
                        (void) timeline_bar_add_origin(&timeline->bars[i], sources.vgs[i], &milestones);
        }
        timeline_finish_boot(timeline);
        return r < 0 ? log_error_errno(r, "Failed to read the worker's records: %m") : 0;
}

/* Logs why the journal does not have the timeline or boot. */
static int log_not_in_journal(int r, const char *what, const char *which, const char *why)
{
        if (r == -ENODATA)
                log_error("No %s %s: the journal is volatile and has only this boot; see Storage= in "
                          "journald.conf(5).",
                        what, which);
        else if (r == -ENOENT)
                log_error("No %s %s in the journal%s; %s.", what, which,
                        geteuid() == 0 ? "" : " that you may read", why);
        else
                (void) log_error_errno(r, "Failed to read the journal: %m");
        return r;
}

static int read_timeline(struct timeline *timeline)
{
        const char *name = arg_which ?: "-1";
        sd_id128_t boot, this_boot;
        int r;

        timeline->kind = arg_shutdown ? TIMELINE_SHUTDOWN : TIMELINE_BOOT;
        if (!arg_which && !arg_shutdown)
                return read_this_boot(timeline);
        r = timeline_find_boot(name, &boot);
        if (r < 0)
                return log_not_in_journal(r, "boot", name, "see journalctl --list-boots");
        r = sd_id128_get_boot(&this_boot);
        if (r < 0)
                return log_error_errno(r, "Failed to read the ID of this boot: %m");
        if (!arg_shutdown && sd_id128_equal(boot, this_boot))
                return read_this_boot(timeline);
        r = timeline_read_journal(timeline, boot);
        return r >= 0 ? 0
                      : log_not_in_journal(r,
                                arg_shutdown ? "timeline of the shutdown of boot" : "timeline of boot",
                                SD_ID128_TO_STRING(boot),
                                "headgate was not in charge, had no VG or device, or could not log it before power-off");
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

/* Reads the timeline, and selects the bars with these names, or all. Returns an exit status. */
static int read_selected(struct timeline *timeline, char *const names[], size_t n)
{
        const char *unknown = NULL;

        if (read_timeline(timeline) < 0)
                return EXIT_CANNOT_TELL;
        if (timeline->n_skipped > 0)
                log_warning(
                        "Ignoring %zu VGs or devices logged by another version of headgate.", timeline->n_skipped);
        if (timeline_select(timeline, names, n, &unknown) >= 0)
                return EXIT_SUCCESS;
        log_unknown(timeline, unknown);
        return EXIT_NOT_ALL_UP;
}

/* ------ tables ------ */

/* A line of the table. Unknown times of the bar are COLUMN_UNKNOWN. */
struct line {
        const char *color;
        struct timeline_bar bar;
        uint64_t own_usec, total_usec, end_usec;
};

#define COLUMNS_OF_PHASE(name, phase, description)                                                                \
        COLUMNS_OF_TIME(name, DURATION, bar.phases_usec[TIMELINE_##phase], description, .unknown = "-")

static const struct column boot_columns[] = {
        COLUMN("VG", ALWAYS, STRING, bar.name, "name of the volume group"),
        COLUMN("STATE", ALWAYS, STRING, bar.state, "its state, as in headgate status", .colored = true),
        COLUMNS_OF_TIME("OWN", DURATION, own_usec, "TOTAL without QUEUE; the longest is first", .unknown = "-"),
        COLUMNS_OF_TIME("TOTAL", DURATION, total_usec,
                "time from its first physical volume to its last link in /dev, or until now", .unknown = "-"),
        COLUMNS_OF_PHASE("PVS", PVS, "time waiting for physical volumes"),
        COLUMNS_OF_PHASE("QUEUE", QUEUE, "time in headgate's queue"),
        COLUMNS_OF_PHASE("LVM2", LVM2, "time in lvm2"),
        COLUMNS_OF_PHASE("UDEV", UDEV, "time in udev, for the links of its last logical volume"),
        COLUMNS_OF_TIME("FIRST", MOMENT, bar.first_usec, "time of its first physical volume, since kernel start"),
        COLUMN("DRIVER", ON_REQUEST, DURATION, bar.driver_usec,
                "time from kernel start until it had the disk of the last physical volume", .unknown = "-"),
        COLUMN("DRIVER-USEC", IN_JSON, NUMBER, bar.driver_usec, "the same, in microseconds"),
        COLUMN("DISK-UDEV", ON_REQUEST, DURATION, bar.disk_udev_usec, "time in udev, for that disk",
                .unknown = "-"),
        COLUMN("DISK-UDEV-USEC", IN_JSON, NUMBER, bar.disk_udev_usec, "the same, in microseconds"),
        COLUMN("INITRD", ON_REQUEST, DURATION, bar.initrd_usec, "time in the initrd, as part of FIRST",
                .unknown = "-"),
        COLUMN("INITRD-USEC", IN_JSON, NUMBER, bar.initrd_usec, "the same, in microseconds"),
        COLUMN("ASKED-USEC", IN_JSON, NUMBER, bar.asked_usec,
                "start of its vgchange, since kernel start, in microseconds"),
        COLUMN("END-USEC", IN_JSON, NUMBER, end_usec, "time at which it was active, likewise"),
        COLUMN("N-PVS", ALWAYS, NUMBER, bar.n_pvs, "number of its physical volumes"),
        COLUMN("N-LVS", ALWAYS, NUMBER, bar.n_lvs, "number of its logical volumes to activate"),
        COLUMN("REASON", ALWAYS, STRING, bar.reason,
                "why it is not active, what else than headgate activated it, or which program lvm2 waited for",
                .flags = SCOLS_FL_WRAP),
};

static const struct column shutdown_columns[] = {
        COLUMN("NODE", ALWAYS, STRING, bar.name, "device-mapper's or the kernel's name of the device"),
        COLUMN("TREE", ALWAYS, STRING, bar.tree, "its storage tree"),
        COLUMN("KIND", ALWAYS, STRING, bar.kind, "kind of device"),
        COLUMN("STATE", ALWAYS, STRING, bar.state, "gone (removed), or left (to systemd-shutdown)",
                .colored = true),
        COLUMNS_OF_PHASE("STOPPING", STOPPING, "time from the shutdown request to the start of headgate-teardown"),
        COLUMNS_OF_PHASE("WAITED", HELD, "time from the start of headgate-teardown until nothing used it"),
        COLUMNS_OF_PHASE("REMOVAL", REMOVAL, "time from then until it was removed or skipped"),
        COLUMN("ATTEMPTS", ALWAYS, NUMBER, bar.n_tries, "number of attempts to remove it"),
        COLUMNS_OF_TIME("FIRST", MOMENT, bar.first_usec,
                "time of the shutdown request, or else of the start of headgate-teardown, since kernel start"),
        COLUMNS_OF_TIME("END", MOMENT, end_usec, "time at which it was removed or skipped, likewise"),
        COLUMN("REASON", ALWAYS, STRING, bar.reason, "what uses it", .flags = SCOLS_FL_WRAP),
};

/* Not reached and unknown are not the same as zero. */
static void add_bar(struct table *table, const struct timeline_bar *bar)
{
        static const char *const colors[] = {[TIMELINE_UNFINISHED] = "yellow", [TIMELINE_FAILED] = "red"};
        struct line line = {
                colors[bar->end], *bar, timeline_own_usec(bar), timeline_total_usec(bar), timeline_end_usec(bar)};
        bool unasked = bar->uuid && bar->end == TIMELINE_DONE && line.total_usec == 0;

        if (unasked)
                line.own_usec = line.total_usec = line.end_usec = line.bar.phases_usec[TIMELINE_PVS] =
                        COLUMN_UNKNOWN;
        if (bar->complete_usec == 0 || unasked)
                line.bar.phases_usec[TIMELINE_QUEUE] = COLUMN_UNKNOWN;
        if (bar->asked_usec == 0)
                line.bar.phases_usec[TIMELINE_LVM2] = line.bar.asked_usec = COLUMN_UNKNOWN;
        if (bar->linked_usec == 0)
                line.bar.phases_usec[TIMELINE_UDEV] = COLUMN_UNKNOWN;
        if (bar->phases_usec[TIMELINE_STOPPING] == 0)
                line.bar.phases_usec[TIMELINE_STOPPING] = COLUMN_UNKNOWN;
        line.bar.driver_usec = bar->driver_usec ?: COLUMN_UNKNOWN;
        line.bar.disk_udev_usec = bar->disk_udev_usec ?: COLUMN_UNKNOWN;
        line.bar.initrd_usec = bar->initrd_usec ?: COLUMN_UNKNOWN;
        table_add_line(table, NULL, &line);
}

/* ------ the verbs ------ */

static const struct table_kind *choose_table(void)
{
        static const struct table_kind boot = {"volumegroups", boot_columns, ELEMENTSOF(boot_columns)};
        static const struct table_kind shutdown = {"nodes", shutdown_columns, ELEMENTSOF(shutdown_columns)};

        /* This boot, which needs no journal. */
        if (arg_which && streq(arg_which, "0") && !arg_shutdown)
                arg_which = NULL;
        if (arg_boot && arg_shutdown) {
                log_error("--boot and --shutdown are mutually exclusive, see --help.");
                return NULL;
        }
        if (arg_chain && (arg_which || arg_shutdown)) {
                log_error("--critical-chain shows this boot only.");
                return NULL;
        }
        return arg_chain ? &chain_table : arg_shutdown ? &shutdown : &boot;
}

static int run_blame(char *names[], size_t n, struct table *table)
{
        _cleanup_timeline_ struct timeline timeline = {};
        int r;

        if (arg_chain && n > 1)
                return verb_refuse("Unexpected argument \"%s\". See \"headgate blame --help\".", names[1]);
        if (arg_chain)
                return chain_run(n > 0 ? names[0] : "local-fs.target", table);
        r = read_selected(&timeline, names, n);
        if (r != EXIT_SUCCESS)
                return r == EXIT_NOT_ALL_UP ? verb_print(table, r, "print the table") : r;
        SORT(timeline.bars, timeline.n, timeline_by_blame);
        FOREACH_ARRAY(bar, timeline.bars, timeline.n)
                add_bar(table, bar);
        return verb_print(table, r, "print the table");
}

static int run_plot(char *names[], size_t n, struct table *table _unused_)
{
        _cleanup_timeline_ struct timeline timeline = {};
        int r;

        if (!choose_table())
                return EXIT_CANNOT_TELL;
        if (isatty(STDOUT_FILENO))
                return verb_refuse("Refusing to write SVG to a terminal; try \"headgate plot > boot.svg\".");
        r = read_selected(&timeline, names, n);
        if (r != EXIT_SUCCESS)
                return r;
        r = plot_timeline(&timeline);
        return r < 0 ? verb_fail(r, "Failed to write the picture: %m") : EXIT_SUCCESS;
}

static const struct verb_option options[] = {
        /* Only blame has this option. */
        {"critical-chain", '\0', NULL, "Show what a mount or unit waited for last, down to a disk", &arg_chain},
        {"boot", '\0', "[=BOOT]", "Volume groups of this boot (the default), or of another one", &arg_boot,
                &arg_which},
        {"shutdown", '\0', "[=BOOT]", "Devices of the last shutdown, or of the one that ended BOOT", &arg_shutdown,
                &arg_which},
        {},
};

const struct verb verb_blame = {"blame", "[NAME...]", "Show what took longest at boot or at shutdown",
        .help = "Usage: headgate blame [--boot[=BOOT]] [OPTION...] [VG...]\n"
                "       headgate blame --shutdown[=BOOT] [OPTION...] [DEVICE|TREE...]\n"
                "       headgate blame --critical-chain [OPTION...] [MOUNTPOINT|UNIT]\n\n"
                "Show how long each volume group took at boot, or each device at shutdown.\n\n",
        .footer = "Exit status: 0, 1 if a name is not known, 2 if headgate cannot tell.\n\n", .options = options,
        .choose_table = choose_table, .run = run_blame};

const struct verb verb_plot = {"plot", "[NAME...]", "Draw the timeline as SVG",
        .help = "Usage: headgate plot [--boot[=BOOT]] [VG...] > FILE.svg\n"
                "       headgate plot --shutdown[=BOOT] [DEVICE|TREE...] > FILE.svg\n\n"
                "Draw the timeline of a boot or shutdown as SVG.\n\n",
        .footer = "Exit status: 0, 1 if a name is not known, 2 if headgate cannot tell.\n\n",
        .options = options + 1, .run = run_plot};
