/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-request: the RUN+= hook of 68-headgate.rules. Started once for each device with LVM metadata while no
 * worker listens to udev, so it is all that a device costs: libc only, no reading of the device, a dozen system
 * calls, no waiting. Only where systemd has lost the socket it takes a systemctl, see flags_wake(). */

#include "shared/flags.h"
#include "shared/macro.h"
#include "shared/program.h"

static const char usage[] = "Usage: headgate-request [OPTION...] [change:]MAJOR:MINOR\n\n"
                            "Ask the headgate worker to look at a block device. Called by udev.\n\n"
                            "  -h, --help     Show this help\n"
                            "      --version  Show the version\n\n"
                            "See headgate-request(8).\n";

/* The rule gives "$major:$minor", or that with "change:" before it; anything else is a mistake, and must not
 * become a file name. */
static bool is_request(const char *string)
{
        size_t major_length, minor_length;

        string = skip_prefix(string, FLAGS_ENTRY_CHANGED) ?: string;
        major_length = strspn(string, "0123456789");

        if (major_length == 0 || major_length > 10 || string[major_length] != ':')
                return false;
        minor_length = strspn(string + major_length + 1, "0123456789");
        return minor_length > 0 && minor_length <= 10 && string[major_length + 1 + minor_length] == '\0';
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

        /* The request cannot be kept: udev's tag still tells a worker that asks for it, so have it ask. */
        r = run_fd < 0 ? run_fd : flags_post(run_fd, entry);
        if (r < 0) {
                (void) fail(r, "Failed to write down the request, asking for all devices instead");
                datagram = FLAGS_WAKE_RESYNC;
        } else if (flags_ask_running(run_fd) == FLAGS_IS_RUNNING)
                return EXIT_SUCCESS;

        r = flags_wake(datagram);
        /* The socket was stopped, as it is at shutdown, when network disks go. The request is kept: whoever starts
         * it again starts a worker, too. */
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
                fprintf(stderr, "headgate-request: expected one MAJOR:MINOR, see --help\n");
                return EXIT_FAILURE;
        }
        return request(argv[optind]);
}
