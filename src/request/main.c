/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-request: the RUN+= program of 68-headgate.rules, started for each PV while no worker listens to udev. So
 * it must be cheap: libc only, a dozen system calls, no waiting, and the device is not read. Only if systemd has
 * lost the socket it runs systemctl, see flags_wake(). */

#include "shared/flags.h"
#include "shared/macro.h"
#include "shared/program.h"

static const char usage[] = "Usage: headgate-request [OPTION...] [change:]MAJOR:MINOR\n\n"
                            "Ask the headgate worker to look at a block device. Called by udev.\n\n"
                            "  -h, --help     Show this help\n"
                            "      --version  Show the version\n\n"
                            "See headgate-request(8).\n";

/* The rule passes "$major:$minor", perhaps after "change:". Anything else is an error, and must not become a file
 * name. */
static bool is_request(const char *string)
{
        int length = 0;

        string = skip_prefix(string, FLAGS_ENTRY_CHANGED) ?: string;
        (void) sscanf(string, "%*10[0-9]:%*10[0-9]%n", &length);
        return length > 0 && string[length] == '\0';
}

static int fail(int r, const char *what)
{
        fprintf(stderr, "headgate-request: %s: %s\n", what, strerror(-r));
        return EXIT_FAILURE;
}

static int request(const char *entry)
{
        _cleanup_close_ int run_fd = flags_open_run_directory();
        const char *datagram = FLAGS_WAKE;
        int r;

        /* The request cannot be stored: make the worker ask udev for all tagged devices. */
        r = run_fd < 0 ? run_fd : flags_post(run_fd, entry);
        if (r < 0) {
                (void) fail(r, "Failed to store the request, asking udev for all devices instead");
                datagram = FLAGS_WAKE_RESYNC;
        } else if (flags_ask_running(run_fd) == FLAGS_IS_RUNNING)
                return EXIT_SUCCESS;

        r = flags_wake(datagram);
        /* The socket is stopped, as at shutdown, when network disks are removed. The request is kept, and the next
         * start of the socket starts a worker. */
        if (r == -ENOENT && streq(datagram, FLAGS_WAKE))
                return EXIT_SUCCESS;
        return r < 0 ? fail(r, "Failed to wake the worker") : EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
        int r = arguments_parse_plain(argc, argv, usage);

        if (r <= 0)
                return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

        if (argc - optind != 1 || !is_request(argv[optind])) {
                fprintf(stderr, "headgate-request: Expected one MAJOR:MINOR, see --help.\n");
                return EXIT_FAILURE;
        }
        return request(argv[optind]);
}
