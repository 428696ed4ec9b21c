/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The worker's part in the optimized rules: it receives device-mapper's events from udev, and decrements the semaphores that
 * lvm2 waits for, as long as it has promised to. After a worker was killed, headgate-takeover finds and completes the rest. */

#include "fast-rules/cookies.h"

#include <fcntl.h>
#include <signal.h>

#include "fast-rules/blocked.h"
#include "fast-rules/copy.h"
#include "fast-rules/rules.h"
#include "fast-rules/semaphores.h"
#include "lvm/command.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/udev.h"
#include "shared/util.h"

/* ------ the worker's part ------ */

/* Set by the rules on events of device-mapper: "worker" or "program", which completes the cookie. udev does not store properties
 * with a leading dot in its database. */
#define PROPERTY_MARK ".HEADGATE_COOKIE"

/* How often to look for blocked programs that the reading of the rules has missed, and how many looks in a row must find one.
 * Programs that get the lock sooner, or are only slow, are waited for. */
#define LOOK_INTERVAL_USEC USEC_PER_SEC
#define LOOKS 3
/* Likewise for processes that are not udev's: one of udev's programs may wait for them. udev kills its programs after 180 s. */
#define LOOKS_AT_OTHERS 120

#define COMPLETED_MAX 128

/* A cookie whose events were completed before udev has reported them. */
struct completed {
        unsigned int base;
        unsigned int left; /* of these events */
};

struct cookies {
        sd_event *event;
        int run_fd;
        const struct dm_list *jobs; /* the vgchanges, of the caller */
        struct monitor monitor;
        sd_event_source *look_source; /* as long as it is promised */
        struct rules rules;
        struct blocked blocked;
        struct completed completed[COMPLETED_MAX];
        size_t n_completed;
        bool expecting; /* a vgchange was started: the next mark in an event makes the promise */
        bool promised;  /* FLAGS_COMPLETING is set */
};

struct cookies *cookies_free(struct cookies *cookies)
{
        if (!cookies)
                return NULL;
        sd_event_source_disable_unref(cookies->look_source);
        monitor_close(&cookies->monitor);
        rules_done(&cookies->rules);
        free(cookies);
        return NULL;
}
DEFINE_CLEANUP(struct cookies *, cookies_free)

static void look_later(struct cookies *cookies)
{
        (void) sd_event_source_set_time_relative(cookies->look_source, LOOK_INTERVAL_USEC);
        (void) sd_event_source_set_enabled(cookies->look_source, SD_EVENT_ONESHOT);
}

/* If the flag cannot be set, udev's program goes on completing cookies. */
static void promise(struct cookies *cookies)
{
        int r;

        if (!cookies->expecting || cookies->promised)
                return;
        r = flags_set(cookies->run_fd, FLAGS_COMPLETING);
        if (r < 0) {
                log_warning_errno(r, "Failed to announce that the worker completes cookies: %m");
                cookies->expecting = false;
                return;
        }
        cookies->promised = true;
        look_later(cookies);
}

/* Whether the event was completed before, by free_vgchange(). */
static bool was_completed(struct cookies *cookies, uint32_t cookie)
{
        FOREACH_ARRAY(completed, cookies->completed, cookies->n_completed)
                if (completed->base == (cookie & COOKIE_BASE_MASK) && completed->left > 0) {
                        completed->left--;
                        return true;
                }
        return false;
}

/* A security module may allow udev's program what it denies the worker. */
static int complete_by_program(const char *cookie)
{
        const char *const words[] = {"udevcomplete", cookie, NULL};
        _cleanup_free_ char *output = NULL;

        return command_run(COPY_PROGRAM, words, &output) == 0 ? 0 : -EPERM;
}

/* Somebody else may have completed it, by dmsetup udevcomplete_all for instance. After any other failure lvm2 would wait for ever,
 * so the worker has to end. */
static int complete(struct cookies *cookies, struct udev_device *device)
{
        const char *text = udev_device_get_property_value(device, "DM_COOKIE");
        uint32_t cookie;
        int r = text ? parse_u32(text, &cookie) : -EBADMSG;

        if (r >= 0)
                r = was_completed(cookies, cookie) ? 0 : cookie_complete(cookie);
        if (r == -EPERM || r == -EACCES)
                r = complete_by_program(text);
        if (r == -ENOENT || r == -EAGAIN) {
                log_debug("Nobody waits for cookie %s any more.", text);
                return 0;
        }
        return r < 0 ? log_error_errno(r, "Failed to complete cookie %s: %m", text ?: "(none)") : 0;
}

static int take_events(struct cookies *cookies, size_t n_max)
{
        bool lost = false;

        for (size_t n = 0; n < n_max; n++) {
                _cleanup_udev_device_ struct udev_device *device = monitor_receive(&cookies->monitor, &lost);
                const char *mark = device ? udev_device_get_property_value(device, PROPERTY_MARK) : NULL;
                int r;

                if (!device)
                        break;
                if (!mark)
                        continue;
                if (!streq(mark, "worker")) {
                        promise(cookies);
                        continue;
                }
                r = complete(cookies, device);
                if (r < 0)
                        return r;
        }
        return lost ? log_error_errno(-ENOBUFS, "More events from udev than its socket holds: %m") : 0;
}

int cookies_drain(struct cookies *cookies)
{
        return cookies && cookies->monitor.source ? take_events(cookies, SIZE_MAX) : 0;
}

static int on_monitor(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t revents, void *userdata)
{
        return take_events(userdata, MONITOR_EVENTS_MAX);
}

/* Promises no further events; those promised before are still completed. Returns 0 or a negative errno, which is logged. */
static int withdraw(struct cookies *cookies)
{
        int r;

        cookies->expecting = false;
        if (!cookies->promised)
                return 0;
        r = flags_clear(cookies->run_fd, FLAGS_COMPLETING);
        if (r < 0)
                return log_error_errno(r, "Failed to announce that the worker completes no more cookies: %m");
        cookies->promised = false;
        return 0;
}

int cookies_withdraw(struct cookies *cookies)
{
        if (!cookies)
                return 0;
        (void) sd_event_source_set_enabled(cookies->look_source, SD_EVENT_OFF);
        cookies->blocked.n = 0;
        return withdraw(cookies);
}

/* The control groups of a process, as cgroups(7) has them. sd_pid_get_cgroup() knows none where /sys/fs/cgroup is not mounted. */
static int read_groups(pid_t pid, char **ret)
{
        return read_file_at(AT_FDCWD, path_format("/proc/%i/cgroup", pid).text, ret, NULL);
}

/* Other processes may wait for as long as lvm2 runs. */
static bool is_run_by_udev(pid_t pid)
{
        _cleanup_free_ char *groups = NULL;

        return read_groups(pid, &groups) >= 0 && strstr(groups, "/systemd-udevd.service");
}

/* Promises nothing until the next boot, and logs that once. */
static int give_up(struct cookies *cookies, pid_t pid)
{
        _cleanup_free_ char *name = NULL;
        int r;

        if (flags_is_set(cookies->run_fd, FLAGS_LATE_PROGRAM) > 0)
                return 0;
        if (read_file_at(AT_FDCWD, path_format("/proc/%i/comm", pid).text, &name, NULL) >= 0)
                name[strcspn(name, "\n")] = '\0';
        log_warning(
                "Program %s, which udev runs for an LV, waits for a lock that lvm2 keeps until udev is done with the LV; "
                "going on without udev. Until the next boot, udev runs a program for each event of an LV.",
                name ?: "(unknown)");
        r = write_file_atomic_at(cookies->run_fd, FLAGS_LATE_PROGRAM, name ?: "(unknown)");
        return r < 0 ? log_error_errno(r, "Failed to note that cookies are not to be completed: %m") : 0;
}

/* Completes the semaphores that a vgchange waits for: those last changed by it, by this process, or by a process that has
 * ended, as udev's programs do. */
static int free_vgchange(struct cookies *cookies, pid_t vgchange)
{
        _cleanup_free_ struct suspect *suspects = NULL;
        size_t n = 0;
        int r = suspects_find(&suspects, &n);

        for (size_t i = 0; i < n && r >= 0; i++) {
                const struct cookie_state *state = &suspects[i].state;

                if (state->waiting == 0 || state->left == 0 ||
                        (state->last != vgchange && state->last != getpid() && kill(state->last, 0) >= 0) ||
                        cookies->n_completed >= COMPLETED_MAX)
                        continue;
                r = semaphore_subtract(suspects[i].id, state->left);
                if (r >= 0)
                        cookies->completed[cookies->n_completed++] =
                                (struct completed){suspects[i].key & COOKIE_BASE_MASK, state->left};
                else if (r == -EAGAIN || r == -ENOENT)
                        r = 0;
        }
        return r < 0 ? log_error_errno(r, "Failed to complete what lvm2 waits for: %m") : 0;
}

static int on_look(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
        struct cookies *cookies = userdata;
        _cleanup_free_ char *locks = NULL;
        int r;

        if (read_file_at(AT_FDCWD, "/proc/locks", &locks, NULL) >= 0)
                blocked_look(&cookies->blocked, locks, cookies->jobs);
        FOREACH_ARRAY(waiter, cookies->blocked.waiters, cookies->blocked.n)
                if (waiter->looks >= (is_run_by_udev(waiter->pid) ? LOOKS : LOOKS_AT_OTHERS)) {
                        /* The promise goes last: headgate-takeover needs it if the worker ends before. */
                        r = give_up(cookies, waiter->pid) ?: free_vgchange(cookies, waiter->holder) ?: withdraw(cookies);
                        if (r < 0)
                                return r;
                }
        look_later(cookies);
        return 0;
}

static int cookies_new(sd_event *event, int run_fd, const struct dm_list *jobs, struct cookies **ret)
{
        _cleanup_(cookies_freep) struct cookies *cookies = calloc(1, sizeof(*cookies));
        int r;

        if (!cookies)
                return -ENOMEM;
        cookies->event = event;
        cookies->run_fd = run_fd;
        cookies->jobs = jobs;
        r = sd_event_add_time_relative(
                event, &cookies->look_source, CLOCK_MONOTONIC, LOOK_INTERVAL_USEC, 0, on_look, cookies);
        if (r >= 0)
                r = sd_event_source_set_enabled(cookies->look_source, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_exit_on_failure(cookies->look_source, true);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(cookies);
        return 0;
}

/* Returns whether something may be promised, or a negative errno. */
static int prepare(struct cookies *cookies)
{
        _cleanup_close_ int root_fd = root_open();
        int r = rules_refresh(&cookies->rules, root_fd);

        if (r <= 0 || flags_is_set(cookies->run_fd, FLAGS_LATE_PROGRAM) > 0)
                return MIN(r, 0);
        if (cookies->monitor.source)
                return 1;
        return monitor_open(&cookies->monitor, NULL)
                       ?: monitor_start(&cookies->monitor, cookies->event, on_monitor, cookies)
                       ?: 1;
}

void cookies_expect(struct cookies **cookies, sd_event *event, int run_fd, const struct dm_list *jobs)
{
        int r = 0;

        if (flags_is_set(run_fd, FLAGS_DM_NAMES) <= 0)
                return;
        if (!*cookies)
                r = cookies_new(event, run_fd, jobs, cookies);
        if (r >= 0)
                r = prepare(*cookies);
        if (r < 0)
                log_warning_errno(
                        r, "Failed to prepare for device-mapper's events, leaving cookies to udev's programs: %m");
        if (*cookies && r <= 0)
                (void) withdraw(*cookies);
        else if (*cookies)
                (*cookies)->expecting = true;
}

/* ------ after a worker that was killed ------ */

/* A semaphore with an event left in udev changes when udev has handled it. Completed too early, lvm2 goes on before udev
 * has made the links of an LV. */
#define UNCHANGED_IDLE_USEC (2 * USEC_PER_SEC)
#define UNCHANGED_BUSY_USEC (10 * USEC_PER_SEC)
#define INTERVAL_USEC (250 * USEC_PER_MSEC)

/* The check of a thin pool may take so long, after other LVs of its VG were activated. */
#define TIMEOUT_USEC (3600 * USEC_PER_SEC)

DEFINE_CLEANUP(struct udev_queue *, udev_queue_unref)

static bool is_foreign_process(pid_t pid)
{
        _cleanup_free_ char *theirs = NULL, *ours = NULL;

        return read_groups(pid, &theirs) >= 0 && read_groups(getpid(), &ours) >= 0 && !streq(theirs, ours);
}

static bool is_stuck(const struct suspect *suspect, struct udev_queue *queue)
{
        uint64_t unchanged = now_usec() - suspect->since_usec;

        if (suspect->state.waiting == 0 || suspect->state.left == 0)
                return false;
        return unchanged >= UNCHANGED_BUSY_USEC ||
               (unchanged >= UNCHANGED_IDLE_USEC && udev_queue_get_queue_is_empty(queue) > 0);
}

/* Returns 0 while the semaphore has to be watched, 1 when it is done with, or a negative errno. */
static int look(struct suspect *suspect, struct udev_queue *queue)
{
        struct cookie_state state = {};
        int r = cookie_get_state(suspect->id, &state);

        if (r < 0)
                return r == -ENOENT ? 1 : r;
        if (state.left != suspect->state.left || state.last != suspect->state.last)
                suspect->since_usec = now_usec();
        suspect->state = state;
        if (!is_stuck(suspect, queue))
                return 0;
        if (is_foreign_process(state.last))
                return 1;

        r = semaphore_subtract(suspect->id, state.left);
        if (r == -EAGAIN)
                return 0;
        if (r < 0)
                return r == -ENOENT ? 1 : r;
        log_notice("Completed %u event%s of device-mapper that the worker has left, and lvm2 waited for.",
                state.left, plural(state.left));
        return 1;
}

int suspects_complete(struct suspect *suspects, size_t n, uint64_t timeout_usec)
{
        _cleanup_udev_ struct udev *udev = udev_new();
        _cleanup_(udev_queue_unrefp) struct udev_queue *queue = udev ? udev_queue_new(udev) : NULL;
        uint64_t end = now_usec() + timeout_usec;

        if (!queue)
                return -ENOMEM;
        while (n > 0 && now_usec() < end) {
                for (size_t i = n; i-- > 0;) {
                        int r = look(&suspects[i], queue);

                        if (r < 0)
                                return r;
                        if (r > 0)
                                suspects[i] = suspects[--n];
                }
                (void) usleep(INTERVAL_USEC);
        }
        return 0;
}

int cookies_adopt(int run_fd)
{
        _cleanup_free_ struct suspect *suspects = NULL;
        size_t n = 0;
        pid_t pid;
        int r = flags_is_set(run_fd, FLAGS_COMPLETING);

        if (r <= 0)
                return r;
        /* udev's program completes the events from now on. */
        r = flags_clear(run_fd, FLAGS_COMPLETING) ?: suspects_find(&suspects, &n);
        if (r < 0 || n == 0)
                return r;
        pid = fork();
        if (pid != 0)
                return pid < 0 ? -errno : 0;
        r = suspects_complete(suspects, n, TIMEOUT_USEC);
        if (r < 0)
                log_warning_errno(r, "Failed to complete the cookies that the worker has left: %m");
        _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
