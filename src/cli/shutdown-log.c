/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate shutdown-log: shows from the kernel's log how long it took to shut down each device, after all programs have
 * ended. */

#include "cli/verb.h"
#include "kernel-log/log.h"
#include "shared/log.h"
#include "shared/util.h"

/* ------ columns ------ */

struct line {
        struct kernel_device device;
};

static char *format_took(const void *line)
{
        const struct kernel_device *device = &((const struct line *) line)->device;

        return string_format(
                "%s%s", device->parallel ? "up to " : "", SHORT_DURATION_TO_STRING(device->took_usec));
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

static const struct table_kind kind = {"devices", columns, ELEMENTSOF(columns)};

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
        took = format_took(&(struct line){*longest});
        printf("%s: %zu device%s shut down in %s, %zu in parallel; longest: %s, %s.\n\n", name ?: "?", shutdown->n,
                plural(shutdown->n), SHORT_DURATION_TO_STRING(shutdown->total_usec), n_parallel, device ?: "?",
                took ?: "?");
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};
        const char *path = n > 0 ? names[0] : "-";

        if (n > 1)
                return verb_refuse("Expected one log; headgate-shutdown-log(8) shows how to compare two.");
        if (n == 0 && isatty(STDIN_FILENO))
                return verb_refuse("No log given. The journal ends before the kernel shuts down devices; "
                                   "headgate-shutdown-log(8) explains how to get a log.");
        if (read_log(&shutdown, path) < 0)
                return EXIT_CANNOT_TELL;
        if (!table->options.json && !table->options.no_headings)
                print_summary(&shutdown, path);
        FOREACH_ARRAY(device, shutdown.devices, shutdown.n)
                table_add_line(table, NULL, &(struct line){*device});
        return verb_print(table, 0, "print the table");
}

const struct verb verb_shutdown_log = {"shutdown-log", "[FILE]",
        "Show how long the kernel took to shut down each device",
        .help = "Usage: headgate shutdown-log [OPTION...] [FILE]\n\n"
                "Show how long the kernel took to shut down each device, by its log with initcall_debug,\n"
                "from a file or standard input.\n\n",
        .footer = "Exit status: 0, or 2 if headgate cannot tell.\n\n", .table = &kind, .run = run};
