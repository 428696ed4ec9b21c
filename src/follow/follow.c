/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Follows a boot or a shutdown: looks again whenever the run directory changes, by inotify, or one of headgate's teardown
 * units, by systemd, and shows the progress as printable lines of text. Of a boot that is the number of VGs in each state, and
 * the list of those that are not settled. */

#include "follow/follow.h"

#include <inttypes.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>

#include "shared/flags.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "view/snapshot.h"
#include "view/systemd.h"

/* Following must not slow down the boot: changes are gathered for a moment, and with many VGs the next look is not before ten
 * times as long as the last one took. */
#define GATHER_USEC (50 * USEC_PER_MSEC)
#define PAUSE_MIN_USEC (250 * USEC_PER_MSEC)
#define PAUSE_FACTOR 10

/* How often times and rates on a terminal are updated. */
#define REDRAW_USEC (1 * USEC_PER_SEC)

/* For a terminal whose size is not known. */
#define WIDTH_DEFAULT 80
#define HEIGHT_DEFAULT 24

/* Control sequences of ECMA-48 that all terminals know whose cursor moves: erase to the end of the line, erase to
 * the end of the screen, cursor up. */
#define ERASE_LINE "\033[K"
#define ERASE_BELOW "\033[J"
#define CURSOR_UP "\033[%zuA"

/* How many VGs have a line of their own, and the time over which the rate is measured. */
#define LINES_MAX 6
#define RATE_USEC (5 * USEC_PER_SEC)

enum {
        GOES_ON = 0,
        IS_OVER = 1,
};

struct follower {
        struct sources *sources;
        struct string_vector names; /* the caller's; none: all VGs */
        struct plan expected;
        uint64_t since_usec;
        uint64_t next_look_usec; /* the earliest time of the next look */

        bool terminal;  /* standard output is a terminal that can move its cursor */
        size_t n_lines; /* on the terminal now */
        char *last;     /* the last line, without a terminal */

        int watch_fd;           /* tells of changes of the run directory */
        struct systemd systemd; /* without a bus if it cannot be asked */
        bool teardown_changed;
        char *teardown_text; /* how far a shutdown is, as of the last answer; NULL as long as nobody knows of one */
};

/* ------ showing ------ */

static void go_up(const struct follower *follower)
{
        if (follower->n_lines > 0)
                printf("\r" CURSOR_UP, follower->n_lines);
}

/* Writes the lines over those before. Lines are cut at the right margin, and left out below the lowest line of the
 * terminal. */
static void draw(struct follower *follower, const char *text)
{
        struct winsize size = {};
        size_t width, height, n = 0;

        (void) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        width = size.ws_col == 0 ? WIDTH_DEFAULT : size.ws_col;
        height = size.ws_row == 0 ? HEIGHT_DEFAULT : MAX(size.ws_row, 2);
        go_up(follower);
        while (*text != '\0' && n + 1 < height) {
                size_t length = strcspn(text, "\n");

                /* In the last column some terminals would begin a new line. */
                printf("%.*s" ERASE_LINE "\n", (int) MIN(length, width - 1), text);
                text += text[length] == '\n' ? length + 1 : length;
                n++;
        }
        printf(ERASE_BELOW);
        fflush(stdout);
        follower->n_lines = n;
}

/* On a terminal, draws the lines. Elsewhere, prints them as one line, with the time since the start of the machine in front
 * of it, if they have changed. */
static void show(struct follower *follower, const char *text)
{
        uint64_t now = now_usec();

        if (follower->terminal) {
                draw(follower, text);
                return;
        }
        if (follower->last && streq(follower->last, text))
                return;
        /* Without memory it may be printed twice. */
        free(follower->last);
        follower->last = strdup(text);
        printf("[%5" PRIu64 ".%03" PRIu64 "] ", now / USEC_PER_SEC, now % USEC_PER_SEC / USEC_PER_MSEC);
        for (; *text != '\0'; text++)
                if (*text == '\n')
                        printf("; ");
                else
                        putchar(*text);
        printf("\n");
        fflush(stdout);
}

/* ------ a boot ------ */

/* Refers to VGs of the sources. */
struct boot_progress {
        size_t n_in_state[_VOLUME_GROUP_STATE_MAX];
        size_t n;          /* in all, with those that are absent */
        size_t n_settled;  /* with nothing left to do, as far as is known */
        size_t n_recently; /* settled within the last few seconds */
        size_t n_overdue;

        const struct volume_group **awaited; /* those that are not settled, and those that are overdue */
        size_t n_awaited;
        struct enumeration absent;
};

static void boot_progress_done(struct boot_progress *progress)
{
        free(progress->awaited);
        enumeration_done(&progress->absent);
}

/* VGs that lvm2 is activating come first, then those that wait, and of each the one that has taken longest. */
static int compare_awaited(const void *a, const void *b)
{
        const struct volume_group *const *first = a, *const *second = b;
        uint64_t first_usec = volume_group_since_usec(*first), second_usec = volume_group_since_usec(*second);

        return CMP((*second)->state, (*first)->state) ?: CMP(first_usec, second_usec);
}

/* Without names all VGs count, and the expected ones that boot waits for. `*ret` is to be emptied with
 * boot_progress_done(). Returns 0 or -ENOMEM. */
static int measure(const struct follower *follower, uint64_t now, struct boot_progress *ret)
{
        const struct sources *sources = follower->sources;
        const struct string_vector *names = &follower->names;
        const struct plan *expected = &follower->expected;

        ret->awaited = calloc(sources->n_volume_groups + 1, sizeof(*ret->awaited));
        if (!ret->awaited)
                return -ENOMEM;
        for (size_t i = 0; i < sources->n_volume_groups; i++) {
                const struct volume_group *volume_group = sources->volume_groups[i];
                bool waits = volume_group->state == VOLUME_GROUP_WAITING;
                bool settled = volume_group_is_settled(volume_group) && !waits;

                if (names->n > 0 && !string_vector_has(names, volume_group->name))
                        continue;
                ret->n++;
                ret->n_in_state[volume_group->state]++;
                ret->n_settled += settled;
                ret->n_recently += settled && volume_group->settled_usec + RATE_USEC > now;
                ret->n_overdue += waits && volume_group->overdue;
                if (!settled)
                        ret->awaited[ret->n_awaited++] = volume_group;
        }
        SORT(ret->awaited, ret->n_awaited, compare_awaited);

        FOREACH_ARRAY(name, names->strings, names->n)
                if (!snapshot_find(sources, *name))
                        enumeration_add(&ret->absent, *name);
        for (size_t i = 0; names->n == 0 && i < expected->n; i++)
                if (expected_by_boot(&expected->volume_groups[i]) &&
                        !snapshot_find(sources, expected->volume_groups[i].name))
                        enumeration_add(&ret->absent, expected->volume_groups[i].name);
        ret->n += ret->absent.n;
        ret->n_in_state[VOLUME_GROUP_ABSENT] += ret->absent.n;
        enumeration_end(&ret->absent);
        return 0;
}

/* "410 active, 2 skipped, 64 activating, 439 waiting (2 overdue), 1 absent" */
static void print_counts(const struct boot_progress *progress, FILE *file)
{
        static const enum volume_group_state order[] = {VOLUME_GROUP_ACTIVE, VOLUME_GROUP_DEGRADED,
                VOLUME_GROUP_SKIPPED, VOLUME_GROUP_DEACTIVATED, VOLUME_GROUP_FAILED, VOLUME_GROUP_ACTIVATING,
                VOLUME_GROUP_COMPLETE, VOLUME_GROUP_WAITING, VOLUME_GROUP_ABSENT};
        const char *separator = "";

        for (size_t i = 0; i < ELEMENTSOF(order); i++) {
                size_t n = progress->n_in_state[order[i]];

                if (n == 0)
                        continue;
                fprintf(file, "%s%zu %s", separator, n, volume_group_state_to_string(order[i]));
                if (order[i] == VOLUME_GROUP_WAITING && progress->n_overdue > 0)
                        fprintf(file, " (%zu overdue)", progress->n_overdue);
                separator = ", ";
        }
        if (progress->n == 0)
                fprintf(file, "no VG was seen yet");
}

/* "; activating: vg1, vg2, vg3 and 4 more" */
static void print_names(const struct boot_progress *progress, enum volume_group_state state, FILE *file)
{
        _cleanup_enumeration_ struct enumeration names = {};

        FOREACH_ARRAY(awaited, progress->awaited, progress->n_awaited)
                if ((*awaited)->state == state)
                        enumeration_add(&names, (*awaited)->name);
        enumeration_end(&names);
        if (names.text)
                fprintf(file, "; %s: %s", volume_group_state_to_string(state), names.text);
}

/* One line without any time, so that it is the same until the state of a VG changes. */
static void print_summary(const struct boot_progress *progress, FILE *file)
{
        fprintf(file, "%zu of %zu VGs settled: ", progress->n_settled, progress->n);
        print_counts(progress, file);
        print_names(progress, VOLUME_GROUP_ACTIVATING, file);
        print_names(progress, VOLUME_GROUP_WAITING, file);
        if (progress->absent.text)
                fprintf(file, "; absent: %s", progress->absent.text);
}

/* "waiting for 12.3s: backup, for PV ... (last at /dev/sdk)" */
static void print_awaited(const struct volume_group *volume_group, uint64_t now, FILE *file)
{
        uint64_t since = volume_group_since_usec(volume_group);
        _cleanup_free_ char *time = format_duration(now > since ? now - since : 0), *missing = NULL,
                            *printable = NULL;
        const char *state = volume_group_state_to_string(volume_group->state);

        if (volume_group->state != VOLUME_GROUP_WAITING) {
                fprintf(file, "%s for %s: %s\n", state, time ?: "?", volume_group->name);
                return;
        }
        missing = volume_group_describe_missing(volume_group);
        printable = missing ? string_printable(missing) : NULL;
        fprintf(file, "%s%s for %s: %s, for %s\n", volume_group->overdue ? "overdue, " : "", state, time ?: "?",
                volume_group->name, printable ?: "PVs");
}

/* A few lines for a terminal: "[#########>              ]  40%, 412 of 1015 VGs settled, 37/s, 23.1s", counts, and a line for
 * each of the VGs that have not been settled for longest. */
static void print_lines(const struct boot_progress *progress, uint64_t since_usec, uint64_t now, FILE *file)
{
        static const char done[] = "########################", open[] = "                        ";
        size_t n = MIN(progress->n_awaited, (size_t) LINES_MAX), n_all = MAX(progress->n, (size_t) 1);
        const int width = sizeof(done) - 1, filled = (int) (progress->n_settled * (size_t) width / n_all);
        uint64_t usec = now - since_usec;
        uint64_t rate = progress->n_recently * USEC_PER_SEC / MIN(MAX(usec, USEC_PER_SEC), RATE_USEC);
        _cleanup_free_ char *time = format_duration(usec);

        fprintf(file, "[%.*s%.*s] %3zu%%, %zu of %zu VGs settled, %" PRIu64 "/s, %s\n", filled, done,
                width - filled, open, progress->n_settled * 100 / n_all, progress->n_settled, progress->n, rate,
                time ?: "?");
        print_counts(progress, file);
        fprintf(file, "\n");
        for (size_t i = 0; i < n; i++)
                print_awaited(progress->awaited[i], now, file);
        if (n < progress->n_awaited)
                fprintf(file, "and %zu more\n", progress->n_awaited - n);
        if (progress->absent.text)
                fprintf(file, "absent: %s\n", progress->absent.text);
}

static int look_at_boot(struct follower *follower)
{
        _cleanup_(boot_progress_done) struct boot_progress progress = {};
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        _cleanup_free_ char *text = NULL;
        uint64_t begin = now_usec(), now;
        int booted, r;

        if (flags_is_set(follower->sources->run_fd, FLAGS_TAKEN_OVER) == 0)
                return IS_OVER;
        /* The worker writes records before it sets this flag, so the flag is read first. */
        booted = flags_is_set(follower->sources->run_fd, FLAGS_BOOT_FINISHED);
        if (booted < 0)
                return booted;
        r = snapshot_read(follower->sources);
        if (r < 0)
                return r;
        now = now_usec();
        follower->next_look_usec = now + MAX(PAUSE_MIN_USEC, PAUSE_FACTOR * (now - begin));
        r = file ? measure(follower, now, &progress) : -ENOMEM;
        if (r < 0)
                return r;

        if (follower->terminal)
                print_lines(&progress, follower->since_usec, now, file);
        else
                print_summary(&progress, file);
        r = memstream_finish(&stream, &text, NULL);
        if (r < 0)
                return r;
        show(follower, text);
        return booted && progress.n_awaited == progress.n_overdue ? IS_OVER : GOES_ON;
}

/* ------ a shutdown: asks PID 1 about the teardown units ------ */

/* Sets `*ret_text`, to be freed by the caller, if the system is being shut down. Returns GOES_ON; IS_OVER after teardown; or a
 * negative errno. */
static int ask_systemd(const struct systemd *systemd, char **ret_text)
{
        static const char *const units[] = {"headgate-teardown.service", "headgate-teardown-net.service"};
        _cleanup_free_ char *text = NULL, *system = NULL;
        bool is_to_come = false;

        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                _cleanup_free_ char *state = systemd_get_property(systemd, units[i], "ActiveState"),
                                    *status = NULL, *printable = NULL;

                if (!state)
                        return -ENODATA;
                is_to_come |= streq(state, "active");
                if (!streq(state, "deactivating"))
                        continue;
                /* "412 of 1015 devices down, 3 trees waiting for: /srv/a, /srv/b, /srv/c" */
                status = systemd_get_property(systemd, units[i], "StatusText");
                if (!status)
                        return -ENODATA;
                printable = string_printable(*status != '\0' ? status : "begins");
                if (string_replace(&text, string_format("%s%s%s: %s", text ?: "", text ? "\n" : "", units[i],
                                                  printable ?: "?")) < 0)
                        return -ENOMEM;
        }
        if (!text) {
                system = systemd_get_property(systemd, NULL, "SystemState");
                if (!system)
                        return -ENODATA;
                if (!streq(system, "stopping"))
                        return GOES_ON;
                if (!is_to_come)
                        return IS_OVER;
                text = strdup("The system is being shut down: services are stopped before storage is taken down.");
        }
        *ret_text = TAKE_PTR(text);
        return *ret_text ? GOES_ON : -ENOMEM;
}

/* ------ the loop ------ */

static int look(struct follower *follower)
{
        int r;

        if (follower->systemd.bus && follower->teardown_changed) {
                bool shown = follower->teardown_text;

                follower->teardown_changed = false;
                free(TAKE_PTR(follower->teardown_text));
                r = ask_systemd(&follower->systemd, &follower->teardown_text);
                /* At the very end of a shutdown PID 1 stops answering. Without a shutdown, the boot can still be followed. */
                if (r < 0 && r != -ENOMEM) {
                        log_debug("Failed to ask systemd.");
                        systemd_done(&follower->systemd);
                        r = shown ? IS_OVER : GOES_ON;
                }
                if (r != GOES_ON)
                        return r;
        }
        if (!follower->teardown_text)
                return look_at_boot(follower);
        show(follower, follower->teardown_text);
        return GOES_ON;
}

/* Both units' paths have that, as sd_bus_path_encode() makes them. */
static int on_properties(sd_bus_message *message, void *userdata, sd_bus_error *error _unused_)
{
        struct follower *follower = userdata;

        if (strstr(sd_bus_message_get_path(message) ?: "", "/headgate_2dteardown"))
                follower->teardown_changed = true;
        return 0;
}

/* Waits for the next look. */
static int wait_for_change(struct follower *follower)
{
        uint64_t until =
                follower->terminal ? MAX(now_usec() + REDRAW_USEC, follower->next_look_usec) : USEC_INFINITY;
        struct pollfd fds[] = {
                {.fd = follower->watch_fd, .events = POLLIN},
                {.fd = follower->systemd.bus ? sd_bus_get_fd(follower->systemd.bus) : -1, .events = POLLIN},
        };
        char events[4096];

        for (;;) {
                uint64_t now = now_usec();
                bool changed = false;
                int r = fds[1].fd >= 0;

                while (read(follower->watch_fd, events, sizeof(events)) > 0)
                        changed = true;
                while (r > 0)
                        r = sd_bus_process(follower->systemd.bus, NULL);
                /* The next look finds out why. */
                if (r < 0) {
                        fds[1].fd = -1;
                        follower->teardown_changed = true;
                }
                if (changed || follower->teardown_changed)
                        until = MIN(until, MAX(now + GATHER_USEC, follower->next_look_usec));
                if (now >= until)
                        return GOES_ON;
                r = until == USEC_INFINITY ? -1 : (int) ((until - now) / USEC_PER_MSEC) + 1;
                if (poll(fds, ELEMENTSOF(fds), r) < 0 && errno != EINTR)
                        return -errno;
        }
}

static int follower_start(struct follower *follower)
{
        _cleanup_free_ char *path = string_format("/proc/self/fd/%i/.", follower->sources->run_fd);
        const char *terminal = secure_getenv("TERM");
        int r;

        if (!path)
                return -ENOMEM;
        follower->terminal = isatty(STDOUT_FILENO) && terminal && !streq(terminal, "dumb");
        r = flags_is_set(follower->sources->run_fd, FLAGS_BOOT_FINISHED);
        if (r < 0)
                return r;
        /* During boot the clock counts from the start of the machine. */
        follower->since_usec = r > 0 ? now_usec() : 0;

        follower->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (follower->watch_fd < 0 || inotify_add_watch(follower->watch_fd, path,
                                              IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ONLYDIR) < 0)
                return -errno;
        if (root_is_chosen())
                return 0;
        r = systemd_connect(follower->sources->root_fd, &follower->systemd);
        if (r >= 0)
                r = sd_bus_match_signal(follower->systemd.bus, NULL, NULL, NULL, "org.freedesktop.DBus.Properties",
                        "PropertiesChanged", on_properties, follower);
        if (r < 0) {
                log_debug("Failed to connect to systemd: %s", strerror(-r));
                systemd_done(&follower->systemd);
        }
        follower->teardown_changed = follower->systemd.bus;
        return r == -ENOMEM ? r : 0;
}

static void follower_done(struct follower *follower)
{
        systemd_done(&follower->systemd);
        closep(&follower->watch_fd);
        go_up(follower);
        if (follower->n_lines > 0)
                printf(ERASE_BELOW);
        free(follower->last);
        free(follower->teardown_text);
        plan_done(&follower->expected);
}

int follow(struct sources *sources, char *const names[], size_t n_names)
{
        _cleanup_(follower_done) struct follower follower = {
                .sources = sources, .names = {(char **) names, n_names}, .watch_fd = -EBADF};
        int r;

        r = expected_find(sources, &follower.expected);
        if (r >= 0)
                r = follower_start(&follower);
        while (r == GOES_ON) {
                r = look(&follower);
                if (r == GOES_ON)
                        r = wait_for_change(&follower);
        }
        return MIN(r, 0);
}
