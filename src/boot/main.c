/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-generator: has systemd start direct activation at boot, one unit for each group of VGs that the
 * machine is known to have, leave shutdown to headgate, and have LVs monitored without reading disks in vain.
 * PID 1 waits for it at boot and at every daemon-reload, so it reads files and writes files, and talks to nobody:
 * no processes, no sockets, no devices. See systemd.generator(7). */

#include "boot/switches.h"
#include "boot/units.h"
#include "shared/log.h"
#include "shared/program.h"

/* The kernel's log is everybody's. "headgate plan activate" shows all. */
#define PROBLEMS_LOGGED_MAX 20

static void help(void)
{
        printf("Usage: headgate-generator NORMAL-DIRECTORY [EARLY-DIRECTORY LATE-DIRECTORY]\n\n"
               "Write units that activate the volume groups that are known. Run by systemd.\n\n"
               "  -h, --help     Show this help\n"
               "      --version  Show the version\n\n"
               "See headgate-generator(8).\n");
}

static void log_problems(const struct problems *problems)
{
        size_t n = MIN(problems->lines.n, (size_t) PROBLEMS_LOGGED_MAX);

        for (size_t i = 0; i < n; i++)
                log_warning("%s", problems->lines.strings[i]);
        if (problems->lines.n > n)
                log_warning("And %zu more, see \"headgate plan activate\".", problems->lines.n - n);
}

static int plan_activation(int root_fd, const char *directory, struct problems *problems)
{
        _cleanup_settings_ struct settings settings = {};
        _cleanup_configuration_ struct configuration configuration = {};
        _cleanup_plan_ struct plan plan = {};
        const char *off;
        int r;

        r = settings_read(root_fd, &settings, problems);
        if (r >= 0)
                r = configuration_read(root_fd, &configuration, problems);
        if (r >= 0)
                r = switches_describe_off(root_fd, &settings, &configuration, &off);
        if (r < 0)
                return log_error_errno(r, "Failed to read headgate.conf and lvm.conf: %m");
        if (off) {
                log_debug("%s", off);
                return 0;
        }

        r = plan_make(root_fd, &settings, &configuration, NULL, &plan, problems);
        if (r < 0)
                return log_error_errno(r, "Failed to make the plan of boot: %m");
        for (enum plan_group group = 0; group < _PLAN_GROUP_MAX; group++) {
                int written = units_write_group(directory, &plan, group);

                if (written < 0)
                        (void) log_error_errno(
                                written, "Failed to write the unit of group %s: %m", plan_group_to_string(group));
                r = r < 0 ? r : written;
        }
        return r;
}

/* Returns the first error; what can be generated in spite of it is. `early_directory` may be NULL. */
static int run(const char *directory, const char *early_directory, struct problems *problems)
{
        _cleanup_close_ int root_fd = root_open();
        int masked, narrowed, r;

        if (root_fd < 0)
                return log_error_errno(root_fd, "Failed to open %s: %m", root_path());
        masked = early_directory ? units_mask_blk_availability(root_fd, early_directory) : 0;
        if (masked < 0)
                (void) log_error_errno(masked, "Failed to mask " BLK_AVAILABILITY_UNIT ": %m");
        narrowed = units_narrow_monitoring(root_fd, directory);
        if (narrowed < 0)
                (void) log_error_errno(narrowed, "Failed to narrow " MONITOR_UNIT ": %m");
        r = plan_activation(root_fd, directory, problems);
        return masked < 0 ? masked : narrowed < 0 ? narrowed : r;
}

int main(int argc, char *argv[])
{
        _cleanup_problems_ struct problems problems = {};
        int r;

        /* systemd gives its generators no standard error; where tests set the root, they read it. */
        log_open("headgate-generator", root_is_chosen() ? LOG_TARGET_STDERR : LOG_TARGET_KMSG);

        r = arguments_parse_plain(argc, argv, help);
        if (r <= 0)
                return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (argc - optind != 1 && argc - optind != 3) {
                log_error("Expected one directory, or three.");
                return EXIT_FAILURE;
        }

        r = run(argv[optind], argc - optind > 1 ? argv[optind + 1] : NULL, &problems);
        log_problems(&problems);
        /* What is wrong in a file is no failure: the rest of it counts. */
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
