/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/chronicle.h"

#include <fcntl.h>

#include "cli/snapshot.h"
#include "cli/suggestion.h"
#include "shared/log.h"
#include "shared/root.h"
#include "timeline/boot.h"
#include "timeline/shutdown.h"

static int read_boot(struct timeline *timeline)
{
        _cleanup_snapshot_ struct snapshot snapshot = {};
        _cleanup_close_ int run_fd = -EBADF, root_fd = -EBADF;
        int r;

        run_fd = open_run_directory_in_charge();
        if (run_fd < 0)
                return run_fd;
        root_fd = root_open();
        r = root_fd < 0 ? root_fd : snapshot_read(run_fd, &snapshot);
        if (r >= 0)
                r = timeline_read_boot(timeline, snapshot.volume_groups, snapshot.n, root_fd);
        return r < 0 ? log_error_errno(r, "Failed to read what the worker has written down: %m") : 0;
}

static bool journal_is_kept(void)
{
        _cleanup_close_ int root_fd = root_open();

        return faccessat(root_fd, "var/log/journal", F_OK, 0) == 0;
}

static int read_shutdown(struct timeline *timeline)
{
        int r = timeline_read_shutdown(timeline);

        if (r == -ENOENT)
                log_error(
                        "headgate-teardown has told of no device at the end of the boot before: headgate was not in "
                        "charge, there was nothing to take down, or the machine was switched off.");
        else if (r == -ENODATA && !journal_is_kept())
                log_error(
                        "The journal is not kept from boot to boot; \"mkdir /var/log/journal\" changes that (see "
                        "Storage= in journald.conf(5)).");
        else if (r == -ENODATA)
                log_error("The journal has nothing of an earlier boot%s.",
                        geteuid() == 0 ? "" : " that you may read; root may");
        else if (r < 0)
                (void) log_error_errno(r, "Failed to read the journal: %m");
        return r;
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

int chronicle_read(struct timeline *timeline, enum timeline_kind kind, char *const names[], size_t n)
{
        const char *unknown = NULL;
        int r;

        r = kind == TIMELINE_BOOT ? read_boot(timeline) : read_shutdown(timeline);
        if (r < 0)
                return r;
        r = timeline_select(timeline, names, n, &unknown);
        if (r < 0)
                say_unknown(timeline, unknown);
        return r;
}
