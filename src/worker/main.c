/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgated: the worker. systemd starts it by headgate.socket for the first request. It finds the VGs of the
 * devices, has lvm2 activate complete ones in batches, logs the results, and exits after some time without work.
 * Its state stays in /run/headgate for the next worker. */

#include <systemd/sd-daemon.h>
#include <systemd/sd-login.h>

#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"
#include "worker/worker.h"

/* How often a second worker checks whether the first has left. */
#define RUNNING_INTERVAL_USEC (200 * USEC_PER_MSEC)

static const char usage[] =
        "Usage: headgated [OPTION...]\n\n"
        "Activate LVM volume groups as their disks appear. Started by systemd, see headgate.service.\n\n"
        "  -h, --help     Show this help\n"
        "      --version  Show the version\n\n"
        "See headgated(8).\n";

/* Returns the socket of headgate.socket, -EBADF if there is none, as when started by hand, or another negative errno. */
static int take_socket(void)
{
        int n = sd_listen_fds(true);

        if (n < 0)
                return log_error_errno(n, "Failed to get the socket from systemd: %m");
        if (n == 0 || sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, SOCK_DGRAM, -1) <= 0)
                return -EBADF;
        return SD_LISTEN_FDS_START;
}

/* W1 of flags.h. Another worker, started by hand, leaves after some seconds. If this one exited instead, systemd
 * would restart it again and again, as the datagram that woke it is still in the socket. */
static int await_running(int run_fd, int *ret_fd)
{
        int r;

        for (bool logged = false;; logged = true) {
                r = flags_take_running(run_fd, ret_fd);
                if (r != FLAGS_IS_RUNNING)
                        return r;
                if (!logged)
                        log_notice("Another worker is running; waiting until it exits.");
                (void) sd_notify(0, "READY=1\nSTATUS=Waiting for another worker to exit\nWATCHDOG=1");
                (void) usleep(RUNNING_INTERVAL_USEC);
        }
}

/* headgate.service starts only while the socket exists, and systemd passes each socket that it has not lost. This
 * worker finds requests without it. But after it has left, each request would have to ask systemd for another
 * worker, see flags_wake(). */
static void restore_lost_socket(void)
{
        _cleanup_free_ char *unit = NULL;
        int r;

        if (sd_pid_get_unit(0, &unit) < 0 || !streq(unit, "headgate.service"))
                return;
        log_notice("systemd lost the socket of headgate.socket; restarting it and this worker.");
        r = flags_restart_socket();
        if (r < 0)
                log_warning("Failed to restart headgate.socket: %s", strerror(-r));
}

static int run(void)
{
        _cleanup_worker_ struct worker *worker = NULL;
        int run_fd, running_fd, wakeup_fd, r;

        wakeup_fd = take_socket();
        if (wakeup_fd < 0 && wakeup_fd != -EBADF)
                return wakeup_fd;

        run_fd = flags_open_run_directory();
        if (run_fd < 0)
                return log_error_errno(run_fd, "Failed to open /run/headgate: %m");

        /* Before this worker starts anything that the next one would have to take over. */
        if (wakeup_fd < 0)
                restore_lost_socket();

        r = await_running(run_fd, &running_fd);
        if (r < 0)
                return log_error_errno(r, "Failed to lock /run/headgate/running: %m");

        r = worker_new(run_fd, running_fd, wakeup_fd, &worker);
        if (r < 0)
                return r;
        (void) sd_notify(0, "READY=1");
        r = worker_run(worker);
        (void) sd_notify(0, "STOPPING=1");
        return r;
}

int main(int argc, char *argv[])
{
        int r;

        log_open("headgated", secure_getenv("INVOCATION_ID") ? LOG_TARGET_JOURNAL : LOG_TARGET_STDERR);

        r = arguments_parse_plain(argc, argv, usage);
        if (r <= 0)
                return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (optind < argc) {
                log_error("headgated takes no arguments, see --help.");
                return EXIT_FAILURE;
        }
        /* pvscan opens all its devices at once, and unlike vgchange does not raise the limit itself. */
        allow_many_files();
        return run() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
