/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/verdict.h"

#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/degraded.h"
#include "worker/dm_names.h"
#include "worker/report.h"

void verdict_settle(struct worker *worker, struct managed_group *group, enum volume_group_state state)
{
        struct volume_group *volume_group = group->volume_group;

        volume_group->settled_usec = now_usec();
        volume_group->lost_pv &= volume_group_count_stranded(volume_group) > 0;
        group->job = NULL;
        group->alone = false;
        inventory_set_state(worker->inventory, group, state);
        if (state == VOLUME_GROUP_ACTIVE || state == VOLUME_GROUP_DEGRADED)
                volume_group->first = volume_group_first_times(volume_group);
        dm_names_remove(worker->run_fd, volume_group);
        report_settled(volume_group);
        if (!worker->proved && flags_clear(worker->run_fd, FLAGS_FAILURES) >= 0)
                worker->proved = true;

        /* One of its disks went while lvm2 was at work. */
        if (volume_group_is_incomplete(volume_group) && state != VOLUME_GROUP_DEGRADED)
                inventory_set_state(worker->inventory, group, VOLUME_GROUP_WAITING);
}

int verdict_settle_active(struct worker *worker, struct managed_group *group)
{
        int r;

        r = online_claim(worker->lvm_run_fd, group->volume_group->name);
        if (r < 0)
                return log_error_errno(r, "Failed to claim VG %s: %m", group->volume_group->name);
        r = degraded_is_left(group);
        if (r < 0)
                return r;
        verdict_settle(worker, group, r > 0 ? VOLUME_GROUP_DEGRADED : VOLUME_GROUP_ACTIVE);
        return 0;
}

char *verdict_format_unresponsive(const char *device)
{
        return string_format("lvm2 waits for unresponsive device %s.", device);
}

int verdict_set_unresponsive(const struct worker *worker, struct managed_group *group, const char *device)
{
        int r = string_replace(&group->volume_group->reason, verdict_format_unresponsive(device));

        if (r < 0)
                return log_oom();
        inventory_note_change(worker->inventory, group);
        return 0;
}

char *verdict_find_words_about_lv(const char *output, const char *vg, const char *lv)
{
        _cleanup_free_ char *name = string_format("%s/%s", vg, lv);
        char *line = name ? lvm_output_find(output, name) : NULL;
        struct dm_pool *pool = line ? NULL : dm_pool_create("name", 512);
        char *dm_name = pool ? dm_build_dm_name(pool, vg, lv, NULL) : NULL;

        if (dm_name)
                line = lvm_output_find(output, dm_name);
        if (pool)
                dm_pool_destroy(pool);
        return line;
}

/* What lvm2 has said of the VG, or else of an LV that is not active; NULL if there is nothing. */
static char *find_words(const char *output, const struct volume_group *volume_group)
{
        char *line = lvm_output_find(output, volume_group->name);

        for (size_t i = 0; !line && i < volume_group->n_lvs; i++)
                if (!volume_group->lvs[i].active)
                        line = verdict_find_words_about_lv(output, volume_group->name, volume_group->lvs[i].name);
        return line;
}

/* The VG is not active for this reason, which is taken over: a sentence. */
static int settle_failed(struct worker *worker, struct managed_group *group, char *reason)
{
        int r = string_replace(&group->volume_group->reason, reason);

        if (r < 0)
                return r;
        verdict_settle(worker, group, VOLUME_GROUP_FAILED);
        return 0;
}

/* lvm2 takes an LV for active whose device it finds in the kernel, whatever that lies on, and rightly does not
 * touch it: it may be in use. */
static int settle_stranded(struct worker *worker, struct managed_group *group)
{
        struct volume_group *volume_group = group->volume_group;
        size_t n_stranded = volume_group_count_stranded(volume_group);

        return settle_failed(worker, group,
                string_format(
                        "%zu LV%s still on a disk that has gone (headgate deactivate %s, headgate activate %s; "
                        "if in use, vgchange --refresh %s).",
                        n_stranded, n_stranded == 1 ? " is" : "s are", volume_group->name, volume_group->name,
                        volume_group->name));
}

/* Asked for several VGs, lvm2 looks at those PVs only that its records name at that moment, and takes a record that is
 * just being written for none; asked for one, it looks at all devices if need be (_vgchange_autoactivation_setup() in
 * tools/vgchange.c). Seen while disks came and went by the second. */
static bool was_overlooked(const struct volume_group *volume_group, size_t n_groups, const char *output)
{
        return n_groups > 1 && lvm_output_misses(output, volume_group->name);
}

void verdict_ask_again(struct worker *worker, struct managed_group *group)
{
        group->job = NULL;
        inventory_set_state(worker->inventory, group, VOLUME_GROUP_COMPLETE);
}

void verdict_ask_alone(struct worker *worker, struct managed_group *group)
{
        group->alone = true;
        verdict_ask_again(worker, group);
}

int verdict_take(
        struct worker *worker, struct managed_group *group, size_t n_groups, int exit_status, const char *output)
{
        struct volume_group *volume_group = group->volume_group;
        size_t n_active = volume_group_count_active(volume_group);
        size_t n_wanted = volume_group_count_autoactivated(volume_group);
        char *line;
        int r;

        free(volume_group->reason);
        volume_group->reason = NULL;
        if (n_active >= n_wanted)
                return verdict_settle_active(worker, group);
        if (volume_group_count_stranded(volume_group) > 0)
                return settle_stranded(worker, group);
        /* udev may tell only later of a disk that lvm2 has not found any more. What lvm2 has said of the VG, if anything,
         * comes of that, and does not say so. */
        inventory_lose_absent_pvs(worker->inventory, group);
        if (volume_group_is_incomplete(volume_group))
                return settle_failed(worker, group, strdup("a PV has gone while lvm2 was at work."));
        /* At which of several it has crashed is told by asking for each of them. */
        if (n_groups > 1 && job_was_killed(exit_status)) {
                verdict_ask_alone(worker, group);
                return 0;
        }
        if (was_overlooked(volume_group, n_groups, output)) {
                log_notice("lvm2 has not found VG %s beside others, asking for it alone.", volume_group->name);
                verdict_ask_alone(worker, group);
                return 0;
        }
        /* It may have gone with LVs that lvm2 had activated by then, and have come back. */
        if (group->news) {
                log_info("A disk of VG %s has come or gone while lvm2 was at work, asking once more.",
                        volume_group->name);
                verdict_ask_again(worker, group);
                return 0;
        }

        line = find_words(output, volume_group);
        /* Of several VGs, it is another one's status if lvm2 has nothing to say against this one. */
        if (n_groups > 1 && !line && lvm_output_has_summary(output, volume_group->name))
                exit_status = 0;
        if (exit_status == 0 && (!line || n_active > 0)) {
                /* lvm2 is content, so its configuration wants no more. */
                free(line);
                r = string_replace(&volume_group->reason,
                        strdup(n_active > 0 ? "the others are not wanted by lvm2's configuration."
                                            : "no LV of it is wanted by lvm2's configuration."));
                if (r < 0)
                        return r;
                if (n_active > 0)
                        return verdict_settle_active(worker, group);
                verdict_settle(worker, group, VOLUME_GROUP_SKIPPED);
                return 0;
        }

        if (!line)
                line = job_was_killed(exit_status)
                               ? string_format("vgchange was ended by signal %i.", exit_status - 128)
                               : string_format("vgchange ended with status %i.", exit_status);
        return settle_failed(worker, group, line);
}
