/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The start of programs: arguments, the root directory of all input, changed files, and signals. Libc only, for
 * headgate-request. */

#include "shared/program.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>

#include "shared/util.h"

int arguments_parse(int argc, char *argv[], const char *usage, const char *flag, bool *ret_given)
{
        const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"version", no_argument, NULL, 'V'},
                {flag, no_argument, NULL, 'f'},
                {},
        };

        /* "+": options after the first word belong to that word. */
        for (int c; (c = getopt_long(argc, argv, flag ? "h" : "+h", options, NULL)) >= 0;)
                switch (c) {
                case 'f':
                        *ret_given = true;
                        break;
                case 'h':
                        fputs(usage, stdout);
                        return 0;
                case 'V':
                        printf("headgate %s\n", HEADGATE_VERSION);
                        return 0;
                default:
                        return -EINVAL;
                }
        return 1;
}

#define TIME_SPAN_MAX_USEC (1000 * 366 * 86400e6)

/* Returns 0 for an unknown unit. */
static double time_unit_usec(const char *name, size_t length)
{
        static const struct {
                const char *name;
                double usec;
        } units[] = {{"", 1e6}, {"us", 1}, {"usec", 1}, {"ms", 1e3}, {"msec", 1e3}, {"s", 1e6}, {"sec", 1e6},
                {"second", 1e6}, {"seconds", 1e6}, {"m", 60e6}, {"min", 60e6}, {"minute", 60e6}, {"minutes", 60e6},
                {"h", 3600e6}, {"hr", 3600e6}, {"hour", 3600e6}, {"hours", 3600e6}, {"d", 86400e6},
                {"day", 86400e6}, {"days", 86400e6}, {"w", 7 * 86400e6}, {"week", 7 * 86400e6},
                {"weeks", 7 * 86400e6}};

        FOREACH_ELEMENT(unit, units)
                if (strlen(unit->name) == length && strncmp(unit->name, name, length) == 0)
                        return unit->usec;
        return 0;
}

int parse_time_span(const char *string, uint64_t *ret)
{
        const char *rest = string + strspn(string, " ");
        double usec = 0;

        do {
                const char *after_digits = rest + strspn(rest, "0123456789.");
                char *end;
                double number = strtod(rest, &end), unit;
                size_t length;

                /* strtod() also takes "-1", "1e3" and "inf". */
                if (end == rest || end != after_digits)
                        return -EINVAL;
                rest = end + strspn(end, " ");
                length = strspn(rest, "abcdefghijklmnopqrstuvwxyz");
                unit = time_unit_usec(rest, length);
                if (unit <= 0)
                        return -EINVAL;
                usec += number * unit;
                rest += length + strspn(rest + length, " ");
                /* Only the last number may be without a unit. */
                if (length == 0 && *rest != '\0')
                        return -EINVAL;
        } while (*rest != '\0');
        if (usec > TIME_SPAN_MAX_USEC)
                return -ERANGE;
        /* 0 may mean infinity. */
        *ret = usec > 0 && usec < 1 ? 1 : (uint64_t) usec;
        return 0;
}

const char *root_path(void)
{
        return secure_getenv("HEADGATE_ROOT") ?: "/";
}

bool root_is_chosen(void)
{
        return secure_getenv("HEADGATE_ROOT") != NULL;
}

int root_open(void)
{
        int fd = open(root_path(), O_PATH | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

int signals_block(void)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGCHLD);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        return sigprocmask(SIG_BLOCK, &signals, NULL) < 0 ? -errno : 0;
}

/* The kernel's clock for files has this precision: a second change within it has the same time. */
#define FILE_CLOCK_USEC 20000

static bool has_just_changed(const struct stat *status)
{
        uint64_t changed_usec =
                (uint64_t) status->st_ctim.tv_sec * USEC_PER_SEC + (uint64_t) status->st_ctim.tv_nsec / 1000;

        return llabs((int64_t) (now_realtime_usec() - changed_usec)) < FILE_CLOCK_USEC;
}

/* A missing file has inode number 0. */
bool files_have_changed(int dir_fd, const char *const paths[], size_t n, struct stat *known)
{
        bool changed = false;

        for (size_t i = 0; i < n; i++) {
                struct stat status;

                if (fstatat(dir_fd, paths[i], &status, 0) < 0)
                        status = (struct stat){};
                changed |= status.st_dev != known[i].st_dev || status.st_ino != known[i].st_ino ||
                           status.st_size != known[i].st_size ||
                           status.st_ctim.tv_sec != known[i].st_ctim.tv_sec ||
                           status.st_ctim.tv_nsec != known[i].st_ctim.tv_nsec;
                known[i] = status;
                if (has_just_changed(&status))
                        known[i].st_ctim.tv_nsec = -1;
        }
        return changed;
}
