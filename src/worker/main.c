/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgated: the one worker. systemd starts it when the first request comes through headgate.socket. It finds out
 * which VGs the devices belong to, has lvm2 activate those that are complete, many at once, says what came of it,
 * and ends when there has been nothing to do for a while. What it knows stays in /run/headgate for the next
 * one. */

#include <systemd/sd-daemon.h>

#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"
#include "worker/worker.h"

/* How often a second worker looks whether the first has left. */
#define RUNNING_INTERVAL_USEC (200 * USEC_PER_MSEC)

static const char usage[] =
        "Usage: headgated [OPTION...]\n\n"
        "Activate LVM volume groups as their disks come. Started by systemd, see headgate.service.\n\n"
        "  -h, --help     Show this help\n"
        "      --version  Show the version\n\n"
        "See headgated(8).\n";

/* The socket is named in headgate.socket; others come from a newer version of it and are not ours. Returns the
 * socket, -EBADF if there is none, as when started by hand, or another negative errno. */
static int take_sockets(void)
{
        _cleanup_strv_ struct strv names = {};
        int n, wakeup_fd = -EBADF;

        n = sd_listen_fds_with_names(true, &names.strings);
        if (n < 0)
                return log_error_errno(n, "Failed to take the sockets of systemd: %m");
        names.n = (size_t) n;

        for (int i = 0; i < n; i++) {
                int fd = SD_LISTEN_FDS_START + i;

                if (wakeup_fd < 0 && streq(names.strings[i], "wakeup") &&
                        sd_is_socket(fd, AF_UNIX, SOCK_DGRAM, -1) > 0)
                        wakeup_fd = fd;
                else {
                        log_warning("Closing the socket \"%s\", which is not known here.", names.strings[i]);
                        close(fd);
                }
        }

        return wakeup_fd;
}

/* W1 of flags.h. Another worker, started by hand, will have left after some seconds. Should this one leave in its
 * place, systemd would find what has woken it in the socket, and start it again, and again. */
static int await_running(int run_fd, int *ret_fd)
{
        int r;

        for (bool told = false;; told = true) {
                r = flags_take_running(run_fd, ret_fd);
                if (r != FLAGS_IS_RUNNING)
                        return r;
                if (!told)
                        log_notice("Another worker is running; waiting until it has left.");
                (void) sd_notify(0, "READY=1\nSTATUS=Waiting for another worker to leave\nWATCHDOG=1");
                (void) usleep(RUNNING_INTERVAL_USEC);
        }
}

/* Work would go on with none: requests are found without it. But once this worker has left, each would have to ask
 * systemd for another one, see flags_wake(). */
static void restore_socket(void)
{
        int r = flags_ask_socket();

        if (r == FLAGS_SOCKET_LOST) {
                log_notice(
                        "systemd has lost the socket of headgate.socket; having it restarted, and this worker.");
                r = flags_restart_socket();
        }
        if (r < 0)
                log_warning(
                        "Failed to see to it that systemd has the socket of headgate.socket: %s", strerror(-r));
}

static int run(void)
{
        _cleanup_worker_ struct worker *worker = NULL;
        int run_fd, running_fd, wakeup_fd, r;

        wakeup_fd = take_sockets();
        if (wakeup_fd < 0 && wakeup_fd != -EBADF)
                return wakeup_fd;

        run_fd = flags_open_run_directory();
        if (run_fd < 0)
                return log_error_errno(run_fd, "Failed to open /run/headgate: %m");

        /* Before anything is begun that would be for the next worker to take up. */
        if (wakeup_fd < 0)
                restore_socket();

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
                log_error("This program takes no arguments, see --help.");
                return EXIT_FAILURE;
        }
        /* pvscan has all the disks open that it is shown, and does not see to that itself, as vgchange does. */
        allow_many_files();
        return run() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
