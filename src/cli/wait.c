/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate wait and headgate activate: both watch what the worker writes down until the VGs are settled; the
 * latter asks for them first. */

#include <getopt.h>
#include <poll.h>
#include <sys/inotify.h>

#include "cli/snapshot.h"
#include "cli/verbs.h"
#include "lvm/metadata.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"

/* As long as systemd waits for a device by default (DefaultDeviceTimeoutSec=). */
#define TIMEOUT_DEFAULT_USEC (90 * USEC_PER_SEC)

static uint64_t arg_timeout_usec = TIMEOUT_DEFAULT_USEC;

static void help(const char *verb, const char *what)
{
        printf("Usage: headgate %s [OPTION...] [--] VG...\n\n"
               "%s\n\n"
               "      --timeout SECONDS  How long to wait, 90 by default; 0 for ever\n"
               "  -h, --help             Show this help\n\n"
               "Exit status: 0 if all are active, 1 if some are not, 2 if that cannot be told.\n\n"
               "See headgate(8).\n",
                verb, what);
}

/* 1 to go on, or an exit status, negated. */
static int parse_arguments(int argc, char *argv[], const char *what)
{
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"timeout", required_argument, NULL, 't'},
                {},
        };
        uint32_t seconds;

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help(argv[0], what);
                        return -EXIT_SUCCESS;
                case 't':
                        if (parse_u32(optarg, &seconds) < 0) {
                                log_error("--timeout wants a number of seconds, not \"%s\".", optarg);
                                return -EXIT_CANNOT_TELL;
                        }
                        arg_timeout_usec = seconds > 0 ? seconds * USEC_PER_SEC : USEC_INFINITY;
                        break;
                default:
                        return -EXIT_CANNOT_TELL;
                }

        if (optind == argc) {
                log_error("Expected the name of a VG, see --help.");
                return -EXIT_CANNOT_TELL;
        }
        for (int i = optind; i < argc; i++)
                if (!volume_group_name_is_valid(argv[i])) {
                        log_error("\"%s\" cannot be the name of a VG.", argv[i]);
                        return -EXIT_CANNOT_TELL;
                }
        return 1;
}

static char *request_entry(const char *name)
{
        return string_format(FLAGS_ENTRY_VOLUME_GROUP "%s", name);
}

/* Whether the worker still has a request for the VG to deal with. */
static int is_requested(int run_fd, const char *name)
{
        static const char *const directories[] = {FLAGS_PENDING_DIRECTORY, FLAGS_WORKING_DIRECTORY};
        _cleanup_free_ char *entry = request_entry(name);

        if (!entry)
                return -ENOMEM;
        for (size_t i = 0; i < ELEMENTSOF(directories); i++) {
                _cleanup_free_ char *path = string_format("%s/%s", directories[i], entry);
                int r = path ? flags_is_set(run_fd, path) : -ENOMEM;

                if (r != 0)
                        return r;
        }
        return 0;
}

enum {
        NOT_SETTLED = 0,
        SETTLED_UP = 1,
        SETTLED_NOT_UP = 2,
};

/* A VG that waits for PVs may still come, unless somebody asked for it now. */
static int judge(const struct snapshot *snapshot, const char *name, bool asked)
{
        const struct volume_group *volume_group = snapshot_find(snapshot, name);

        if (!volume_group || volume_group->state == VOLUME_GROUP_WAITING)
                return asked ? SETTLED_NOT_UP : NOT_SETTLED;
        if (!volume_group_is_settled(volume_group))
                return NOT_SETTLED;
        return volume_group->state == VOLUME_GROUP_ACTIVE ? SETTLED_UP : SETTLED_NOT_UP;
}

/* Sets `snapshot`. The requests are looked at first: what comes of them is written down before they end. */
static int judge_all(int run_fd, char *const names[], size_t n, bool asked, struct snapshot *snapshot)
{
        bool requested = false;
        int r, result = SETTLED_UP;

        for (size_t i = 0; asked && i < n; i++) {
                r = is_requested(run_fd, names[i]);
                if (r < 0)
                        return r;
                requested |= r > 0;
        }

        r = snapshot_read(run_fd, snapshot);
        if (r < 0)
                return r;
        if (requested)
                return NOT_SETTLED;

        for (size_t i = 0; i < n; i++) {
                r = judge(snapshot, names[i], asked);
                if (r == NOT_SETTLED)
                        return NOT_SETTLED;
                result = MAX(result, r);
        }
        return result;
}

/* The directories whose changes can mean that a VG is settled. One that does not exist yet is made by the worker
 * later; then the clock helps. */
static int watch(int run_fd)
{
        static const char *const names[] = {VOLUME_GROUP_DIRECTORY, FLAGS_WORKING_DIRECTORY};
        int fd;

        fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (fd < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_free_ char *path = string_format("/proc/self/fd/%i/%s", run_fd, names[i]);

                if (path)
                        (void) inotify_add_watch(fd, path, IN_MOVED_TO | IN_DELETE | IN_ONLYDIR);
        }
        return fd;
}

/* Waits for a change, for a second at most. */
static void wait_for_change(int watch_fd, uint64_t deadline)
{
        struct pollfd poll_fd = {.fd = watch_fd, .events = POLLIN};
        uint64_t now = now_usec();
        uint64_t left = deadline > now ? deadline - now : 0;
        char events[4096];

        if (poll(&poll_fd, 1, (int) (MIN(left, USEC_PER_SEC) / USEC_PER_MSEC) + 1) <= 0)
                return;

        /* What comes within the next moment is seen by the same look. */
        while (read(watch_fd, events, sizeof(events)) > 0)
                ;
}

static int wait_for_all(int run_fd, char *const names[], size_t n, bool asked)
{
        uint64_t deadline = arg_timeout_usec == USEC_INFINITY ? USEC_INFINITY : now_usec() + arg_timeout_usec;
        _cleanup_close_ int watch_fd = watch(run_fd);

        if (watch_fd < 0) {
                (void) log_error_errno(watch_fd, "Failed to watch /run/headgate: %m");
                return EXIT_CANNOT_TELL;
        }

        for (;;) {
                _cleanup_snapshot_ struct snapshot snapshot = {};
                int r;

                r = judge_all(run_fd, names, n, asked, &snapshot);
                if (r < 0) {
                        (void) log_error_errno(r, "Failed to read what the worker has written down: %m");
                        return EXIT_CANNOT_TELL;
                }
                if (r == SETTLED_UP)
                        return EXIT_ALL_UP;

                if (r == SETTLED_NOT_UP || now_usec() >= deadline) {
                        for (size_t i = 0; i < n; i++) {
                                const struct volume_group *volume_group = snapshot_find(&snapshot, names[i]);

                                if (!volume_group)
                                        explain_absent(names[i]);
                                else if (volume_group->state != VOLUME_GROUP_ACTIVE)
                                        explain_volume_group(volume_group);
                        }
                        return EXIT_NOT_ALL_UP;
                }
                wait_for_change(watch_fd, deadline);
        }
}

int verb_wait(int argc, char *argv[])
{
        _cleanup_close_ int run_fd = -EBADF;
        int r;

        r = parse_arguments(argc, argv, "Wait until the volume groups have been activated.");
        if (r <= 0)
                return -r;
        run_fd = open_run_directory_in_charge();
        if (run_fd < 0)
                return EXIT_CANNOT_TELL;
        return wait_for_all(run_fd, argv + optind, (size_t) (argc - optind), false);
}

static int ask(int run_fd, const char *name)
{
        _cleanup_free_ char *entry = request_entry(name);

        return entry ? flags_post(run_fd, entry) : -ENOMEM;
}

int verb_activate(int argc, char *argv[])
{
        _cleanup_close_ int run_fd = -EBADF;
        int r;

        r = parse_arguments(argc, argv,
                "Have volume groups activated that were deactivated or had failed, and wait for them.");
        if (r <= 0)
                return -r;
        run_fd = open_run_directory_in_charge();
        if (run_fd < 0)
                return EXIT_CANNOT_TELL;

        r = flags_prepare(run_fd);
        for (int i = optind; r >= 0 && i < argc; i++)
                r = ask(run_fd, argv[i]);
        if (r >= 0)
                r = flags_wake(FLAGS_WAKE);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to ask the worker: %m");
                return EXIT_CANNOT_TELL;
        }
        return wait_for_all(run_fd, argv + optind, (size_t) (argc - optind), true);
}
