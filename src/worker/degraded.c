/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/degraded.h"

#include "lvm/active.h"
#include "lvm/online.h"
#include "lvm/raid.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/activation.h"
#include "worker/intake.h"
#include "worker/names.h"
#include "worker/report.h"
#include "worker/verdict.h"

/* Of more LVs that are not active than that the number has to do. */
#define NAMED_MAX 8

static bool is_permitted(const struct worker *worker, const struct volume_group *volume_group)
{
        return worker->event_activation && !volume_group->bereft &&
               settings_allow_degraded(&worker->settings, volume_group->name);
}

void degraded_allow(struct worker *worker, struct managed_group *group)
{
        struct volume_group *volume_group = group->volume_group;

        if (!is_permitted(worker, volume_group))
                return;
        if (volume_group->degraded_usec == 0)
                volume_group->degraded_usec = now_usec();
        volume_group->overdue = true;
        volume_group->complete_usec = 0;
        inventory_set_state(worker->inventory, group, VOLUME_GROUP_COMPLETE);
        worker_ask_step(worker);
}

/* Whether lvm2 has been asked to do without PVs, or need not be. */
static bool was_asked(const struct volume_group *volume_group)
{
        return volume_group->degraded_usec != 0 &&
               (volume_group->state == VOLUME_GROUP_DEGRADED ||
                       volume_group->activating_usec >= volume_group->degraded_usec);
}

bool degraded_is_asked(const struct volume_group *volume_group)
{
        return volume_group->degraded_usec > volume_group->complete_usec;
}

void degraded_take_pv(struct worker *worker, struct managed_group *group, struct volume_group_pv *pv)
{
        struct volume_group *volume_group = group->volume_group;
        bool was_bereft = volume_group->bereft;

        volume_group->bereft = false;
        if (was_asked(volume_group)) {
                pv->late_usec = now_usec();
                report_late(volume_group, pv);
        }
        if (!volume_group_is_incomplete(volume_group) ||
                !settings_allow_degraded(&worker->settings, volume_group->name))
                return;

        /* It may be the first of several again. */
        if (volume_group->state == VOLUME_GROUP_WAITING && (volume_group->overdue || was_bereft)) {
                volume_group->first_seen_usec = now_usec();
                volume_group->overdue = false;
        }
        if (volume_group->state == VOLUME_GROUP_DEGRADED &&
                volume_group_count_active(volume_group) < volume_group_count_autoactivated(volume_group))
                volume_group->overdue = false;
}

void degraded_end(struct volume_group *volume_group)
{
        if (!was_asked(volume_group))
                volume_group->degraded_usec = 0;
}

/* ------ asking ------ */

/* Of a VG that is queued without all of its PVs: whether its deadline has passed while those were missing that are missing
 * now, and its policy still permits it. Otherwise a PV was removed since it was complete, or newer metadata names one more. */
static bool is_due(const struct worker *worker, const struct volume_group *volume_group)
{
        return volume_group->overdue && degraded_is_asked(volume_group) && is_permitted(worker, volume_group);
}

/* What is missing may be among the disks that have come and were not looked at. A disk that does not answer is given up
 * by the reader, and then left with a pvscan of its own, so that this has an end. */
static bool is_looking(const struct worker *worker)
{
        return worker->recordings.job || inventory_has_device_before(worker->inventory, DEVICE_RECORDING);
}

static bool is_asking(const struct worker *worker)
{
        uint64_t now = now_usec();
        const struct job *job;

        dm_list_iterate_items(job, &worker->jobs)
                if (job->kind == JOB_ACTIVATE_DEGRADED && activation_is_patient(job, now))
                        return true;
        return false;
}

/* lvm2 has its verdict on each PV when it records it; without event mode it would not look at its records. Returns
 * the first PV that it did not accept, or NULL. */
static const struct volume_group_pv *find_unrecorded(
        const struct worker *worker, const struct volume_group *volume_group)
{
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                const struct volume_group_pv *pv = &volume_group->pvs[i];
                dev_t recorded;

                if (pv->device != 0 && (online_read_pv(worker->lvm_run_fd, pv->pvid, &recorded) != ONLINE_FOUND ||
                                               recorded != pv->device))
                        return pv;
        }
        return NULL;
}

/* What forbids to ask lvm2, as a sentence, in `*ret`, to be freed by the caller; NULL if nothing does. Returns 0 or
 * -ENOMEM. */
static int find_obstacle(const struct worker *worker, const struct managed_group *group, char **ret)
{
        const char *reason = activation_find_skip_reason(worker, group);
        const struct volume_group_pv *unrecorded = find_unrecorded(worker, group->volume_group);

        *ret = NULL;
        if (reason)
                *ret = strdup(reason);
        else if (unrecorded)
                *ret = string_format("lvm2 does not accept its PV %s.", unrecorded->device_name ?: "?");
        else if (names_is_shared(worker->inventory, group))
                *ret = strdup("there is another VG of this name.");
        else
                return 0;
        return *ret ? 0 : -ENOMEM;
}

static void go_back_to_waiting(struct worker *worker, struct managed_group *group)
{
        group->job = NULL;
        group->volume_group->degraded_usec = 0;
        inventory_set_state(worker->inventory, group, VOLUME_GROUP_WAITING);
        worker_ask_step(worker);
}

/* Deals with a VG for which lvm2 need not be asked, or must not be. Returns 1 if it did, 0, or a negative errno. */
static int settle_without_asking(
        struct worker *worker, struct managed_group *group, const struct active_devices *devices)
{
        struct volume_group *volume_group = group->volume_group;
        _cleanup_free_ char *obstacle = NULL;
        size_t n_wanted;
        int r;

        if (!is_due(worker, volume_group)) {
                go_back_to_waiting(worker, group);
                return 1;
        }
        active_devices_mark(devices, volume_group);
        n_wanted = volume_group_count_autoactivated(volume_group);
        /* The initrd did it, or a worker that did not live to see it. */
        if (n_wanted > 0 && volume_group_count_active(volume_group) >= n_wanted) {
                r = degraded_settle(worker, group, 0, "");
                return r < 0 ? r : 1;
        }

        r = find_obstacle(worker, group, &obstacle);
        if (r < 0)
                return log_oom();
        if (obstacle)
                log_notice("VG %s is not activated without the PVs that are missing: %s", volume_group->name,
                        obstacle);
        if (!obstacle && n_wanted > 0)
                return 0;
        /* What is active already stays so. */
        if (was_asked(volume_group))
                inventory_set_state(worker->inventory, group, VOLUME_GROUP_DEGRADED);
        else
                go_back_to_waiting(worker, group);
        return 1;
}

static int start_job(struct worker *worker, struct managed_group *const *groups, size_t n)
{
        /* Event mode leaves incomplete VGs alone. As there, -aay heeds what lvm.conf and the metadata say of
         * autoactivation. The mode is said, since lvm.conf may have "partial". */
        static const char *const words[] = {"vgchange", "-aay", "--activationmode", "degraded", "--"};
        struct job *job;

        return activation_start_job(worker, JOB_ACTIVATE_DEGRADED, words, ELEMENTSOF(words), groups, n, &job);
}

int degraded_start(struct worker *worker)
{
        struct dm_list *complete = &worker->inventory->groups[VOLUME_GROUP_COMPLETE];
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        _cleanup_free_ struct managed_group **groups = NULL;
        struct managed_group *group, *next;
        size_t n = 0;
        int r = 0;

        dm_list_iterate_items(group, complete)
                n += volume_group_is_incomplete(group->volume_group);
        if (n == 0 || is_looking(worker) || is_asking(worker))
                return 0;

        groups = calloc(n, sizeof(*groups));
        if (!groups)
                return log_oom();
        r = active_devices_get(&devices);
        if (r < 0)
                return log_error_errno(r, "Failed to list the device-mapper devices: %m");
        n = 0;
        dm_list_iterate_items_safe(group, next, complete) {
                if (!volume_group_is_incomplete(group->volume_group))
                        continue;
                r = settle_without_asking(worker, group, devices);
                if (r < 0)
                        return r;
                if (r == 0)
                        groups[n++] = group;
        }
        return n > 0 ? start_job(worker, groups, n) : 0;
}

/* ------ settling ------ */

/* "big, home", to be freed by the caller; NULL without memory. */
static char *name_inactive(const struct volume_group *volume_group)
{
        _cleanup_string_vector_ struct string_vector names = {};
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_lvs; i++) {
                const struct volume_group_lv *lv = &volume_group->lvs[i];

                if (lv->autoactivated && !lv->active && ++n <= NAMED_MAX &&
                        string_vector_add(&names, lv->name) < 0)
                        return NULL;
        }
        if (n > NAMED_MAX) {
                _cleanup_free_ char *more = string_format("%zu more", n - NAMED_MAX);

                if (!more || string_vector_add(&names, more) < 0)
                        return NULL;
        }
        return string_vector_join(&names, ", ");
}

/* What lvm2 has said of the first LV that is not active, up to the end of the sentence: the next one would be the
 * advice to have it activated in parts. NULL if there is nothing. */
static char *find_words(const char *output, const struct volume_group *volume_group)
{
        for (size_t i = 0; i < volume_group->n_lvs; i++) {
                const struct volume_group_lv *lv = &volume_group->lvs[i];
                char *words = lv->autoactivated && !lv->active
                                      ? verdict_find_words_about_lv(output, volume_group->name, lv->name)
                                      : NULL;

                if (words) {
                        char *end = strstr(words, ".  ");

                        if (end)
                                *end = '\0';
                        return words;
                }
        }
        return NULL;
}

/* Which LVs are not active, and what lvm2 has said; none if all are. Returns 0 or -ENOMEM. */
static int set_reason(struct volume_group *volume_group, int exit_status, const char *output)
{
        _cleanup_free_ char *names = name_inactive(volume_group);
        _cleanup_free_ char *words = NULL;

        free(volume_group->reason);
        volume_group->reason = NULL;
        if (!names)
                return -ENOMEM;
        if (names[0] == '\0')
                return 0;
        words = find_words(output, volume_group);
        if (!words && exit_status != 0)
                words = string_format("vgchange ended with status %i", exit_status);
        return string_replace(
                &volume_group->reason, string_format("not activated: %s%s%s%s.", names, words ? " (lvm2: " : "",
                                               words ?: "", words ? ")" : ""));
}

int degraded_settle(struct worker *worker, struct managed_group *group, int exit_status, const char *output)
{
        struct volume_group *volume_group = group->volume_group;
        int r;

        /* The last of them came while lvm2 was at work. */
        if (!volume_group_is_incomplete(volume_group)) {
                group->job = NULL;
                intake_complete(worker, group);
                worker_ask_step(worker);
                return 0;
        }

        r = set_reason(volume_group, exit_status, output);
        if (r < 0)
                return log_oom();
        if (volume_group_count_active(volume_group) > 0) {
                verdict_settle(worker, group, VOLUME_GROUP_DEGRADED);
                return 0;
        }
        report_degraded_in_vain(volume_group);
        go_back_to_waiting(worker, group);
        return 0;
}

int degraded_is_left(struct managed_group *group)
{
        struct volume_group *volume_group = group->volume_group;
        _cleanup_free_ char *refresh = NULL;
        int r;

        if (volume_group->degraded_usec == 0)
                return 0;
        r = raid_describe_refresh(volume_group, &refresh);
        if (r == -ENOMEM)
                return log_oom();
        if (r < 0)
                log_debug("Failed to ask for the RAIDs of VG %s: %s", volume_group->name, strerror(-r));
        if (r != 0) {
                r = string_replace(&volume_group->reason,
                        string_format("RAIDs go without a PV that came late (%s).", refresh ?: "see lvmraid(7)"));
                return r < 0 ? log_oom() : 1;
        }

        volume_group->degraded_usec = 0;
        for (size_t i = 0; i < volume_group->n_pvs; i++)
                volume_group->pvs[i].late_usec = 0;
        return 0;
}
