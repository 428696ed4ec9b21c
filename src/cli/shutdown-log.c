/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate shutdown-log: what the kernel's own log tells of how it has shut down devices, after all that
 * programs do. */

#include <fcntl.h>
#include <sys/stat.h>

#include "cli/shutdown-log-table.h"
#include "cli/shutdown-log-words.h"
#include "cli/verbs.h"
#include "kernel-log/log.h"
#include "plot/kernel-shutdown.h"
#include "shared/log.h"
#include "shared/util.h"

static struct table_options arg_table;
static const char *arg_plot;

static void help(void)
{
        printf("Usage: headgate shutdown-log [OPTION...] [FILE [FILE]]\n\n"
               "Show how long the kernel took to shut down each device, from its log with\n"
               "initcall_debug: from a file, standard input (-, or a pipe), or the journal of the boot\n"
               "before; of two logs, side by side.\n\n"
               "      --plot FILE      Draw an SVG picture into that file instead\n" TABLE_HELP "\n"
               "Exit status: 0, or 2 if headgate cannot tell.\n\n"
               "See headgate-shutdown-log(8).\n");
}

/* ------ reading ------ */

static bool is_standard_input(const char *path)
{
        return streq(path, "-");
}

/* What it is called in sentences. NULL without memory. */
static char *name_source(const char *path)
{
        if (!path)
                return strdup("journal");
        return is_standard_input(path) ? strdup("standard input") : string_printable(path);
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

static const char unstamped[] =
        "has devices that are shut down, but not the kernel's time of any: \"journalctl -k -o short-monotonic\" "
        "writes it, and with printk.time=1 on its command line the kernel.";

static void log_verdict(int verdict, const char *path, const char *name)
{
        static const char *const sentences[] = {
                [KERNEL_LOG_EMPTY] = "is empty.",
                [KERNEL_LOG_BINARY] = "is not text.",
                [KERNEL_LOG_UNSTAMPED] = unstamped,
                [KERNEL_LOG_TRUNCATED] =
                        "ends before the devices are shut down: no line that tells of the end follows them.",
        };

        if (verdict != KERNEL_LOG_UNRELATED)
                log_error("%s: %s", name, sentences[verdict]);
        else
                log_error("%s: nothing in it is about a device that is shut down; the kernel tells of them with "
                          "initcall_debug on its command line%s.",
                        name,
                        path ? ""
                             : ", when journald has ended: what it says then is on a serial console, or in pstore, "
                               "see headgate-shutdown-log(8)");
}

/* Files' names alone tell logs apart, unless they are the same. */
static void shorten_names(char *names[], size_t n)
{
        if (n == _SIDE_MAX && streq(basename(names[FIRST]), basename(names[SECOND])))
                return;
        for (size_t i = 0; i < n; i++)
                memmove(names[i], basename(names[i]), strlen(basename(names[i])) + 1);
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

/* ------ showing ------ */

static int draw(const struct kernel_shutdown *const shutdowns[], const char *const names[], size_t n)
{
        _cleanup_fclose_ FILE *opened = is_standard_input(arg_plot) ? NULL : fopen(arg_plot, "we");
        FILE *file = is_standard_input(arg_plot) ? stdout : opened;
        int r;

        if (!file)
                return -errno;
        r = plot_write_kernel_shutdowns(file, shutdowns, names, n);
        return r >= 0 && fflush(file) != 0 ? -errno : r;
}

static int print(const struct kernel_shutdown *const shutdowns[], const char *const names[], size_t n)
{
        _cleanup_kernel_comparison_ struct kernel_comparison comparison = {};
        int r = n > 1 ? kernel_comparison_make(&comparison, shutdowns[FIRST], shutdowns[SECOND]) : 0;

        if (r >= 0 && !arg_table.json && !arg_table.no_headings) {
                r = n > 1 ? shutdown_log_tell_comparison(&comparison, names)
                          : shutdown_log_tell(shutdowns[FIRST], names[FIRST]);
                printf("\n");
        }
        if (r < 0)
                return r;
        return n > 1 ? shutdown_log_print_comparison(&arg_table, &comparison, names)
                     : shutdown_log_print(&arg_table, shutdowns[FIRST], names[FIRST]);
}

static int show(const struct kernel_log logs[], const char *const names[], size_t n)
{
        const struct kernel_shutdown *shutdowns[] = {&logs[FIRST].shutdown, &logs[SECOND].shutdown};
        int r;

        if (arg_plot) {
                r = draw(shutdowns, names, n);
                return r < 0 ? log_error_errno(r, "Failed to write the picture: %m") : 0;
        }
        r = print(shutdowns, names, n);
        return r < 0 ? log_error_errno(r, "Failed to print the table: %m") : 0;
}

/* ------ the verb ------ */

/* Whoever writes into a pipe wants that to be read. */
static bool is_pipe(int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

static int check_arguments(int n, char *const paths[])
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

struct logs {
        struct kernel_log logs[_SIDE_MAX];
        char *names[_SIDE_MAX];
};

static void logs_done(struct logs *logs)
{
        for (size_t i = 0; i < _SIDE_MAX; i++) {
                kernel_log_done(&logs->logs[i]);
                free(logs->names[i]);
        }
}

static int read_logs(struct logs *logs, size_t n, char *const paths[])
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n; i++) {
                logs->names[i] = name_source(paths[i]);
                r = logs->names[i] ? read_log(&logs->logs[i], paths[i], logs->names[i]) : log_oom();
        }
        return r;
}

static const struct table_kind *choose_kind(int n_names)
{
        return n_names > 1 ? &shutdown_log_comparison_table : &shutdown_log_table;
}

static const struct table_switch switches[] = {
        {"plot", '\0', NULL, &arg_plot},
};

static const struct table_verb verb = {
        .choose = choose_kind, .help = help, .switches = switches, .n_switches = ELEMENTSOF(switches)};

int verb_shutdown_log(int argc, char *argv[])
{
        _cleanup_(logs_done) struct logs logs = {};
        char *unnamed[] = {is_pipe(STDIN_FILENO) ? (char *) "-" : NULL};
        size_t n_logs;
        int n, r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;
        n = argc - optind;
        n_logs = n == 0 ? 1 : (size_t) n;
        r = check_arguments(n, argv + optind);
        if (r >= 0)
                r = read_logs(&logs, n_logs, n == 0 ? unnamed : argv + optind);
        if (r >= 0) {
                shorten_names(logs.names, n_logs);
                r = show(logs.logs, (const char *const *) logs.names, n_logs);
        }
        return r < 0 ? EXIT_CANNOT_TELL : EXIT_SUCCESS;
}
