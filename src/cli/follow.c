/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/follow.h"

#include <sys/inotify.h>
#include <systemd/sd-event.h>

#include "cli/boot-progress.h"
#include "cli/live-lines.h"
#include "cli/teardown-status.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"
#include "view/expected.h"
#include "view/snapshot.h"

/* Who looks on is not to slow down what he looks at: after a change, changes are gathered for a moment, and with
 * many VGs, there is a pause that is ten times as long as that took. */
#define GATHER_USEC (50 * USEC_PER_MSEC)
#define PAUSE_MIN_USEC (250 * USEC_PER_MSEC)
#define PAUSE_FACTOR 10

/* How often times and rates on a terminal are written anew. */
#define REDRAW_USEC (1 * USEC_PER_SEC)

struct follower {
        struct sources *sources;
        struct boot_progress_scope scope;
        struct plan expected;
        struct snapshot snapshot; /* as of the last look */
        struct live_lines lines;
        uint64_t since_usec;
        uint64_t next_look_usec; /* not before then */
        bool changed;

        sd_event *event;
        sd_event_source *timer;
        sd_event_source *flags_source;

        struct teardown_status *teardown; /* NULL where systemd cannot be asked, or not any more */
        bool teardown_changed;
        int teardown_state;                  /* TEARDOWN_*, as of the last answer */
        struct string_vector teardown_lines; /* likewise */
};

static void follower_done(struct follower *follower)
{
        teardown_status_free(follower->teardown);
        sd_event_source_disable_unref(follower->flags_source);
        sd_event_source_disable_unref(follower->timer);
        sd_event_unref(follower->event);
        live_lines_done(&follower->lines);
        string_vector_done(&follower->teardown_lines);
        snapshot_done(&follower->snapshot);
        plan_done(&follower->expected);
}

/* ------ when to look ------ */

static int schedule(struct follower *follower, uint64_t usec)
{
        int r = sd_event_source_set_time(follower->timer, usec);

        return r < 0 ? r : sd_event_source_set_enabled(follower->timer, SD_EVENT_ONESHOT);
}

static void note_change(void *userdata)
{
        struct follower *follower = userdata;

        if (follower->changed)
                return;
        follower->changed = true;
        (void) schedule(follower, MAX(now_usec() + GATHER_USEC, follower->next_look_usec));
}

static void note_teardown_change(void *userdata)
{
        struct follower *follower = userdata;

        follower->teardown_changed = true;
        note_change(follower);
}

static int on_inotify(sd_event_source *source _unused_, const struct inotify_event *event _unused_, void *userdata)
{
        note_change(userdata);
        return 0;
}

/* ------ what there is to be seen ------ */

/* Written down before coldplug ends, so that is asked first. */
static int read_boot(struct follower *follower, bool *ret_booting)
{
        _cleanup_snapshot_ struct snapshot snapshot = {};
        uint64_t begin = now_usec();
        int r;

        r = flags_is_set(follower->sources->run_fd, FLAGS_BOOT_FINISHED);
        if (r < 0)
                return r;
        *ret_booting = r == 0;
        r = snapshot_read(follower->sources, &snapshot);
        if (r < 0)
                return r;
        snapshot_done(&follower->snapshot);
        follower->snapshot = snapshot;
        snapshot = (struct snapshot){};
        follower->next_look_usec = now_usec() + MAX(PAUSE_MIN_USEC, PAUSE_FACTOR * (now_usec() - begin));
        return 0;
}

static int show_boot(struct follower *follower, const struct boot_progress *progress, uint64_t now)
{
        _cleanup_string_vector_ struct string_vector text = {};
        _cleanup_free_ char *summary = NULL;
        int r;

        if (follower->lines.terminal) {
                r = boot_progress_describe(progress, follower->since_usec, now, &text);
                if (r >= 0)
                        live_lines_show(&follower->lines, &text);
                return r;
        }
        summary = boot_progress_summarize(progress);
        if (!summary)
                return -ENOMEM;
        live_lines_print(&follower->lines, summary);
        return 0;
}

enum {
        GOES_ON = 0,
        IS_OVER = 1,
};

static int look_at_boot(struct follower *follower)
{
        _cleanup_boot_progress_ struct boot_progress progress = {};
        bool booting;
        uint64_t now;
        int r;

        if (flags_is_set(follower->sources->run_fd, FLAGS_TAKEN_OVER) == 0)
                return IS_OVER;
        r = read_boot(follower, &booting);
        if (r < 0)
                return r;
        now = now_usec();
        r = boot_progress_measure(&follower->snapshot, &follower->scope, now, &progress);
        if (r >= 0)
                r = show_boot(follower, &progress, now);
        if (r < 0)
                return r;
        return !booting && progress.n_awaited == progress.n_overdue ? IS_OVER : GOES_ON;
}

/* At the very end of a shutdown systemd answers no more. Before one, that is no reason to stop looking on. */
static int ask_teardown(struct follower *follower)
{
        int r;

        if (!follower->teardown || !follower->teardown_changed)
                return 0;
        follower->teardown_changed = false;
        string_vector_done(&follower->teardown_lines);
        follower->teardown_lines = (struct string_vector){};
        r = teardown_status_ask(follower->teardown, &follower->teardown_lines);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                log_debug("Failed to ask systemd: %s", strerror(-r));
                follower->teardown = teardown_status_free(follower->teardown);
                r = follower->teardown_state == TEARDOWN_NONE ? TEARDOWN_NONE : TEARDOWN_OVER;
        }
        follower->teardown_state = r;
        if (r == TEARDOWN_PENDING)
                return string_vector_add(&follower->teardown_lines,
                        "The system is being shut down: services are stopped before storage is taken down.");
        return 0;
}

static int look_at_teardown(struct follower *follower)
{
        _cleanup_free_ char *line = NULL;

        if (follower->teardown_state == TEARDOWN_OVER)
                return IS_OVER;
        if (follower->lines.terminal) {
                live_lines_show(&follower->lines, &follower->teardown_lines);
                return GOES_ON;
        }
        line = string_vector_join(&follower->teardown_lines, "; ");
        if (!line)
                return -ENOMEM;
        live_lines_print(&follower->lines, line);
        return GOES_ON;
}

static int look(struct follower *follower)
{
        int r;

        follower->changed = false;
        r = ask_teardown(follower);
        if (r < 0)
                return r;
        return follower->teardown_state == TEARDOWN_NONE ? look_at_boot(follower) : look_at_teardown(follower);
}

/* ------ the loop ------ */

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata)
{
        struct follower *follower = userdata;
        int r;

        r = look(follower);
        if (r != GOES_ON)
                return sd_event_exit(follower->event, r);
        return follower->lines.terminal
                       ? schedule(follower, MAX(now_usec() + REDRAW_USEC, follower->next_look_usec))
                       : 0;
}

static int follower_start(struct follower *follower)
{
        _cleanup_free_ char *path = string_format("/proc/self/fd/%i/.", follower->sources->run_fd);
        bool booted;
        int r;

        if (!path)
                return -ENOMEM;
        r = flags_is_set(follower->sources->run_fd, FLAGS_BOOT_FINISHED);
        if (r < 0)
                return r;
        booted = r > 0;
        /* The clock counts from the start of the machine. */
        follower->since_usec = booted ? now_usec() : 0;

        r = sd_event_new(&follower->event);
        if (r >= 0)
                r = sd_event_add_inotify(follower->event, &follower->flags_source, path,
                        IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ONLYDIR, on_inotify, follower);
        if (r >= 0)
                r = sd_event_add_time(
                        follower->event, &follower->timer, CLOCK_MONOTONIC, 0, 1, on_timer, follower);
        if (r < 0)
                return r;
        if (root_is_chosen())
                return 0;
        follower->teardown_changed = true;
        r = teardown_status_new(follower->event, note_teardown_change, follower, &follower->teardown);
        if (r < 0)
                log_debug("Failed to connect to systemd: %s", strerror(-r));
        return r == -ENOMEM ? r : 0;
}

int follow(struct sources *sources, char *const names[], size_t n_names)
{
        _cleanup_(follower_done) struct follower follower = {.sources = sources, .lines = live_lines_new()};
        int r;

        follower.scope = (struct boot_progress_scope){&follower.expected, names, n_names};
        r = expected_find(sources, &follower.snapshot, &follower.expected);
        if (r >= 0)
                r = follower_start(&follower);
        if (r >= 0)
                r = sd_event_loop(follower.event);
        return r < 0 ? r : 0;
}
