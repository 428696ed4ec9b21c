/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate wait and headgate activate: both wait until VGs are settled, by the worker's records. headgate activate has the worker
 * retry them first. */

#include <poll.h>
#include <sys/inotify.h>
#include <systemd/sd-login.h>

#include "cli/verb.h"
#include "deactivate/target.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/util.h"
#include "view/snapshot.h"

/* As long as systemd waits for a device by default (DefaultDeviceTimeoutSec=). */
#define TIMEOUT_DEFAULT_USEC (90 * USEC_PER_SEC)

static bool arg_expect;
static bool arg_ignore_absent;
static bool arg_no_block;
static bool arg_timeout;
static uint64_t arg_timeout_usec;

/* VGs to wait for, and when the wait ends. */
struct await {
        char *const *names; /* none: all VGs seen by the end of coldplug, and expected VGs */
        size_t n_names;
        const char *request; /* kind of request to make for each VG, see flags.h; or NULL */
        bool ignore_absent;  /* end at the deadline; absent VGs, and VGs excluded from activation, do not count */
        uint64_t timeout_usec; /* USEC_INFINITY for no limit */
};

/* ------ requests ------ */

static int post_requests(int run_fd, const struct await *await)
{
        int r = flags_prepare(run_fd);

        for (size_t i = 0; r >= 0 && i < await->n_names; i++)
                r = flags_post(run_fd, path_format("%s%s", await->request, await->names[i]).text);
        return r < 0 ? r : flags_wake(FLAGS_WAKE);
}

static int stop_at_expected(const char *entry, _unused_ void *userdata)
{
        return skip_prefix(entry, FLAGS_ENTRY_EXPECTED) ? -EEXIST : 0;
}

/* Whether the worker has not finished all requests. */
static int is_any_requested(int run_fd, const struct await *await)
{
        static const char *const directories[] = {FLAGS_PENDING_DIRECTORY, FLAGS_WORKING_DIRECTORY};
        int r = 0;

        if (await->n_names == 0) {
                r = flags_walk_requests(run_fd, stop_at_expected, NULL);
                return r == -EEXIST ? 1 : r;
        }

        for (size_t i = 0; r == 0 && await->request && i < await->n_names; i++)
                for (size_t j = 0; r == 0 && j < ELEMENTSOF(directories); j++) {
                        struct path path = path_format("%s/%s%s", directories[j], await->request, await->names[i]);

                        r = flags_is_set(run_fd, path.text);
                }
        return r;
}

/* ------ judging ------ */

enum {
        NOT_SETTLED = 0,
        SETTLED_UP = 1,
        SETTLED_NOT_UP = 2,
};

static size_t count_awaited(const struct await *await, const struct sources *sources)
{
        return await->n_names > 0 ? await->n_names : sources->n_vgs;
}

/* NULL for an absent VG. */
static const struct vg *get_awaited(const struct await *await, const struct sources *sources, size_t i)
{
        return await->n_names > 0 ? snapshot_find(sources, await->names[i]) : sources->vgs[i];
}

/* A degraded VG with all LVs active counts as active, since headgate.conf allows that. */
static bool is_up(const struct vg *vg)
{
        struct vg_counts n = vg_count(vg);

        return vg->status == VG_STATUS_ACTIVE || (vg->status == VG_STATUS_DEGRADED && n.active >= n.autoactivated);
}

/* A waiting or absent VG may still become active, unless there is a limit, or it was requested now. */
static int judge(const struct await *await, const struct vg *vg, bool coldplug)
{
        int unwanted = await->ignore_absent ? SETTLED_UP : SETTLED_NOT_UP;

        if (!vg)
                return !coldplug && (await->request || await->ignore_absent) ? unwanted : NOT_SETTLED;
        if (vg->status == VG_STATUS_WAITING)
                return await->request || (await->ignore_absent && vg->overdue) ? SETTLED_NOT_UP : NOT_SETTLED;
        if (!vg_is_settled(vg))
                return NOT_SETTLED;
        if (vg->status == VG_STATUS_SKIPPED || vg->status == VG_STATUS_DEACTIVATED)
                return unwanted;
        return is_up(vg) ? SETTLED_UP : SETTLED_NOT_UP;
}

/* Looks once. Reads the VGs, unless requests make it NOT_SETTLED. */
static int look(struct sources *sources, const struct await *await)
{
        int r, result = SETTLED_UP;
        bool coldplug = false;

        /* Before the VGs are read, since the worker writes records before it ends requests and coldplug. */
        r = is_any_requested(sources->run_fd, await);
        if (r != 0)
                return MIN(r, NOT_SETTLED);
        if (!await->request && await->ignore_absent) {
                r = flags_is_set(sources->run_fd, FLAGS_BOOT_FINISHED);
                if (r < 0)
                        return r;
                coldplug = r == 0;
        }
        if (coldplug && await->n_names == 0)
                return NOT_SETTLED;

        r = snapshot_read(sources);
        if (r < 0)
                return r;
        for (size_t i = 0; i < count_awaited(await, sources); i++) {
                r = judge(await, get_awaited(await, sources, i), coldplug);
                if (r == NOT_SETTLED)
                        return NOT_SETTLED;
                result = MAX(result, r);
        }
        return result;
}

/* ------ explaining, on standard error ------ */

/* Logs the state and reason, or the missing PVs. */
static void explain_vg(const struct vg *vg)
{
        _cleanup_free_ char *missing = vg_describe_missing(vg);

        if (vg->status == VG_STATUS_WAITING)
                log_error("VG %s waits for %s.", vg->name, missing ?: "PVs");
        else if (vg->status == VG_STATUS_DEGRADED && vg_is_incomplete(vg))
                log_error("VG %s is degraded, without %s%s%s", vg->name, missing ?: "PVs", vg->reason ? "; " : ".",
                        vg->reason ?: "");
        else
                log_error("VG %s is %s%s%s", vg->name, vg_status_to_string(vg->status), vg->reason ? ": " : ".",
                        vg->reason ?: "");
}

/* Logs a line about each VG that is not active. */
static void explain(struct sources *sources, const struct await *await)
{
        for (size_t i = 0; i < count_awaited(await, sources); i++) {
                const struct vg *vg = get_awaited(await, sources, i);

                if (!vg && sources_read_names(sources) >= 0 && !sources_have_name(sources, await->names[i]))
                        sources_log_unknown(sources, await->names[i]);
                else if (!vg)
                        log_error("VG %s is absent: none of its PVs was seen.", await->names[i]);
                else if (!is_up(vg))
                        explain_vg(vg);
        }
}

/* ------ waiting ------ */

/* Directories that change when a VG is settled; the first has the records. If the worker creates one only later, the loop still
 * looks once a second. */
static int watch(int run_fd)
{
        static const char *const names[] = {".", FLAGS_WORKING_DIRECTORY};
        int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

        if (fd < 0)
                return -errno;
        FOREACH_ELEMENT(name, names)
                (void) inotify_add_watch(fd, path_format("/proc/self/fd/%i/%s", run_fd, *name).text,
                        IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ONLYDIR);
        return fd;
}

/* Waits for a change, for a second at most. */
static void wait_for_change(int watch_fd, uint64_t deadline)
{
        struct pollfd poll_fd = {.fd = watch_fd, .events = POLLIN};
        uint64_t left = usec_between(now_usec(), deadline);
        char events[4096];

        (void) poll(&poll_fd, 1, (int) (MIN(left, USEC_PER_SEC) / USEC_PER_MSEC) + 1);
        /* Changes within the next moment are seen by the same look. */
        while (read(watch_fd, events, sizeof(events)) > 0)
                ;
}

/* Has the worker reset a failed headgate-vg@.service when its VG is activated later. Returns whether this is such a unit. */
static bool note_failed_wait(int run_fd, const struct await *await)
{
        _cleanup_free_ char *unit = NULL;

        if (await->n_names != 1 || sd_pid_get_unit(0, &unit) < 0 || !skip_prefix(unit, "headgate-vg@"))
                return false;
        return symlinkat(unit, run_fd, path_format(FLAGS_FAILED_WAIT "%s", await->names[0]).text) >= 0 ||
               errno == EEXIST;
}

/* Returns the exit status. */
static int await_vgs(struct sources *sources, const struct await *await)
{
        uint64_t deadline =
                await->timeout_usec == USEC_INFINITY ? USEC_INFINITY : now_usec() + await->timeout_usec;
        _cleanup_close_ int watch_fd = watch(sources->run_fd);
        bool noted = false;

        if (watch_fd < 0)
                return verb_fail(watch_fd, "Failed to watch /run/headgate: %m");

        for (;;) {
                int r;

                if (flags_is_set(sources->run_fd, FLAGS_TAKEN_OVER) == 0) {
                        log_error("headgate handed over to lvm2, no longer waiting.");
                        return EXIT_LVM2_ACTIVATES;
                }
                r = look(sources, await);
                if (r == NOT_SETTLED && now_usec() >= deadline)
                        r = snapshot_read(sources) ?: SETTLED_NOT_UP;
                if (r < 0)
                        return verb_fail(r, "Failed to read the worker's records: %m");
                if (r == SETTLED_UP)
                        return EXIT_ALL_UP;
                /* The VG may have been activated before the worker saw the file. */
                if (r == SETTLED_NOT_UP && !noted && note_failed_wait(sources->run_fd, await)) {
                        noted = true;
                        continue;
                }
                if (r == SETTLED_NOT_UP) {
                        explain(sources, await);
                        return EXIT_NOT_ALL_UP;
                }
                wait_for_change(watch_fd, deadline);
        }
}

/* ------ the verbs ------ */

/* systemd replaces each "-" of an instance by "/" (systemd.unit(5)), and people write headgate-vg@my-vg.service without escaping.
 * VG names have no "/", so this can be reverted. systemd describes such a unit as "my/vg", so the escaped name is logged, too. */
static void restore_hyphens(char *name)
{
        _cleanup_free_ char *unit = NULL;

        if (!strchr(name, '/'))
                return;
        for (char *c = name; (c = strchr(c, '/'));)
                *c = '-';
        if (vg_name_is_valid(name) && unit_name_of_vg(name, &unit) >= 0)
                log_info("Waiting for VG %s. Its unit is \"%s\" if the name is escaped.", name, unit);
}

/* Refuses names that are not VGs, since requests and records are for whole VGs. Returns the exit status. */
static int refuse_name(const char *name, bool is_to_be_activated)
{
        _cleanup_target_ struct target target = {};
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        const struct dm_device *device = NULL;
        int r = target_parse(name, &target);
        const char *vg = target.vg, *lv = target.lv;

        /* An LV that is active, by its path. */
        if (r >= 0 && target.dm_name && dm_devices_get(&devices) >= 0)
                device = dm_devices_find(devices, target.number);
        if (device && device->vg) {
                vg = device->vg;
                lv = device->lv;
        }
        if (r < 0 || !lv)
                return verb_refuse("\"%s\" cannot be the name of a VG.", name);
        if (is_to_be_activated)
                return verb_refuse(
                        "headgate activates only whole VGs; \"lvchange -ay %s/%s\" activates this LV.", vg, lv);
        return verb_refuse(
                "headgate waits only for whole VGs; \"headgate wait %s\" waits for the VG of this LV.", vg);
}

/* Makes the requests, if any, and waits, until --timeout if that is given. Returns the exit status. */
static int request_and_wait(struct await *await)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        if (arg_timeout)
                await->timeout_usec = arg_timeout_usec > 0 ? arg_timeout_usec : USEC_INFINITY;
        FOREACH_ARRAY(name, await->names, await->n_names)
                if (!vg_name_is_valid(*name))
                        return refuse_name(*name, await->request);
        r = sources_open_in_charge(&sources);
        if (r < 0)
                return r == -ENOENT ? EXIT_LVM2_ACTIVATES : EXIT_CANNOT_TELL;
        /* Units of boot name a VG and must not fail because its disk has a copy. */
        FOREACH_ARRAY(name, await->names, arg_expect ? 0 : await->n_names)
                if (sources_refuse_duplicate(&sources, *name) < 0)
                        return EXIT_CANNOT_TELL;
        r = await->request ? post_requests(sources.run_fd, await) : 0;
        if (r < 0)
                return verb_fail(r, "Failed to ask the worker: %m");
        return arg_no_block ? EXIT_ALL_UP : await_vgs(&sources, await);
}

static int run_wait(char *names[], size_t n, struct table *table _unused_)
{
        /* Only units have --expect. */
        for (size_t i = 0; i < n && arg_expect; i++)
                restore_hyphens(names[i]);
        arg_expect |= arg_no_block && n > 0;
        arg_ignore_absent |= n == 0;
        if (arg_expect && n == 0)
                return verb_refuse("--expect requires the name of a VG, see --help.");
        /* The worker has deadlines of its own. */
        return request_and_wait(&(struct await){names, n, arg_expect ? FLAGS_ENTRY_EXPECTED : NULL,
                arg_ignore_absent, arg_expect || arg_ignore_absent ? USEC_INFINITY : TIMEOUT_DEFAULT_USEC});
}

static int run_activate(char *names[], size_t n, struct table *table _unused_)
{
        if (n == 0)
                return verb_refuse("Expected the name of a VG, see --help.");
        return request_and_wait(&(struct await){names, n, FLAGS_ENTRY_VG, false, TIMEOUT_DEFAULT_USEC});
}

#define FOOTER                                                                                                    \
        "Exit status: 0 if all are active, 1 if some are not, 2 if headgate cannot tell, 3 if\n"                  \
        "headgate is not in charge.\n\n"

/* headgate activate has the last one only. */
static const struct verb_option options[] = {
        {"expect", '\0', NULL, "Activate them before others, wait until overdue", &arg_expect},
        {"ignore-absent", '\0', NULL, "Ignore absent and excluded volume groups", &arg_ignore_absent},
        {"no-block", '\0', NULL, "Only request, as --expect does; do not wait", &arg_no_block},
        {"timeout", '\0', "TIME", "How long to wait, 90s by default; 0 for no limit", &arg_timeout,
                .usec = &arg_timeout_usec},
        {},
};

const struct verb verb_wait = {"wait", "[VG...]", "Wait until volume groups have been activated",
        .help = "Usage: headgate wait [OPTION...] [--] [VG...]\n\n"
                "Wait until volume groups have been activated; without a name, every volume group\n"
                "found during boot.\n\n",
        .footer = FOOTER, .options = options, .run = run_wait};

const struct verb verb_activate = {"activate", "VG...", "Activate volume groups, and wait for them",
        .help = "Usage: headgate activate [OPTION...] [--] VG...\n\n"
                "Activate volume groups that were deactivated or have failed, and wait for them.\n\n",
        .footer = FOOTER, .options = &options[ELEMENTSOF(options) - 2], .root_only = "activate volume groups",
        .run = run_activate};
