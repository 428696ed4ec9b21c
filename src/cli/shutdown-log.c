/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate shutdown-log: shows from the kernel's log how long it took to shut down each device, after all programs have ended.
 * Also compares two logs. */

#include "cli/verb.h"
#include "kernel-log/log.h"
#include "shared/log.h"
#include "shared/util.h"

/* ------ columns ------ */

/* A line: a device of one log, or a pair of devices of two logs. */
struct line {
        struct kernel_device device;
        struct kernel_pair pair;
};

static char *format_took(const void *line)
{
        const struct kernel_device *device = &((const struct line *) line)->device;

        return string_format(
                "%s%s", device->parallel ? "up to " : "", SHORT_DURATION_TO_STRING(device->took_usec));
}

/* Part of a format, and its arguments. */
#define SIGNED "%s%s"
#define SIGNED_ARGUMENTS(usec)                                                                                    \
        (usec) > 0 ? "+" : (usec) < 0 ? "-" : "", SHORT_DURATION_TO_STRING((uint64_t) llabs(usec))

static char *format_difference(const void *line)
{
        int64_t usec = ((const struct line *) line)->pair.difference_usec;

        return string_format(SIGNED, SIGNED_ARGUMENTS(usec));
}

static const struct column columns[] = {
        COLUMN("NAME", ALWAYS, STRING, device.name, "driver and device"),
        COLUMNS_OF_TIME("BEGAN", SHORT_DURATION, device.began_usec, "start time, after the first device"),
        COLUMNS_OF_TIME("GAP", SHORT_DURATION, device.gap_usec, "time until the next device was started"),
        COLUMN("TOOK", IN_TABLE, STRING, device.name, "shutdown time, at most, if in parallel",
                .text = format_took, .flags = SCOLS_FL_RIGHT),
        COLUMN("TOOK-USEC", IN_JSON, NUMBER, device.took_usec, "the same, in microseconds"),
        COLUMN("PARALLEL", IN_JSON, BOOL, device.parallel, "whether in parallel with others", .no = "no",
                .yes = "yes"),
};

static const struct column comparison_columns[] = {
        COLUMN("NAME", ALWAYS, STRING, pair.name, "driver and device"),
        COLUMNS_OF_TIME("FIRST", SHORT_DURATION, pair.gaps_usec[FIRST],
                "time until the next device was started, in the first log"),
        COLUMNS_OF_TIME("SECOND", SHORT_DURATION, pair.gaps_usec[SECOND], "the same in the second log"),
        COLUMN("DIFFERENCE", IN_TABLE, STRING, pair.name, "how much longer it is in the second",
                .text = format_difference, .flags = SCOLS_FL_RIGHT),
        COLUMN("DIFFERENCE-USEC", IN_JSON, SIGNED, pair.difference_usec, "the same, in microseconds"),
        COLUMN("PARALLEL", ALWAYS, BOOL, pair.parallel, "whether in parallel with others in either log", .no = "",
                .yes = "yes"),
};

static const struct table_kind kind = {"devices", columns, ELEMENTSOF(columns)};
static const struct table_kind comparison_kind = {"devices", comparison_columns, ELEMENTSOF(comparison_columns)};

static const struct table_kind *choose_table(size_t n_names)
{
        return n_names == _SIDE_MAX ? &comparison_kind : &kind;
}

/* ------ reading and printing ------ */

#define STANDARD_INPUT "standard input"

/* "-" is standard input. Logs errors. Returns 0 or a negative errno. */
static int read_log(struct kernel_shutdown *shutdown, const char *path)
{
        _cleanup_fclose_ FILE *file = streq(path, "-") ? stdin : fopen(path, "re");
        const char *name = file == stdin ? STANDARD_INPUT : path, *reason = NULL;
        int r = file ? kernel_log_read_file(shutdown, file, &reason) : -errno;

        if (reason)
                log_error("%s: %s.", name, reason);
        else if (r == -E2BIG)
                log_error("%s: has too many devices.", name);
        else if (r < 0)
                (void) log_error_errno(r, "Failed to read %s: %m", name);
        else if (shutdown->n_incomplete > 0)
                log_warning("%s: %zu devices are missing, because other lines break theirs.", name,
                        shutdown->n_incomplete);
        return r;
}

static void print_summary(const struct kernel_shutdown *shutdown, const char *path)
{
        const struct kernel_device *longest = shutdown->devices;
        _cleanup_free_ char *name = string_printable(streq(path, "-") ? STANDARD_INPUT : path), *device = NULL,
                            *took = NULL;
        size_t n_parallel = 0;

        FOREACH_ARRAY(each, shutdown->devices, shutdown->n) {
                n_parallel += each->parallel;
                if (each->took_usec > longest->took_usec)
                        longest = each;
        }
        device = string_printable(longest->name);
        took = format_took(&(struct line){.device = *longest});
        printf("%s: %zu device%s shut down in %s, %zu in parallel; longest: %s, %s.\n", name ?: "?", shutdown->n,
                plural(shutdown->n), SHORT_DURATION_TO_STRING(shutdown->total_usec), n_parallel, device ?: "?",
                took ?: "?");
}

static void print_difference(const struct kernel_pair *pairs, size_t n)
{
        int64_t parallel = 0, others = 0;

        FOREACH_ARRAY(pair, pairs, n)
                *(pair->parallel ? &parallel : &others) += pair->difference_usec;
        printf("Difference " SIGNED ": " SIGNED " for devices in parallel in either log, " SIGNED
               " for the others.\n",
                SIGNED_ARGUMENTS(parallel + others), SIGNED_ARGUMENTS(parallel), SIGNED_ARGUMENTS(others));
}

/* Prints the first log, or the comparison. Returns 0, which is the exit status, or a negative errno. */
static int print_logs(const struct kernel_shutdown *first, const struct kernel_shutdown *second,
        char *const paths[], struct table *table)
{
        bool compare = second->n > 0, summary = !table->options.json && !table->options.no_headings;
        _cleanup_free_ struct kernel_pair *pairs = NULL;
        size_t n = 0;
        int r = compare ? kernel_shutdown_compare(first, second, &pairs, &n) : 0;

        if (summary)
                print_summary(first, paths[FIRST]);
        if (summary && compare)
                print_summary(second, paths[SECOND]);
        if (summary && n > 0)
                print_difference(pairs, n);
        if (summary)
                printf("\n");
        FOREACH_ARRAY(pair, pairs, n)
                table_add_line(table, NULL, &(struct line){.pair = *pair});
        FOREACH_ARRAY(device, first->devices, compare ? 0 : first->n)
                table_add_line(table, NULL, &(struct line){.device = *device});
        return r;
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown first = {}, second = {};
        char *const standard_input[] = {(char *) "-"}, *const *paths = n > 0 ? names : standard_input;

        if (n > _SIDE_MAX)
                return verb_refuse("At most two logs can be compared, see --help.");
        if (n == _SIDE_MAX && streq(names[FIRST], "-") && streq(names[SECOND], "-"))
                return verb_refuse("Standard input can be read only once.");
        if (n == 0 && isatty(STDIN_FILENO))
                return verb_refuse("No log given. The journal ends before the kernel shuts down devices; "
                                   "headgate-shutdown-log(8) explains how to get a log.");
        if (read_log(&first, paths[FIRST]) < 0 || (n == _SIDE_MAX && read_log(&second, paths[SECOND]) < 0))
                return EXIT_CANNOT_TELL;
        return verb_print(table, print_logs(&first, &second, paths, table), "print the table");
}

const struct verb verb_shutdown_log = {"shutdown-log", "[FILE...]",
        "Show how long the kernel took to shut down each device",
        .help = "Usage: headgate shutdown-log [OPTION...] [FILE [FILE]]\n\n"
                "Show how long the kernel took to shut down each device, by its log with initcall_debug,\n"
                "from a file or standard input; or compare two logs.\n\n",
        .footer = "Exit status: 0, or 2 if headgate cannot tell.\n\n", .choose_table = choose_table, .run = run};
