/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate shutdown-log: what the kernel's own log tells of how it has shut down devices, after all that
 * programs do. Of one log, or of two side by side: the first sentences, then a table, or a picture instead. */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "cli/verb.h"
#include "kernel-log/log.h"
#include "kernel-log/sentences.h"
#include "plot/plot.h"
#include "shared/log.h"
#include "shared/util.h"

static const char *arg_plot;

/* ------ the logs ------ */

struct logs {
        struct kernel_log logs[_SIDE_MAX];
        char *names[_SIDE_MAX]; /* as they are called in sentences */
        size_t n;
};

static void logs_done(struct logs *logs)
{
        for (size_t i = 0; i < _SIDE_MAX; i++) {
                kernel_log_done(&logs->logs[i]);
                free(logs->names[i]);
        }
}

static bool is_standard_input(const char *path)
{
        return streq(path, "-");
}

static int read_source(struct kernel_log *log, const char *path)
{
        _cleanup_close_ int fd = -EBADF;

        if (!path)
                return kernel_log_read_journal(log);
        if (is_standard_input(path))
                return kernel_log_read_file(log, STDIN_FILENO);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        return fd < 0 ? -errno : kernel_log_read_file(log, fd);
}

static void log_verdict(int verdict, const char *path, const char *name)
{
        static const char *const sentences[] = {
                [KERNEL_LOG_EMPTY] = "is empty",
                [KERNEL_LOG_BINARY] = "is not text",
                [KERNEL_LOG_UNRELATED] = "nothing in it is about a device that is shut down; the kernel tells of "
                                         "them with initcall_debug on its command line",
                [KERNEL_LOG_UNSTAMPED] =
                        "has devices that are shut down, but not the kernel's time of any: \"journalctl -k -o "
                        "short-monotonic\" writes it, and with printk.time=1 on its command line the kernel",
                [KERNEL_LOG_TRUNCATED] =
                        "ends before the devices are shut down: no line that tells of the end follows them",
        };
        static const char elsewhere[] =
                ", when journald has ended: what it says then is on a serial console, or in "
                "pstore, see headgate-shutdown-log(8)";

        log_error(
                "%s: %s%s.", name, sentences[verdict], verdict == KERNEL_LOG_UNRELATED && !path ? elsewhere : "");
}

/* Returns 0, or a negative errno, having said what is wrong. */
static int read_log(struct kernel_log *log, const char *path, const char *name)
{
        int r;

        r = read_source(log, path);
        if (r >= 0)
                r = kernel_log_finish(log);
        if (r > 0) {
                log_verdict(r, path, name);
                return -EBADMSG;
        }
        if (r == -ENODATA)
                log_error("The journal has nothing of an earlier boot%s.",
                        geteuid() == 0 ? "" : " that you may read; root may");
        else if (r == -E2BIG)
                log_error("%s: has more devices than any machine.", name);
        else if (r < 0)
                (void) log_error_errno(r, "Failed to read %s: %m", name);
        return r;
}

/* A path that is NULL is the journal. */
static int read_logs(struct logs *logs, char *const paths[])
{
        for (size_t i = 0; i < logs->n; i++) {
                const char *what = !paths[i] ? "journal" : is_standard_input(paths[i]) ? "standard input" : NULL;
                int r;

                logs->names[i] = what ? strdup(what) : string_printable(paths[i]);
                r = logs->names[i] ? read_log(&logs->logs[i], paths[i], logs->names[i]) : log_oom();
                if (r < 0)
                        return r;
        }

        /* Files' names alone tell logs apart, unless they are the same. */
        if (logs->n > 1 && streq(basename(logs->names[FIRST]), basename(logs->names[SECOND])))
                return 0;
        for (size_t i = 0; i < logs->n; i++) {
                const char *name = basename(logs->names[i]);

                memmove(logs->names[i], name, strlen(name) + 1);
        }
        return 0;
}

/* ------ columns ------ */

/* A line of either table. Times that are not there, or have no meaning for the kind, are COLUMN_UNKNOWN. */
struct line {
        const char *color;
        const char *kind;
        uint64_t n_devices;
        uint64_t began_usec, took_usec[_SIDE_MAX], within_usec[_SIDE_MAX];
        bool at_most; /* it may have taken less */
        char *took, *difference;
        int64_t difference_usec;
        const char *name;
};

#define NAME_COLUMNS                                                                                              \
        COLUMN("NAME", ALWAYS, STRING, name, "the log, a device with its driver, or a driver",                    \
                .flags = SCOLS_FL_TREE),                                                                          \
                COLUMN("KIND", IN_JSON, STRING, kind, "shutdown, parallel, device, drivers or driver"),           \
                COLUMN("DEVICES", ALWAYS, NUMBER, n_devices, "how many devices that are")

static const struct column columns[] = {
        NAME_COLUMNS,
        COLUMNS_OF_TIME("BEGAN", SHORT_DURATION, began_usec, "when it was begun with, after the first device"),
        COLUMN("TOOK", IN_TABLE, STRING, took, "until the next device was begun with, or all was done",
                .flags = SCOLS_FL_RIGHT),
        COLUMN("TOOK-USEC", IN_JSON, NUMBER, took_usec[FIRST], "the same, in microseconds"),
        COLUMN("AT-MOST", IN_JSON, BOOL, at_most,
                "whether it may have taken less, having gone in parallel with others", .no = "false",
                .yes = "true"),
        COLUMNS_OF_TIME("WITHIN", SHORT_DURATION, within_usec[FIRST],
                "how far apart the first and the last of several devices were begun with"),
};

static const struct column comparison_columns[] = {
        NAME_COLUMNS,
        COLUMNS_OF_TIME("FIRST", SHORT_DURATION, took_usec[FIRST],
                "what it took in the first log: until the next device was begun with"),
        COLUMNS_OF_TIME("SECOND", SHORT_DURATION, took_usec[SECOND], "likewise in the second log"),
        COLUMN("DIFFERENCE", IN_TABLE, STRING, difference, "how much longer it took in the second",
                .colored = true, .flags = SCOLS_FL_RIGHT),
        COLUMN("DIFFERENCE-USEC", IN_JSON, SIGNED, difference_usec, "the same, in microseconds"),
        COLUMNS_OF_TIME("FIRST-WITHIN", SHORT_DURATION, within_usec[FIRST],
                "how far apart several devices were begun with in the first log"),
        COLUMNS_OF_TIME("SECOND-WITHIN", SHORT_DURATION, within_usec[SECOND], "likewise in the second log"),
};

static const struct table_kind kind = {"shutdowns", columns, ELEMENTSOF(columns)};
static const struct table_kind comparison_kind = {"shutdowns", comparison_columns, ELEMENTSOF(comparison_columns)};

/* ------ lines: a tree of the shutdown, what went in parallel, and devices; and one of the drivers of several ------ */

static struct line line_new(const char *of, uint64_t n_devices)
{
        return (struct line){
                .kind = of,
                .n_devices = n_devices,
                .began_usec = COLUMN_UNKNOWN,
                .took_usec = {COLUMN_UNKNOWN, COLUMN_UNKNOWN},
                .within_usec = {COLUMN_UNKNOWN, COLUMN_UNKNOWN},
        };
}

/* Takes the name over. */
static struct libscols_line *add_line(
        struct table *table, struct libscols_line *parent, struct line line, char *name)
{
        const uint64_t *took = line.took_usec;
        int64_t difference = (int64_t) (took[SECOND] - took[FIRST]);
        _cleanup_free_ char *owned = name, *first = format_short_duration(took[FIRST]);
        _cleanup_free_ char *between = format_short_duration((uint64_t) llabs(difference));
        _cleanup_free_ char *first_text = string_format("%s%s", line.at_most ? "up to " : "", first ?: "");
        _cleanup_free_ char *difference_text = string_format("%s%s",
                difference > 0   ? "+"
                : difference < 0 ? "-"
                                 : "",
                between ?: "");

        table_fail(table, name && first && between && first_text && difference_text ? 0 : -ENOMEM);
        line.name = name;
        line.difference_usec = COLUMN_SIGNED_UNKNOWN;
        if (took[FIRST] != COLUMN_UNKNOWN)
                line.took = first_text;
        if (took[FIRST] != COLUMN_UNKNOWN && took[SECOND] != COLUMN_UNKNOWN) {
                line.color = difference > 0 ? "red" : NULL;
                line.difference = difference_text;
                line.difference_usec = difference;
        }
        return table_add_line(table, parent, &line);
}

static struct libscols_line *add_shutdown(
        struct table *table, const struct kernel_comparison *comparison, char *const names[])
{
        struct line line = line_new("shutdown", comparison->n_pairs);

        line.began_usec = 0;
        for (size_t side = 0; side < comparison->n_sides; side++) {
                const struct kernel_shutdown *shutdown = comparison->sides[side];

                line.took_usec[side] = shutdown->total_usec;
                line.within_usec[side] = shutdown->devices[shutdown->n - 1].began_usec;
        }
        return add_line(table, NULL, line,
                comparison->n_sides > 1 ? string_format("%s, %s", names[FIRST], names[SECOND])
                                        : strdup(names[FIRST]));
}

/* What a log has nothing of took no time there; of two logs, what went in parallel is known of all of it only. */
static void add_device(struct table *table, struct libscols_line *parent,
        const struct kernel_comparison *comparison, const struct kernel_pair *pair)
{
        const struct kernel_device *device = kernel_pair_device(comparison, pair);
        struct line line = line_new("device", 1);

        line.began_usec = device->began_usec;
        for (size_t side = 0; side < comparison->n_sides; side++) {
                size_t place = pair->places[side];
                const struct kernel_device *there =
                        place != NOT_THERE ? &comparison->sides[side]->devices[place] : NULL;

                line.at_most = there && kernel_device_is_parallel(there);
                if (!line.at_most || comparison->n_sides == 1)
                        line.took_usec[side] = there ? there->took_usec : 0;
        }
        add_line(table, parent, line, string_format("%s %s", device->driver, device->name));
}

/* All that went in parallel, or a device that went alone. */
static void add_unit(struct table *table, struct libscols_line *parent, const struct kernel_comparison *comparison,
        const struct kernel_unit *unit)
{
        const struct kernel_pair *pairs = &comparison->pairs[unit->first_pair];
        const struct kernel_device *first = kernel_pair_device(comparison, pairs);
        const struct kernel_device *last = kernel_pair_device(comparison, &pairs[unit->n_pairs - 1]);
        struct line line = line_new("parallel", unit->n_pairs);

        line.began_usec = first->began_usec;
        memcpy(line.took_usec, unit->usec, sizeof(line.took_usec));
        if (comparison->n_sides == 1)
                line.within_usec[FIRST] = last->began_usec - first->began_usec;
        if (unit->n_pairs > 1)
                parent = add_line(table, parent, line, string_format("%zu in parallel", unit->n_pairs));
        for (size_t i = 0; i < unit->n_pairs; i++)
                add_device(table, parent, comparison, &pairs[i]);
}

/* One that an earlier side has, too, has a line. */
static void add_driver(struct table *table, struct libscols_line *parent,
        const struct kernel_comparison *comparison, size_t of, const char *driver)
{
        struct line line = line_new("driver", 0);

        for (size_t side = 0; side < comparison->n_sides; side++) {
                uint64_t usec, n = kernel_shutdown_measure_driver(comparison->sides[side], driver, &usec);

                if (side < of && n > 0)
                        return;
                line.within_usec[side] = n > 1 ? usec : COLUMN_UNKNOWN;
                line.n_devices = MAX(line.n_devices, n);
        }
        if (line.n_devices > 1)
                add_line(table, parent, line, strdup(driver));
}

static void add_drivers(struct table *table, const struct kernel_comparison *comparison)
{
        struct libscols_line *parent =
                add_line(table, NULL, line_new("drivers", COLUMN_UNKNOWN), strdup("drivers with several devices"));

        for (size_t side = 0; side < comparison->n_sides; side++)
                for (size_t i = 0; i < comparison->sides[side]->n; i++)
                        if (kernel_shutdown_is_first_of_driver(comparison->sides[side], i))
                                add_driver(table, parent, comparison, side,
                                        comparison->sides[side]->devices[i].driver);
}

/* Of two logs what differs most comes first, a single one is in its order. */
static void add_lines(struct table *table, const struct kernel_comparison *comparison, char *const names[])
{
        struct libscols_line *parent = add_shutdown(table, comparison, names);

        for (size_t i = 0; comparison->n_sides > 1 && i < comparison->n_units; i++)
                add_unit(table, parent, comparison, &comparison->units[i]);
        for (size_t i = 0; comparison->n_sides == 1 && i < comparison->n_pairs; i++) {
                const struct kernel_unit *unit = &comparison->units[comparison->pairs[i].unit];

                if (unit->first_pair == i)
                        add_unit(table, parent, comparison, unit);
        }
        add_drivers(table, comparison);
}

/* ------ the verb. These return an exit status ------ */

static int draw(const struct logs *logs)
{
        const struct kernel_shutdown *const shutdowns[] = {
                &logs->logs[FIRST].shutdown, &logs->logs[SECOND].shutdown};
        int r;

        r = plot_kernel_shutdowns(arg_plot, shutdowns, (const char *const *) logs->names, logs->n);
        if (r < 0)
                return verb_fail(r, "Failed to write the picture: %m");
        return EXIT_SUCCESS;
}

static int print(const struct logs *logs, struct table *table)
{
        _cleanup_kernel_comparison_ struct kernel_comparison comparison = {};
        int r;

        r = kernel_comparison_make(
                &comparison, &logs->logs[FIRST].shutdown, logs->n > 1 ? &logs->logs[SECOND].shutdown : NULL);
        if (r >= 0 && !table->options.json && !table->options.no_headings) {
                print_shutdown_sentences(&comparison, logs->names);
                printf("\n");
        }
        if (r >= 0)
                add_lines(table, &comparison, logs->names);
        return verb_print(table, r, "print the table");
}

static int check_arguments(size_t n, char *const paths[])
{
        if (n > _SIDE_MAX)
                log_error("Two logs can be compared, no more, see --help.");
        else if (n == _SIDE_MAX && is_standard_input(paths[FIRST]) && is_standard_input(paths[SECOND]))
                log_error("Standard input can be read only once.");
        else if (arg_plot && is_standard_input(arg_plot) && isatty(STDOUT_FILENO))
                log_error("A picture is nothing for a terminal.");
        else
                return 0;
        return -EINVAL;
}

/* Whoever writes into a pipe wants that to be read. */
static bool is_pipe(int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_(logs_done) struct logs logs = {.n = n == 0 ? 1 : n};
        char *unnamed[_SIDE_MAX] = {is_pipe(STDIN_FILENO) ? (char *) "-" : NULL};

        if (check_arguments(n, names) < 0 || read_logs(&logs, n == 0 ? unnamed : names) < 0)
                return EXIT_CANNOT_TELL;
        return arg_plot ? draw(&logs) : print(&logs, table);
}

static const struct table_kind *choose_table(size_t n_names)
{
        return n_names > 1 ? &comparison_kind : &kind;
}

static const struct verb_option options[] = {
        {"plot", '\0', "FILE", "Draw an SVG picture into that file instead", .value = &arg_plot},
        {},
};

const struct verb verb_shutdown_log = {"shutdown-log", "[FILE...]",
        "Show how long the kernel's own shutdown of devices took",
        .help = "Usage: headgate shutdown-log [OPTION...] [FILE [FILE]]\n\n"
                "Show how long the kernel took to shut down each device, from its log with\n"
                "initcall_debug: from a file, standard input (-, or a pipe), or the journal of the boot\n"
                "before; of two logs, side by side.\n\n",
        .footer = "Exit status: 0, or 2 if headgate cannot tell.\n\n", .options = options,
        .choose_table = choose_table, .run = run};
