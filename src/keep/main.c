/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-keep: archives the timeline of this boot, for "headgate blame --boot=-1" in the next one.
 * headgate-keep.service runs it while the machine boots, so that there is something to look at should it be
 * switched off, and once more when it is stopped, at shutdown. Nobody waits for it, and nothing depends on what
 * it does. */

#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"
#include "timeline/archive.h"
#include "view/snapshot.h"

/* With --follow, how often it is written, and for how long at most. */
#define INTERVAL_SEC 10
#define ROUNDS_MAX 60

static bool arg_follow;

static void help(void)
{
        printf("Usage: headgate-keep [OPTION...]\n\n"
               "Keep the timeline of this boot. Started by systemd, see headgate-keep.service.\n\n"
               "      --follow   Again and again, until the boot is over\n"
               "  -h, --help     Show this help\n"
               "      --version  Show the version\n\n"
               "See headgate-keep(8).\n");
}

/* When udev was done is told by links, which something may have had made anew since. Who looked before that
 * knew. */
static void take_what_was_known(struct timeline *timeline, const struct timeline *earlier)
{
        FOREACH_ARRAY(bar, timeline->bars, timeline->n)
                FOREACH_ARRAY(known, earlier->bars, earlier->n) {
                        if (bar->linked_usec > 0 || known->linked_usec == 0 || !streq(bar->name, known->name) ||
                                bar->first_usec != known->first_usec || bar->asked_usec != known->asked_usec)
                                continue;
                        bar->linked_usec = known->linked_usec;
                        memcpy(bar->phases_usec, known->phases_usec, sizeof(bar->phases_usec));
                }
}

static int archive_boot(struct sources *sources, int archive_fd, sd_id128_t boot)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_BOOT}, earlier = {.kind = TIMELINE_BOOT};
        int r;

        r = snapshot_read(sources);
        if (r >= 0)
                r = timeline_read_boot(
                        &timeline, sources->volume_groups, sources->n_volume_groups, sources->root_fd);
        if (r < 0)
                return log_error_errno(r, "Failed to read what the worker has written down: %m");
        r = archive_read(archive_fd, boot, &earlier);
        if (r >= 0)
                take_what_was_known(&timeline, &earlier);
        r = archive_write(archive_fd, ARCHIVE_BOOT, boot, &timeline);
        return r < 0 ? log_error_errno(r, "Failed to write to /" ARCHIVE_DIRECTORY ": %m") : 0;
}

static int run(void)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_close_ int archive_fd = -EBADF;
        sd_id128_t boot;
        int r;

        r = sources_open_permitted(&sources);
        if (r < 0)
                return log_error_errno(r, "Failed to look into /run/headgate: %m");
        if (!sources.in_charge) {
                log_debug("headgate is not in charge, so there is nothing to keep.");
                return 0;
        }
        archive_fd = archive_open(sources.root_fd);
        if (archive_fd < 0)
                return log_error_errno(archive_fd, "Failed to open /" ARCHIVE_DIRECTORY ": %m");
        r = sd_id128_get_boot(&boot);
        if (r < 0)
                return log_error_errno(r, "Failed to tell which boot this is: %m");

        r = archive_boot(&sources, archive_fd, boot);
        for (unsigned int i = 1; r >= 0 && arg_follow && i < ROUNDS_MAX; i++) {
                if (flags_is_set(sources.run_fd, FLAGS_BOOT_FINISHED) > 0 &&
                        flags_ask_running(sources.run_fd) == FLAGS_NOT_RUNNING)
                        return archive_boot(&sources, archive_fd, boot);
                sleep(INTERVAL_SEC);
                r = archive_boot(&sources, archive_fd, boot);
        }
        return r;
}

int main(int argc, char *argv[])
{
        int r;

        log_open("headgate-keep", log_target_of_stderr());

        r = arguments_parse(argc, argv, help, "follow", &arg_follow);
        if (r <= 0)
                return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (optind < argc) {
                log_error("This program takes no arguments, see --help.");
                return EXIT_FAILURE;
        }
        return run() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
