/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/await.h"

#include <poll.h>
#include <sys/inotify.h>

#include "cli/verbs.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "view/names.h"
#include "view/snapshot.h"

/* How many VGs one line names. */
#define ABSENT_NAMES_MAX 10

int await_request(int run_fd, const struct await *await)
{
        int r;

        r = flags_prepare(run_fd);
        for (size_t i = 0; r >= 0 && i < await->n_names; i++) {
                _cleanup_free_ char *entry = string_format("%s%s", await->request, await->names[i]);

                r = entry ? flags_post(run_fd, entry) : -ENOMEM;
        }
        return r < 0 ? r : flags_wake(FLAGS_WAKE);
}

/* Whether the worker still has the request for the VG to deal with. */
static int is_requested(int run_fd, const char *request, const char *name)
{
        static const char *const directories[] = {FLAGS_PENDING_DIRECTORY, FLAGS_WORKING_DIRECTORY};

        for (size_t i = 0; i < ELEMENTSOF(directories); i++) {
                _cleanup_free_ char *path = string_format("%s/%s%s", directories[i], request, name);
                int r = path ? flags_is_set(run_fd, path) : -ENOMEM;

                if (r != 0)
                        return r;
        }
        return 0;
}

/* Whether the worker still has any of the requests. */
static int is_any_requested(int run_fd, const struct await *await)
{
        for (size_t i = 0; await->request && i < await->n_names; i++) {
                int r = is_requested(run_fd, await->request, await->names[i]);

                if (r != 0)
                        return r;
        }
        return 0;
}

/* Whether a VG of which nothing was seen may still appear by coldplug. */
static int is_coldplug_awaited(int run_fd, const struct await *await)
{
        int r;

        if (await->request || !await->until_deadline)
                return 0;
        r = flags_is_set(run_fd, FLAGS_BOOT_FINISHED);
        return r < 0 ? r : r == 0;
}

enum {
        NOT_SETTLED = 0,
        SETTLED_UP = 1,
        SETTLED_NOT_UP = 2,
};

/* Nothing was seen of it, though the worker has done with it, or coldplug is over. */
static int judge_absent(const struct await *await)
{
        if (!await->request && !await->until_deadline)
                return NOT_SETTLED;
        return await->ignore_unwanted ? SETTLED_UP : SETTLED_NOT_UP;
}

/* What can be had of it can be used. That one that is degraded has it all is what its policy is for. */
static bool is_up(const struct volume_group *volume_group)
{
        return volume_group->state == VOLUME_GROUP_ACTIVE ||
               (volume_group->state == VOLUME_GROUP_DEGRADED &&
                       volume_group_count_active(volume_group) >= volume_group_count_autoactivated(volume_group));
}

/* A VG that waits for PVs may still come, unless there is a limit to that, or somebody has asked for it now. */
static int judge(const struct await *await, const struct volume_group *volume_group)
{
        if (!volume_group)
                return judge_absent(await);
        if (volume_group->state == VOLUME_GROUP_WAITING)
                return await->request || (await->until_deadline && volume_group->overdue) ? SETTLED_NOT_UP
                                                                                          : NOT_SETTLED;
        if (!volume_group_is_settled(volume_group))
                return NOT_SETTLED;
        if (volume_group->state == VOLUME_GROUP_SKIPPED || volume_group->state == VOLUME_GROUP_DEACTIVATED)
                return await->ignore_unwanted ? SETTLED_UP : SETTLED_NOT_UP;
        return is_up(volume_group) ? SETTLED_UP : SETTLED_NOT_UP;
}

static int judge_named(const struct await *await, const struct snapshot *snapshot)
{
        int result = SETTLED_UP;

        for (size_t i = 0; i < await->n_names; i++) {
                int r = judge(await, snapshot_find(snapshot, await->names[i]));

                if (r == NOT_SETTLED)
                        return NOT_SETTLED;
                result = MAX(result, r);
        }
        return result;
}

static int judge_seen(const struct await *await, const struct snapshot *snapshot)
{
        int result = SETTLED_UP;

        for (size_t i = 0; i < snapshot->n; i++) {
                int r = judge(await, snapshot->volume_groups[i]);

                if (r == NOT_SETTLED)
                        return NOT_SETTLED;
                result = MAX(result, r);
        }
        return result;
}

static bool are_all_seen(const struct await *await, const struct snapshot *snapshot)
{
        for (size_t i = 0; i < await->n_names; i++)
                if (!snapshot_find(snapshot, await->names[i]))
                        return false;
        return true;
}

static int judge_all(const struct await *await, const struct snapshot *snapshot)
{
        return await->n_names > 0 ? judge_named(await, snapshot) : judge_seen(await, snapshot);
}

/* One line on standard error about a VG that is not active: its state and why, or which PVs are missing. */
static void explain_volume_group(const struct volume_group *volume_group)
{
        _cleanup_free_ char *missing = volume_group_describe_missing(volume_group);

        if (volume_group->state == VOLUME_GROUP_WAITING)
                log_error("VG %s waits for %s.", volume_group->name, missing ?: "PVs");
        else if (volume_group->state == VOLUME_GROUP_DEGRADED && volume_group_is_incomplete(volume_group))
                log_error("VG %s is degraded, without %s%s%s", volume_group->name, missing ?: "PVs",
                        volume_group->reason ? "; " : ".", volume_group->reason ?: "");
        else
                log_error("VG %s is %s%s%s", volume_group->name, volume_group_state_to_string(volume_group->state),
                        volume_group->reason ? ": " : ".", volume_group->reason ?: "");
}

static void explain_absent(struct sources *sources, const char *name)
{
        _cleanup_string_vector_ struct string_vector names = {};

        if (names_read(sources, &names) >= 0 && !names_have(&names, name))
                names_log_unknown(&names, name);
        else
                log_error("VG %s is not there: none of its PVs was seen.", name);
}

static void explain(struct sources *sources, const struct await *await, const struct snapshot *snapshot)
{
        for (size_t i = 0; i < await->n_names; i++) {
                const struct volume_group *volume_group = snapshot_find(snapshot, await->names[i]);

                if (!volume_group)
                        explain_absent(sources, await->names[i]);
                else if (!is_up(volume_group))
                        explain_volume_group(volume_group);
        }
        for (size_t i = 0; await->n_names == 0 && i < snapshot->n; i++)
                if (!is_up(snapshot->volume_groups[i]))
                        explain_volume_group(snapshot->volume_groups[i]);
}

/* lvm2's backups may tell of VGs that are no more. That is worth a line, and nothing else. */
static void note_absent(const struct await *await, const struct snapshot *snapshot)
{
        _cleanup_free_ char *names = NULL;
        size_t n_absent = 0;
        FILE *file;
        size_t size;

        file = open_memstream(&names, &size);
        if (!file)
                return;
        for (size_t i = 0; i < await->n_names; i++) {
                if (snapshot_find(snapshot, await->names[i]))
                        continue;
                if (n_absent++ < ABSENT_NAMES_MAX)
                        fprintf(file, "%s%s", n_absent > 1 ? ", " : "", await->names[i]);
        }
        if (fclose(file) != 0 || n_absent == 0)
                return;
        log_info("%zu VGs are absent, nothing was seen of them: %s%s", n_absent, names,
                n_absent > ABSENT_NAMES_MAX ? ", ..." : ".");
}

/* The directories whose changes can mean that a VG is settled, the first because of the records. One that does not exist yet
 * is made by the worker later; then the clock helps. */
static int watch(int run_fd)
{
        static const char *const names[] = {".", FLAGS_WORKING_DIRECTORY};
        int fd;

        fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (fd < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_free_ char *path = string_format("/proc/self/fd/%i/%s", run_fd, names[i]);

                if (path)
                        (void) inotify_add_watch(
                                fd, path, IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ONLYDIR);
        }
        return fd;
}

/* Waits for a change, for a second at most. */
static void wait_for_change(int watch_fd, uint64_t deadline)
{
        struct pollfd poll_fd = {.fd = watch_fd, .events = POLLIN};
        uint64_t now = now_usec();
        uint64_t left = deadline > now ? deadline - now : 0;
        char events[4096];

        if (poll(&poll_fd, 1, (int) (MIN(left, USEC_PER_SEC) / USEC_PER_MSEC) + 1) <= 0)
                return;

        /* What comes within the next moment is seen by the same look. */
        while (read(watch_fd, events, sizeof(events)) > 0)
                ;
}

/* One look. Sets `snapshot` unless it is NOT_SETTLED. */
static int look(struct sources *sources, const struct await *await, struct snapshot *snapshot)
{
        int r, coldplug;

        /* Asked before the VGs are read: results are written before requests and coldplug end. */
        r = is_any_requested(sources->run_fd, await);
        if (r != 0)
                return r < 0 ? r : NOT_SETTLED;
        coldplug = is_coldplug_awaited(sources->run_fd, await);
        if (coldplug < 0 || (coldplug > 0 && await->n_names == 0))
                return MIN(coldplug, NOT_SETTLED);
        r = snapshot_read(sources, snapshot);
        if (r < 0)
                return r;
        if (coldplug > 0 && !are_all_seen(await, snapshot))
                return NOT_SETTLED;
        return judge_all(await, snapshot);
}

static int fail(int error)
{
        (void) log_error_errno(error, "Failed to read what the worker has written down: %m");
        return EXIT_CANNOT_TELL;
}

static int time_out(struct sources *sources, const struct await *await)
{
        _cleanup_snapshot_ struct snapshot snapshot = {};
        int r = snapshot_read(sources, &snapshot);

        if (r < 0)
                return fail(r);
        explain(sources, await, &snapshot);
        return EXIT_NOT_ALL_UP;
}

int await_volume_groups(struct sources *sources, const struct await *await)
{
        uint64_t deadline =
                await->timeout_usec == USEC_INFINITY ? USEC_INFINITY : now_usec() + await->timeout_usec;
        _cleanup_close_ int watch_fd = watch(sources->run_fd);

        if (watch_fd < 0) {
                (void) log_error_errno(watch_fd, "Failed to watch /run/headgate: %m");
                return EXIT_CANNOT_TELL;
        }

        for (;;) {
                _cleanup_snapshot_ struct snapshot snapshot = {};
                int r;

                if (flags_is_set(sources->run_fd, FLAGS_TAKEN_OVER) == 0) {
                        log_error("headgate handed over to lvm2, not waiting any longer.");
                        return EXIT_LVM2_ACTIVATES;
                }
                r = look(sources, await, &snapshot);
                if (r < 0)
                        return fail(r);
                if (r == SETTLED_UP) {
                        note_absent(await, &snapshot);
                        return EXIT_ALL_UP;
                }
                if (r == SETTLED_NOT_UP) {
                        explain(sources, await, &snapshot);
                        return EXIT_NOT_ALL_UP;
                }
                if (now_usec() >= deadline)
                        return time_out(sources, await);
                wait_for_change(watch_fd, deadline);
        }
}
