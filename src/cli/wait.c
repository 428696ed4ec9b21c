/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate wait and headgate activate: both wait until VGs are settled; the latter has them tried first. */

#include <getopt.h>

#include "cli/await.h"
#include "cli/verbs.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/util.h"

/* As long as systemd waits for a device by default (DefaultDeviceTimeoutSec=). */
#define TIMEOUT_DEFAULT_USEC (90 * USEC_PER_SEC)

static bool arg_expect;
static bool arg_ignore_absent;
static bool arg_urgent;
static bool arg_timeout_set;
static uint64_t arg_timeout_usec = TIMEOUT_DEFAULT_USEC;

static void help_wait(void)
{
        printf("Usage: headgate wait [OPTION...] [--] [VG...]\n\n"
               "Wait until the volume groups have been activated; without a name, all of which\n"
               "anything is seen during boot.\n\n"
               "      --timeout SECONDS  How long to wait, 90 by default; 0 for ever\n"
               "      --expect           Have them go before others, and wait until they are overdue\n"
               "      --ignore-absent    Those of which nothing was seen, or that lvm2 is not to\n"
               "                         activate, do not count\n"
               "      --urgent           Boot may wait for any of them: have none stand back\n"
               "  -h, --help             Show this help\n\n"
               "Exit status: 0 if all are active, 1 if some are not, 2 if headgate cannot tell, 3 if\n"
               "headgate is not in charge.\n\n"
               "See headgate-wait(8).\n");
}

static void help_activate(void)
{
        printf("Usage: headgate activate [OPTION...] [--] VG...\n\n"
               "Have volume groups activated that were deactivated or had failed, and wait for\n"
               "them.\n\n"
               "      --timeout SECONDS  How long to wait, 90 by default; 0 for ever\n"
               "  -h, --help             Show this help\n\n"
               "Exit status: 0 if all are active, 1 if some are not, 2 if headgate cannot tell, 3 if\n"
               "headgate is not in charge.\n\n"
               "See headgate-activate(8).\n");
}

static const struct option wait_options[] = {
        {"expect", no_argument, NULL, 'e'},
        {"help", no_argument, NULL, 'h'},
        {"ignore-absent", no_argument, NULL, 'i'},
        {"timeout", required_argument, NULL, 't'},
        {"urgent", no_argument, NULL, 'u'},
        {},
};

static const struct option activate_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"timeout", required_argument, NULL, 't'},
        {},
};

/* systemd makes a "/" of each "-" of an instance (systemd.unit(5)), and people write headgate-vg@my-vg.service. No VG has a
 * "/" in its name. */
static void restore_name(char *name)
{
        for (char *c = strchr(name, '/'); c; c = strchr(c, '/'))
                *c = '-';
}

/* 1 to go on, or an exit status, negated. */
static int parse_arguments(int argc, char *argv[], const struct option *options, void (*help)(void))
{
        uint32_t seconds;

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help();
                        return -EXIT_SUCCESS;
                case 't':
                        if (parse_u32(optarg, &seconds) < 0) {
                                log_error("--timeout wants a number of seconds, not \"%s\".", optarg);
                                return -EXIT_CANNOT_TELL;
                        }
                        arg_timeout_usec = seconds > 0 ? seconds * USEC_PER_SEC : USEC_INFINITY;
                        arg_timeout_set = true;
                        break;
                case 'e':
                        arg_expect = true;
                        break;
                case 'i':
                        arg_ignore_absent = true;
                        break;
                case 'u':
                        arg_urgent = true;
                        break;
                default:
                        return -EXIT_CANNOT_TELL;
                }

        for (int i = optind; i < argc; i++) {
                if (arg_expect)
                        restore_name(argv[i]);
                if (!volume_group_name_is_valid(argv[i])) {
                        log_error("\"%s\" cannot be the name of a VG.", argv[i]);
                        return -EXIT_CANNOT_TELL;
                }
        }
        return 1;
}

static int exit_status_of_error(int error)
{
        return error == -ENOENT ? EXIT_LVM2_ACTIVATES : EXIT_CANNOT_TELL;
}

/* Makes the requests, if any, and waits. */
static int request_and_wait(struct sources *sources, const struct await *await)
{
        int r = await->request ? await_request(sources->run_fd, await) : 0;

        if (r < 0) {
                (void) log_error_errno(r, "Failed to ask the worker: %m");
                return EXIT_CANNOT_TELL;
        }
        return await_volume_groups(sources, await);
}

int verb_wait(int argc, char *argv[])
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        struct await await = {};
        int r;

        r = parse_arguments(argc, argv, wait_options, help_wait);
        if (r <= 0)
                return -r;
        if (arg_expect && optind == argc) {
                log_error("--expect wants the name of a VG, see --help.");
                return EXIT_CANNOT_TELL;
        }
        r = sources_open_in_charge(&sources);
        if (r < 0)
                return exit_status_of_error(r);

        await = (struct await){
                .names = argv + optind,
                .n_names = (size_t) (argc - optind),
                .request = arg_expect ? FLAGS_ENTRY_EXPECTED : NULL,
                .until_deadline = arg_expect || arg_ignore_absent || optind == argc,
                .ignore_unwanted = arg_ignore_absent || optind == argc,
                .timeout_usec = arg_timeout_usec,
        };
        /* The worker has deadlines of its own. */
        if (await.until_deadline && !arg_timeout_set)
                await.timeout_usec = USEC_INFINITY;

        if (arg_urgent) {
                r = flags_set(sources.run_fd, FLAGS_URGENT);
                if (r < 0) {
                        (void) log_error_errno(r, "Failed to say that no VG is to stand back: %m");
                        return EXIT_CANNOT_TELL;
                }
        }
        return request_and_wait(&sources, &await);
}

int verb_activate(int argc, char *argv[])
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        r = parse_arguments(argc, argv, activate_options, help_activate);
        if (r <= 0)
                return -r;
        if (optind == argc) {
                log_error("Expected the name of a VG, see --help.");
                return EXIT_CANNOT_TELL;
        }
        r = sources_open_in_charge(&sources);
        if (r < 0)
                return exit_status_of_error(r);

        return request_and_wait(&sources, &(struct await){
                                                  .names = argv + optind,
                                                  .n_names = (size_t) (argc - optind),
                                                  .request = FLAGS_ENTRY_VOLUME_GROUP,
                                                  .timeout_usec = arg_timeout_usec,
                                          });
}
