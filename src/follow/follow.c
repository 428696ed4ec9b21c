/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Follows a boot or a shutdown: an event loop that gets changes of the run directory from inotify and those of headgate's
 * teardown units from systemd, and shows the progress as printable lines of text. */

#include "follow/follow.h"

#include <inttypes.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "follow/boot-progress.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"

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

enum {
        TEARDOWN_NONE,  /* the system is not being shut down, as far as is known */
        TEARDOWN_SHOWN, /* it is, and teardown_text says how far that is */
        TEARDOWN_OVER,
};

struct follower {
        struct sources *sources;
        struct string_vector names; /* the caller's; none: all VGs */
        struct plan expected;
        uint64_t since_usec;
        uint64_t next_look_usec; /* the earliest time of the next look */
        bool changed;

        bool terminal;  /* standard output is a terminal that can move its cursor */
        size_t n_lines; /* on the terminal now */
        char *last;     /* the last line, without a terminal */

        sd_event *event;
        sd_event_source *timer;
        sd_event_source *flags_source;

        sd_bus *bus; /* NULL if systemd cannot be asked */
        bool teardown_changed;
        int teardown_state;  /* TEARDOWN_*, as of the last answer */
        char *teardown_text; /* likewise */
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

enum {
        GOES_ON = 0,
        IS_OVER = 1,
};

static int look_at_boot(struct follower *follower)
{
        _cleanup_boot_progress_ struct boot_progress progress = {};
        _cleanup_snapshot_ struct snapshot snapshot = {};
        _cleanup_free_ char *text = NULL;
        uint64_t begin = now_usec(), now;
        int booted, r;
        size_t size;
        FILE *file;

        if (flags_is_set(follower->sources->run_fd, FLAGS_TAKEN_OVER) == 0)
                return IS_OVER;
        /* The worker writes records before it sets this flag, so the flag is read first. */
        booted = flags_is_set(follower->sources->run_fd, FLAGS_BOOT_FINISHED);
        if (booted < 0)
                return booted;
        r = snapshot_read(follower->sources, &snapshot);
        if (r < 0)
                return r;
        now = now_usec();
        follower->next_look_usec = now + MAX(PAUSE_MIN_USEC, PAUSE_FACTOR * (now - begin));
        r = boot_progress_measure(&snapshot, &follower->names, &follower->expected, now, &progress);
        if (r < 0)
                return r;

        file = open_memstream(&text, &size);
        if (!file)
                return -ENOMEM;
        if (follower->terminal)
                boot_progress_print(&progress, follower->since_usec, now, file);
        else
                boot_progress_print_summary(&progress, file);
        if (fclose(file) != 0)
                return -ENOMEM;
        show(follower, text);
        return booted && progress.n_awaited == progress.n_overdue ? IS_OVER : GOES_ON;
}

/* ------ a shutdown: asks PID 1 about the teardown units (org.freedesktop.systemd1(5)), by its private socket, since the
 * message bus is stopped before storage is deactivated. Only root may connect. ------ */

#define SOCKET "unix:path=/run/systemd/private"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define UNIT_PATH MANAGER_PATH "/unit"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define UNIT_INTERFACE "org.freedesktop.systemd1.Unit"
#define SERVICE_INTERFACE "org.freedesktop.systemd1.Service"
#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"

/* PID 1 may be busy for a while. */
#define TIMEOUT_USEC (5 * USEC_PER_SEC)

/* Paths as sd_bus_path_encode() makes them. */
static const struct {
        const char *name, *path;
} units[] = {
        {"headgate-teardown.service", UNIT_PATH "/headgate_2dteardown_2eservice"},
        {"headgate-teardown-net.service", UNIT_PATH "/headgate_2dteardown_2dnet_2eservice"},
};

static int connect_to_systemd(
        sd_event *event, sd_bus_message_handler_t on_properties, void *userdata, sd_bus **ret)
{
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, SOCKET);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                r = sd_bus_set_method_call_timeout(bus, TIMEOUT_USEC);
        if (r >= 0)
                r = sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(units); i++)
                r = sd_bus_match_signal(bus, NULL, NULL, units[i].path, PROPERTIES_INTERFACE, "PropertiesChanged",
                        on_properties, userdata);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(bus);
        return 0;
}

static int get(sd_bus *bus, const char *path, const char *interface, const char *name, char **ret)
{
        return sd_bus_get_property_string(bus, NULL, path, interface, name, NULL, ret);
}

/* Returns TEARDOWN_*, for TEARDOWN_SHOWN with `*ret_text`, to be freed by the caller; or a negative errno. */
static int ask_systemd(sd_bus *bus, char **ret_text)
{
        _cleanup_free_ char *text = NULL, *system = NULL;
        bool is_to_come = false;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                _cleanup_free_ char *state = NULL, *status = NULL, *printable = NULL;

                r = get(bus, units[i].path, UNIT_INTERFACE, "ActiveState", &state);
                if (r < 0)
                        return r;
                is_to_come = is_to_come || streq(state, "active");
                if (!streq(state, "deactivating"))
                        continue;
                /* "412 of 1015 devices down, 3 trees waiting for: /srv/a, /srv/b, /srv/c" */
                r = get(bus, units[i].path, SERVICE_INTERFACE, "StatusText", &status);
                if (r < 0)
                        return r;
                printable = string_printable(*status != '\0' ? status : "begins");
                if (string_replace(&text, string_format("%s%s%s: %s", text ?: "", text ? "\n" : "", units[i].name,
                                                  printable ?: "?")) < 0)
                        return -ENOMEM;
        }
        if (text) {
                *ret_text = TAKE_PTR(text);
                return TEARDOWN_SHOWN;
        }
        r = get(bus, MANAGER_PATH, MANAGER_INTERFACE, "SystemState", &system);
        if (r < 0)
                return r;
        if (!streq(system, "stopping"))
                return TEARDOWN_NONE;
        if (!is_to_come)
                return TEARDOWN_OVER;
        *ret_text = strdup("The system is being shut down: services are stopped before storage is taken down.");
        return *ret_text ? TEARDOWN_SHOWN : -ENOMEM;
}

/* ------ the loop ------ */

static int look(struct follower *follower)
{
        int r;

        follower->changed = false;
        if (follower->bus && follower->teardown_changed) {
                follower->teardown_changed = false;
                free(TAKE_PTR(follower->teardown_text));
                r = ask_systemd(follower->bus, &follower->teardown_text);
                if (r == -ENOMEM)
                        return r;
                /* At the very end of a shutdown PID 1 stops answering. Without a shutdown, the boot can still be followed. */
                if (r < 0) {
                        log_debug("Failed to ask systemd: %s", strerror(-r));
                        follower->bus = sd_bus_close_unref(follower->bus);
                        r = follower->teardown_state == TEARDOWN_NONE ? TEARDOWN_NONE : TEARDOWN_OVER;
                }
                follower->teardown_state = r;
        }
        if (follower->teardown_state == TEARDOWN_NONE)
                return look_at_boot(follower);
        if (follower->teardown_state == TEARDOWN_OVER)
                return IS_OVER;
        show(follower, follower->teardown_text);
        return GOES_ON;
}

static int schedule(struct follower *follower, uint64_t usec)
{
        int r = sd_event_source_set_time(follower->timer, usec);

        return r < 0 ? r : sd_event_source_set_enabled(follower->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata)
{
        struct follower *follower = userdata;
        int r;

        r = look(follower);
        if (r != GOES_ON)
                return sd_event_exit(follower->event, r);
        return follower->terminal ? schedule(follower, MAX(now_usec() + REDRAW_USEC, follower->next_look_usec))
                                  : 0;
}

static int on_change(struct follower *follower)
{
        if (follower->changed)
                return 0;
        follower->changed = true;
        return schedule(follower, MAX(now_usec() + GATHER_USEC, follower->next_look_usec));
}

static int on_inotify(sd_event_source *source _unused_, const struct inotify_event *event _unused_, void *userdata)
{
        return on_change(userdata);
}

static int on_properties(sd_bus_message *message _unused_, void *userdata, sd_bus_error *error _unused_)
{
        struct follower *follower = userdata;

        follower->teardown_changed = true;
        return on_change(follower);
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

        r = sd_event_new(&follower->event);
        if (r >= 0)
                r = sd_event_add_inotify(follower->event, &follower->flags_source, path,
                        IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ONLYDIR, on_inotify, follower);
        if (r >= 0)
                r = sd_event_add_time(
                        follower->event, &follower->timer, CLOCK_MONOTONIC, 0, 1, on_timer, follower);
        if (r < 0 || root_is_chosen())
                return r;
        follower->teardown_changed = true;
        r = connect_to_systemd(follower->event, on_properties, follower, &follower->bus);
        if (r < 0)
                log_debug("Failed to connect to systemd: %s", strerror(-r));
        return r == -ENOMEM ? r : 0;
}

static void follower_done(struct follower *follower)
{
        sd_bus_close_unref(follower->bus);
        sd_event_source_disable_unref(follower->flags_source);
        sd_event_source_disable_unref(follower->timer);
        sd_event_unref(follower->event);
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
                .sources = sources, .names = {(char **) names, n_names}};
        int r;

        r = expected_find(sources, &(struct snapshot){}, &follower.expected);
        if (r >= 0)
                r = follower_start(&follower);
        if (r >= 0)
                r = sd_event_loop(follower.event);
        return MIN(r, 0);
}
