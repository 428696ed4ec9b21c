/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/chronicle.h"

#include "cli/past-boots.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "timeline/archive.h"
#include "timeline/boot.h"
#include "timeline/shutdown.h"
#include "view/snapshot.h"

static int read_boot(struct timeline *timeline)
{
        _cleanup_snapshot_ struct snapshot snapshot = {};
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        r = sources_open_in_charge(&sources);
        if (r < 0)
                return r;
        r = snapshot_read(&sources, &snapshot);
        if (r >= 0)
                r = timeline_read_boot(timeline, snapshot.volume_groups, snapshot.n, sources.root_fd);
        return r < 0 ? log_error_errno(r, "Failed to read what the worker has written down: %m") : 0;
}

static int read_kept(int root_fd, sd_id128_t boot, struct timeline *timeline)
{
        _cleanup_close_ int archive_fd = archive_open(root_fd);

        if (archive_fd == -ENOENT || archive_fd == -EACCES)
                return -ENOENT;
        return archive_fd < 0 ? archive_fd : archive_read(archive_fd, boot, timeline);
}

static int read_earlier_boot(int root_fd, sd_id128_t boot, struct timeline *timeline)
{
        int r;

        timeline->kind = TIMELINE_BOOT;
        r = read_kept(root_fd, boot, timeline);
        if (r == -ENOENT)
                log_error("No timeline is kept of boot " SD_ID128_FORMAT_STR "%s.", SD_ID128_FORMAT_VAL(boot),
                        geteuid() == 0
                                ? ": headgate was not in charge, it was too long ago, or /" ARCHIVE_DIRECTORY
                                  " could not be written to"
                                : " that you may read; root may");
        else if (r < 0)
                (void) log_error_errno(r, "Failed to read /" ARCHIVE_DIRECTORY ": %m");
        return r;
}

/* Where nothing is kept, the journal may have it. */
static int read_shutdown(int root_fd, sd_id128_t boot, struct timeline *timeline)
{
        int r;

        timeline->kind = TIMELINE_SHUTDOWN;
        r = read_kept(root_fd, boot, timeline);
        if (r < 0 && r != -ENOENT && r != -ENOMEM)
                log_warning("Failed to read /" ARCHIVE_DIRECTORY ": %s", strerror(-r));
        if (r < 0)
                r = timeline_read_shutdown(timeline, boot);
        if (r == -ENOENT)
                log_error(
                        "headgate-teardown has told of no device at the end of boot " SD_ID128_FORMAT_STR
                        ": headgate was not in charge, there was nothing to take down, the machine was switched off, "
                        "or that was not kept%s.",
                        SD_ID128_FORMAT_VAL(boot), geteuid() == 0 ? "" : " where you may read it; root may");
        else if (r < 0)
                (void) log_error_errno(r, "Failed to read the journal: %m");
        return r;
}

/* Of another boot than this one. */
static int read_of_boot(const struct chronicle *chronicle, const char *name, struct timeline *timeline)
{
        _cleanup_boots_ struct boots boots = {};
        _cleanup_close_ int root_fd = root_open();
        sd_id128_t boot, this_boot;
        int r;

        r = root_fd < 0 ? root_fd : past_boots_read(root_fd, &boots);
        if (r >= 0)
                r = sd_id128_get_boot(&this_boot);
        if (r < 0)
                return log_error_errno(r, "Failed to find out which boots there were: %m");
        r = past_boots_find(&boots, name, &boot);
        if (r < 0)
                return r;
        if (chronicle->kind == TIMELINE_SHUTDOWN)
                return read_shutdown(root_fd, boot, timeline);
        return sd_id128_equal(boot, this_boot) ? read_boot(timeline) : read_earlier_boot(root_fd, boot, timeline);
}

static int read_chronicle(const struct chronicle *chronicle, struct timeline *timeline)
{
        if (chronicle->boot)
                return read_of_boot(chronicle, chronicle->boot, timeline);
        return chronicle->kind == TIMELINE_BOOT ? read_boot(timeline) : read_of_boot(chronicle, "-1", timeline);
}

static void say_unknown(const struct timeline *timeline, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};

        for (size_t i = 0; i < timeline->n; i++) {
                suggestion_consider(&suggestion, timeline->bars[i].name);
                if (timeline->bars[i].tree)
                        suggestion_consider(&suggestion, timeline->bars[i].tree);
        }
        if (timeline->kind == TIMELINE_BOOT)
                suggestion_log_unknown(&suggestion, "VG", "see headgate status");
        else
                suggestion_log_unknown(&suggestion, "device or storage tree", "see headgate blame --shutdown");
}

int chronicle_read(struct timeline *timeline, const struct chronicle *chronicle, char *const names[], size_t n)
{
        const char *unknown = NULL;
        int r;

        r = read_chronicle(chronicle, timeline);
        if (r < 0)
                return r;
        if (timeline->n_left_out > 0)
                log_notice("%zu more that took less time were too many to be kept.", timeline->n_left_out);
        r = timeline_select(timeline, names, n, &unknown);
        if (r >= 0)
                return 0;
        say_unknown(timeline, unknown);
        return CHRONICLE_UNKNOWN_NAME;
}
